//! How a workflow of states ends: its exit code, and what the closing line says.

use std::process::Command;

use super::harness::{AYE, Place, assert_says};

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
    // How long after the question it came is not known: it was decided before.
    for about in [&["show", "last"][..], &["show", "last", "ship"]] {
        let shown = place.aye(about).ok().stdout;
        let refused = shown.lines().find(|line| line.contains("refused: "));
        assert!(refused.is_some_and(|line| !line.contains("after ")), "{shown}");
    }
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

/// Who started the run, where another person has to agree: inbox, pause and prompt say so.
#[test]
fn who_started_the_run_is_offered_no_yes_where_another_has_to_agree() {
    let place = gate("timeout: 0, approvals: { count: 1, not_starter: true }");
    let id = format!("{}-1", place.last());
    let listed = place.aye(&["inbox"]).ok().stdout;
    let paused = place.aye(&["resume", "last", "--no-input"]);
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let command = format!("aye answer {id} cancel");
    let waits = "gate waits for an answer (another person has to agree): Ship it?";
    assert_says(&[
        (&listed, &["no time limit, another person has to agree", &command]),
        (&paused.stderr, &[waits, &command]),
        (&shown, &[waits, &command]),
    ]);
    for text in [&listed, &paused.stderr, &shown] {
        assert!(!text.contains("proceed"), "{text}");
    }
    let answers = &place.aye(&["inbox", "--json"]).ok().json()[0]["answers"];
    assert_eq!(*answers, serde_json::json!(["cancel"]));
    let refused = place.aye(&["answer", &id, "proceed"]);
    assert!(refused.stderr.contains("another person has to agree"), "{}", refused.all());
}

/// A text that has to be typed is typed at the prompt: a word alone would be refused.
#[test]
fn programs_are_offered_no_yes_that_has_to_be_typed() {
    let place = gate("timeout: 0, type_to_confirm: ship it");
    let id = format!("{}-1", place.last());
    let listed = place.aye(&["inbox"]).ok().stdout;
    assert!(listed.contains(&format!("  aye answer {id}\n")), "{listed}");
    let answers = &place.aye(&["inbox", "--json"]).ok().json()[0]["answers"];
    assert_eq!(*answers, serde_json::json!(["cancel"]));
    assert_eq!(place.aye(&["answer", &id, "proceed", "--no-input"]).code, 1);
}

/// `edit` needs more than its name, so it is not among what can be typed.
#[test]
fn the_inbox_offers_no_answer_that_says_nothing_alone() {
    let place = gate("timeout: 0");
    place.aye(&["answer", &format!("{}-1", place.last()), "yes", "--resume", "--no-input"]);
    let listed = place.aye(&["inbox"]).ok();
    assert!(listed.stdout.contains("-2 (retry|done|skip|abort)\n"), "{}", listed.all());
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

/// Whoever says no inside of a state is told where that leads outside.
#[test]
fn a_no_inside_a_state_says_where_it_leads() {
    let place = Place::new();
    let skills = "\
workflows:
  called:
    states:
      r: { skill: inner, transitions: { success: done, failure: restore } }
      restore: { command: touch, args: [restored], transitions: { success: failed } }
      done: { type: final }
      failed: { type: final, status: failed }
  items:
    states:
      r: { foreach: [a], command: echo, confirmation: { message: 'Go?', timeout: 20s }, transitions: { success: done, failure: restore } }
      restore: { command: touch, args: [restored], transitions: { success: failed } }
      done: { type: final }
      failed: { type: final, status: failed }
  inner:
    steps: [{ name: go, command: echo, confirmation: { message: 'Go?', timeout: 0 } }]
";
    place.write(".aye/skills/all.yaml", skills);
    let said = place.aye(&["check"]).ok().stdout;
    assert_says(&[(
        &said,
        &[
            "a no in the skill that `r` calls, or no answer, leads to `restore`",
            "no answer in an item of `r` leads to `restore`",
        ],
    )]);
    let plan = place.aye(&["run", "called", "--dry-run"]).ok().stdout;
    assert!(plan.contains("no -> restore") && !plan.contains("cancelled"), "{plan}");
    let plan = place.aye(&["run", "items", "--dry-run"]).ok().stdout;
    assert_says(&[(&plan, &["no -> the item is left out", "no answer -> restore"])]);
    assert_eq!(place.aye(&["run", "called", "--no-input"]).code, 6);
    let open = place.aye(&["inbox"]).ok();
    assert!(open.stdout.contains("no → restore"), "{}", open.all());
    let id =
        place.aye(&["inbox", "--json"]).ok().json()[0]["question"].as_str().unwrap().to_owned();
    let ran = place.aye(&["answer", &id, "no", "--resume"]);
    assert!(place.work().join("restored").exists(), "{}", ran.all());
    // The line that an answer leaves says what was asked, and where.
    assert!(ran.stdout.contains(&format!("answered {id}: Cancel  (go: Go?)\n")), "{}", ran.all());
    // Its own way for a no is taken, and needs no warning.
    place.write(
        ".aye/skills/all.yaml",
        &skills.replace("failure: restore", "failure: restore, declined: done"),
    );
    let said = place.aye(&["check"]).ok().stdout;
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn a_broken_skill_is_named_and_leaves_its_siblings_alone() {
    let place = Place::new();
    let file = "workflows: { bad: {steps: [{name: a, command: echo, foo: 1}]}, good: {steps: [{name: a, command: echo}]}, broken 5: {steps: [{name: a, command: echo}]} }\n";
    place.write(".aye/skills/three.yaml", file);
    let ran = place.aye(&["run", "bad"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("unknown key `foo`"), "{}", ran.all());
    place.aye(&["run", "good"]).ok();
    place.aye(&["run", ".aye/skills/three.yaml#good"]).ok();
    let listed = place.aye(&["list"]).ok().stdout;
    assert_says(&[(&listed, &["✗ bad       1 error: aye check", "▸ good", "✗ broken 5  1 error"])]);
}

#[test]
fn one_step_has_its_answers_for_programs_too() {
    let place = gate("timeout: 0");
    let id = format!("{}-1", place.last());
    place.aye(&["answer", &id, "cancel", "--resume"]);
    let step = place.aye(&["show", "last", "ship", "--json"]).ok().json();
    let events = step["events"].as_array().unwrap();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert!(kinds.contains(&"confirmation_answered"), "{step}");
}

#[test]
fn a_transition_comes_before_on_error_and_every_view_says_so() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nstates:\n  a: { command: 'false', on_error: ask, transitions: { success: done, failure: done } }\n  done: { type: final }\n",
    );
    let said = place.aye(&["check", "s.yaml"]).ok().stdout;
    assert!(said.contains("warning[never-asks]: `on_error: ask` of `a` never asks"), "{said}");
    let plan = place.aye(&["run", "s.yaml", "--dry-run"]).ok().stdout;
    assert!(!plan.contains("a question if `a` fails"), "{plan}");
}
