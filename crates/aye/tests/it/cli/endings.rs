//! How a workflow of states ends: its exit code, and what the closing line says.

use std::process::Command;

use super::harness::{AYE, Place};

fn place() -> Place {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "name: deploy
initial: build
inputs: [{ name: builds, default: 'true' }]
states:
  build: { command: '{{ inputs.builds }}', transitions: { success: ship, failure: broken } }
  ship:
    command: 'true'
    confirmation: { message: 'Ship it?', timeout: 10m }
    transitions: { success: shipped, declined: dropped, failure: broken }
  shipped: { type: final }
  dropped: { type: final }
  broken: { type: final }
",
    );
    place
}

/// Declines what the newest run asks, and lets it end.
fn decline(place: &Place) -> super::harness::Ran {
    let id = format!("{}-1", place.last());
    place.aye(&["answer", &id, "no", "--resume"])
}

/// Other views name it too.
#[track_caller]
fn assert_final_state(place: &Place, name: &str) {
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["final_state"], name, "{shown}");
    let page = place.aye(&["show", "last", "--markdown"]).ok().stdout;
    assert!(page.contains(&format!("Final state: {name}.")), "{page}");
}

#[test]
fn a_declined_workflow_exits_with_5_and_names_its_final_state() {
    let place = place();
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let ran = decline(&place);
    assert_eq!(ran.code, 5, "{}", ran.all());
    assert!(ran.stderr.contains("deploy cancelled: ended in `dropped`"), "{}", ran.all());
    assert_eq!(place.status(), "cancelled");
    assert_final_state(&place, "dropped");
}

#[test]
fn a_failed_workflow_exits_with_1_and_names_its_final_state() {
    let place = place();
    let ran = place.aye(&["run", "skill.yaml", "--no-input", "-i", "builds=false"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("deploy failed: ended in `broken`"), "{}", ran.all());
    assert_eq!(place.status(), "failed");
    assert_final_state(&place, "broken");
}

#[test]
fn a_good_end_exits_with_0_and_names_its_final_state() {
    let place = place();
    let ran = place.aye(&["run", "skill.yaml", "--yes"]).ok();
    assert!(ran.stderr.contains("deploy completed"), "{}", ran.all());
    assert!(ran.stderr.contains("at `shipped`"), "{}", ran.all());
    assert_final_state(&place, "shipped");
}

#[test]
fn what_follows_in_a_shell_follows_a_good_end_alone() {
    for (builds, follows) in [("true", true), ("false", false)] {
        let place = place();
        let aye = place.command(&[]);
        let script = format!("{AYE} run skill.yaml --yes -i builds={builds} && touch next");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(place.work()).env_clear();
        shell.envs(aye.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let status = shell.output().expect("a shell").status;
        assert_eq!(status.success(), follows, "{builds}");
        assert_eq!(place.work().join("next").exists(), follows, "{builds}");
    }
}

#[test]
fn a_late_answer_is_told_what_was_decided_and_how_to_stop_it() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "name: gate
steps:
  - { name: ship, command: 'true', confirmation: { message: 'Ship it?', timeout: 10m } }
  - { name: more, confirm: { message: 'And more?', timeout: 10m } }
",
    );
    place.aye(&["run", "skill.yaml", "--no-input"]);
    let id = format!("{}-1", place.last());
    place.aye(&["answer", &id, "yes", "--no-input"]).ok();
    place.aye(&["resume", "last", "--no-input"]);
    let late = place.aye(&["answer", &id, "no", "--no-input"]);
    assert_eq!(late.code, 1, "{}", late.all());
    assert!(late.stderr.contains("answered `Proceed` through command"), "{}", late.all());
    assert!(late.all().contains("`aye cancel RUN` stops the run"), "{}", late.all());
    place.aye(&["cancel", "last"]).ok();
    let late = place.aye(&["answer", &id, "no", "--no-input"]);
    assert!(late.stderr.contains("the run is over"), "{}", late.all());
}

/// A run that waits at the gate of a step that fails.
fn gate(more: &str) -> Place {
    let place = Place::new();
    place.write(
        "skill.yaml",
        &format!(
            "name: gate\nsteps:\n  - {{ name: ship, command: 'false', on_error: ask, confirmation: {{ message: 'Ship it?', {more} }} }}\n"
        ),
    );
    place.aye(&["run", "skill.yaml", "--no-input"]);
    place
}

#[test]
fn the_inbox_offers_no_answer_after_its_time() {
    let place = gate("timeout: 20s");
    let mut command = place.command(&["inbox"]);
    let listed = command.env("AYE_TEST_DAYS", "1").output().expect("aye runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("nobody answered in time, that counts as no: aye resume"), "{listed}");
    assert!(!listed.contains("aye answer"), "{listed}");
}

#[test]
fn the_inbox_offers_no_answer_that_somebody_else_has_to_give() {
    let place = gate("timeout: 0, by: [nobody-here]");
    let listed = place.aye(&["inbox"]).ok();
    assert!(listed.stdout.contains("only nobody-here may answer"), "{}", listed.all());
    assert!(!listed.stdout.contains("proceed|cancel"), "{}", listed.all());
    assert_eq!(place.aye(&["inbox", "--json"]).ok().json()[0]["answers"], serde_json::json!([]));
}

/// `edit` needs more than its name, so it is not among what can be typed.
#[test]
fn the_inbox_offers_no_answer_that_says_nothing_alone() {
    let place = gate("timeout: 0");
    place.aye(&["answer", &format!("{}-1", place.last()), "yes", "--resume", "--no-input"]);
    let listed = place.aye(&["inbox"]).ok();
    assert!(listed.stdout.contains("-2 retry|done|skip|abort\n"), "{}", listed.all());
}

#[test]
fn check_warns_where_a_no_runs_the_failure_handler() {
    let place = Place::new();
    let skill = |declined: &str| {
        format!(
            "name: gate\ninitial: ship\nstates:\n  ship: {{ command: make, confirmation: Ship it?, transitions: {{ success: done{declined}, failure: undo }} }}\n  undo: {{ command: 'true', transitions: {{ success: broken }} }}\n  done: {{ type: final }}\n  broken: {{ type: final, status: failed }}\n"
        )
    };
    place.write("skill.yaml", &skill(""));
    let said = place.aye(&["check", "skill.yaml"]).ok().stdout;
    let warning = "warning[decline-fails]: a no at `ship`, or no answer, leads to `undo`\n  --> skill.yaml:4:3\n";
    assert!(said.contains(warning), "{said}");
    assert!(said.contains("hint: add `declined: …` to its transitions"), "{said}");
    place.write("skill.yaml", &skill(", declined: done"));
    let said = place.aye(&["check", "skill.yaml"]).ok().stdout;
    assert!(!said.contains("warning"), "{said}");
}
