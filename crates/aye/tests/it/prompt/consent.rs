//! What counts as a yes: silence, Enter, other keys, `--yes`.

use super::pty::Terminal;
use crate::cli::harness::{Place, until};

/// A day later every question has expired.
const LATER: (&str, &str) = ("AYE_TEST_DAYS", "1");

fn gate(more: &str) -> Place {
    let place = Place::new();
    let skill = format!(
        "name: gate
steps:
  - name: deploy
    command: touch
    args: [deployed]
    confirmation: {{ message: 'Deploy?', {more} }}
"
    );
    place.write("skill.yaml", &skill);
    place
}

/// A state whose refusal starts something.
fn machine() -> Place {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "name: deploy
initial: ship
states:
  ship:
    command: touch
    args: [shipped]
    confirmation: { message: 'Ship it?', timeout: 10m }
    transitions: { success: done, failure: restore }
  restore: { command: touch, args: [restored], transitions: { success: done } }
  done: { type: final }
",
    );
    place
}

fn exists(place: &Place, file: &str) -> bool {
    place.work().join(file).exists()
}

fn later(place: &Place, args: &[&str]) -> crate::cli::harness::Ran {
    let mut command = place.command(args);
    command.env(LATER.0, LATER.1);
    place.finish(
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap(),
    )
}

#[test]
fn a_deadline_that_nobody_saw_pass_is_no_yes() {
    let place = gate("timeout: 20s, default: yes");
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let ran = later(&place, &["resume", "last", "--no-input"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(!exists(&place, "deployed"), "{}", ran.all());
    // Who comes has all of its time, and only then their silence counts.
    let mut terminal = Terminal::with(&place, &["resume", "last"], &[LATER]);
    terminal.wait("its full time", |vt| {
        ["20s left, then yes", "19s left, then yes"].iter().any(|left| vt.all().contains(left))
    });
    terminal.keys("n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    assert!(!exists(&place, "deployed"));
}

#[test]
fn nor_is_one_that_passed_after_ctrl_c() {
    let place = gate("timeout: 2s, default: yes");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("s left, then yes").keys("\x03");
    assert_eq!(terminal.end(), Some(130), "{}", terminal.vt.all());
    let ran = later(&place, &["resume", "last", "--no-input"]);
    assert_eq!((ran.code, exists(&place, "deployed")), (6, false), "{}", ran.all());
    // At a prompt that is shown, silence takes the default.
    let mut terminal = Terminal::with(&place, &["resume", "last"], &[LATER]);
    terminal.wait_for("nobody answered in time: `proceed` is taken");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(exists(&place, "deployed"));
}

#[test]
fn a_run_in_the_background_waits_instead_of_taking_a_yes() {
    let place = gate("timeout: 1s, default: yes");
    place.aye(&["run", "skill.yaml", "--detach"]).ok();
    let open = || place.aye(&["inbox", "--json"]).ok().json();
    until("its time stands still", || {
        let open = open();
        open[0]["details"]["deadline"].is_string() && open[0]["deadline"].is_null()
    });
    let listed = place.aye(&["inbox"]).ok();
    assert!(listed.stdout.contains("waits until someone sees it"), "{}", listed.all());
    assert!(!exists(&place, "deployed"));
    // It can be answered, however late.
    let id = open()[0]["question"].as_str().unwrap().to_owned();
    place.aye(&["answer", &id, "yes"]).ok();
    until("it is done", || place.status() == "completed");
    assert!(exists(&place, "deployed"));
}

#[test]
fn a_default_that_does_not_proceed_needs_nobody() {
    let place = gate("timeout: 20s, default: no");
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let ran = later(&place, &["resume", "last", "--no-input"]);
    assert_eq!((ran.code, exists(&place, "deployed")), (5, false), "{}", ran.all());
}

#[test]
fn enter_is_no_where_no_ends_the_run() {
    for args in [&["run", "skill.yaml"][..], &["run", "skill.yaml", "--plain"]] {
        let place = gate("timeout: 10m");
        let mut terminal = Terminal::aye(&place, args);
        terminal.wait_for("Proceed?").keys("\r");
        assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
        assert!(!exists(&place, "deployed"));
        let mut terminal = Terminal::aye(&place, args);
        // A plain prompt is answered with a line.
        let no = if args.contains(&"--plain") { "n\r" } else { "n" };
        terminal.wait_for("Proceed? [y/N]").keys(no);
        assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    }
}

#[test]
fn the_limit_of_a_question_that_waits_behind_another_is_shown_as_declared() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "name: two
steps:
  - name: each
    foreach: [1, 2]
    parallel: 2
    command: 'true'
    confirmation: { message: 'Do {{ item }}?', timeout: 90s }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("Proceed?");
    until("two questions", || {
        place.aye(&["inbox", "--json"]).ok().json().as_array().unwrap().len() == 2
    });
    let listed = place.aye(&["inbox"]).ok();
    let waits = "waits until someone sees it, then has 1m 30s\n";
    assert!(listed.stdout.contains(waits), "{}", listed.stdout);
    assert!(!listed.stdout.contains("no time limit"), "{}", listed.stdout);
    terminal.keys("\x03").end();
}

#[test]
fn where_no_starts_something_only_n_starts_it() {
    let place = machine();
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("yes → runs ship, no → restore").wait_for("Proceed? [y/n]");
    terminal.keys("\r").wait_for("Enter does nothing here: no starts `restore`");
    terminal.keys("x").wait_for("`x` is not an answer; press y or n");
    terminal.keys("v").wait_for("`v` is not an answer").keys("w").wait_for("`w` is not an answer");
    terminal.keys("\x1b").wait_for("Esc does nothing here");
    assert!(!exists(&place, "restored"));
    terminal.keys("n").wait_for("Ship it?  Cancel  answered by");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(exists(&place, "restored") && !exists(&place, "shipped"));
    let place = machine();
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml", "--plain"]);
    terminal.wait_for("no -> restore").wait_for("Proceed? [y/n]").keys("\n");
    terminal.wait_for("Enter does nothing here").keys("?!\n\n*\n-\n");
    terminal.wait_for("that is not an answer").keys("yes\n");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(!exists(&place, "restored") && exists(&place, "shipped"));
}

#[test]
fn enter_decides_nothing_where_a_no_starts_something_outside() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "\
workflows:
  outer:
    states:
      r: { skill: inner, transitions: { success: done, failure: restore } }
      restore: { command: touch, args: [restored], transitions: { success: failed } }
      done: { type: final }
      failed: { type: final, status: failed }
  inner:
    steps: [{ name: go, command: touch, args: [gone], confirmation: { message: 'Go?', timeout: 0 } }]
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml#outer"]);
    terminal.wait_for("no → restore").wait_for("[y/n]");
    terminal.keys("\r").wait_for("Enter does nothing here").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(place.work().join("gone").exists() && !place.work().join("restored").exists());
}

#[test]
fn the_inbox_says_where_each_answer_leads() {
    let place = machine();
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let listed = place.aye(&["inbox"]).ok();
    assert!(listed.stdout.contains("yes → runs ship, no → restore"), "{}", listed.all());
    let open = place.aye(&["inbox", "--json"]).ok().json();
    let leads = &open[0]["details"]["leads"];
    let yes = serde_json::json!({ "answer": "proceed", "to": "ship", "words": "runs ship" });
    let no = serde_json::json!({ "answer": "cancel", "to": "restore", "words": "restore" });
    assert_eq!((&leads[0], &leads[1]), (&yes, &no), "{open}");
}

/// The same words at the prompt, in the inbox and where the run pauses.
#[test]
fn a_list_of_steps_says_where_each_answer_leads() {
    let place = Place::new();
    let skill = "\
name: s
steps:
  - { name: ask, confirm: { message: 'Begin?', timeout: 0 } }
  - name: pick
    choose: { message: 'Where?', options: [canary, all], timeout: 0 }
  - { name: deploy, command: touch, args: [deployed], confirmation: { message: 'Ship it?', timeout: 0 } }
";
    place.write("skill.yaml", skill);
    let mut terminal = Terminal::sized(&place, &["run", "skill.yaml"], 60, 24);
    terminal.wait_for("├─ yes → the run continues, no → the run ends (cancelled)");
    terminal.wait_for("Proceed? [y/N]").keys("y");
    terminal.wait_for("├─ each answer → the run continues").keys("\r");
    terminal.wait_for("├─ yes → runs deploy, no → the run ends (cancelled)");
    terminal.wait_for("Proceed? [y/N]").keys("n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    place.write(
        "skill.yaml",
        &skill.replace("- { name: ask", "- { name: first, condition: 'false'"),
    );
    let paused = place.aye(&["run", "skill.yaml", "--no-input"]);
    assert!(paused.stderr.contains("\n  each answer → the run continues\n"), "{}", paused.all());
    let id = format!("{}-1", place.last());
    let paused = place.aye(&["answer", &id, "all", "--resume", "--no-input"]);
    let leads = "\n  yes → runs deploy, no → the run ends (cancelled)\n";
    let listed = place.aye(&["inbox"]).ok().stdout;
    let shown = place.aye(&["show", "last"]).ok().stdout;
    for text in [&paused.stderr, &listed, &shown] {
        assert!(text.contains(leads), "{text}");
    }
}

#[test]
fn the_item_of_a_list_and_options_say_where_each_answer_leads() {
    let place = Place::new();
    let leads = |skill: &str| {
        place.write("skill.yaml", &format!("name: s\n{skill}"));
        assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
        let open = place.aye(&["inbox", "--json"]).ok().json();
        let newest = open.as_array().unwrap().last().unwrap()["details"]["leads"].clone();
        place.aye(&["cancel", "last"]).ok();
        let words = |lead: &serde_json::Value| {
            format!("{} → {}", lead["answer"], lead["words"]).replace('"', "")
        };
        newest.as_array().unwrap().iter().map(words).collect::<Vec<_>>().join(", ")
    };
    let gate = "{ name: go, command: 'true', confirmation: { message: 'Go?', timeout: 0 } }";
    assert_eq!(
        leads(&format!("steps: [{{ name: roll, foreach: [a], steps: [{gate}] }}]\n")),
        "proceed → runs go, cancel → the item is left out"
    );
    assert_eq!(
        leads(
            "steps:\n  - { name: ask, confirm: { message: 'Go?', timeout: 0, options: [{ label: Go, value: go }, { label: Not now, value: later, action: skip }, { label: Stop, value: stop, action: cancel }] } }\n"
        ),
        "go → the run ends (completed), later → the run ends (completed), stop → the run ends (cancelled)"
    );
}

#[test]
fn every_key_shows_that_somebody_is_there() {
    let place = gate("timeout: 15s");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("s left, then no").keys("?");
    terminal.wait("more time", |vt| (20..=30).any(|n| vt.all().contains(&format!("{n}s left"))));
    terminal.keys("n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
}

#[test]
fn many_questions_are_asked_one_at_a_time_and_none_is_turned_away() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "name: many
steps:
  - name: each
    foreach: [1, 2, 3, 4, 5, 6, 7]
    parallel: 7
    command: touch
    args: ['done-{{ item }}']
    confirmation: { message: 'Do {{ item }}?', timeout: 90s }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("Do 1?").wait_for("1 of 7");
    // Those that wait have all the time they declare.
    let waiting = place.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(waiting.as_array().map(Vec::len), Some(7), "{waiting}");
    assert!(waiting[6]["deadline"].is_null(), "{waiting}");
    for item in 1..=7 {
        terminal.wait_for(&format!("Do {item}?")).wait_for(&format!("{item} of 7"));
        terminal.wait("its declared time", |vt| {
            ["1m 30s left", "1m 29s left", "1m 28s left"].iter().any(|left| vt.all().contains(left))
        });
        terminal.keys("y").wait_gone(&format!("{item} of 7"));
    }
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    for item in 1..=7 {
        assert!(exists(&place, &format!("done-{item}")), "{item}");
    }
}

#[test]
fn a_yes_in_advance_leaves_one_line_even_with_quiet() {
    let place = gate("timeout: 10m");
    let line = "deploy  Deploy?  Proceed  answered by --yes";
    let ran = place.aye(&["run", "skill.yaml", "-q", "--yes"]).ok();
    assert!(ran.stderr.contains(line), "{}", ran.all());
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.all());
}

#[test]
fn an_answer_to_a_script_leaves_one_line_even_with_quiet() {
    let place = Place::new();
    for (args, line) in [
        (&["confirm", "Go?", "--yes", "-q"][..], "Go?  Yes  because of --yes"),
        (
            &["choose", "Where?", "a", "b", "--default", "b", "--yes", "-q"],
            "Where?  b  because of --yes",
        ),
        (&["input", "Who?", "--default", "ann", "--yes", "-q"], "Who?  ann  because of --yes"),
    ] {
        let ran = place.aye(args).ok();
        assert!(ran.stderr.contains(line), "{args:?}: {}", ran.all());
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.all());
    }
}

#[test]
fn a_yes_in_advance_names_the_question_and_the_step() {
    let place = gate("timeout: 10m");
    let ran = place.aye(&["run", "skill.yaml", "--yes"]).ok();
    let line = "deploy  Deploy?  Proceed  answered by --yes";
    assert_eq!(ran.stderr.matches(line).count(), 1, "{}", ran.all());
}

#[test]
fn an_answer_at_the_terminal_leaves_one_line_even_with_quiet() {
    let place = gate("timeout: 10m");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml", "-q"]);
    terminal.wait_for("Proceed?").keys("n").wait_for("deploy  Deploy?  Cancel  answered by");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
}

#[test]
fn an_answer_from_elsewhere_leaves_one_line_even_with_quiet() {
    let place = gate("timeout: 10m");
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let id = format!("{}-1", place.last());
    let mut terminal = Terminal::aye(&place, &["resume", "last", "-q"]);
    terminal.wait_for("Proceed?");
    place.aye(&["answer", &id, "no"]).ok();
    terminal.wait_for("deploy  Deploy?  Cancel  answered by");
    terminal.end();
}

#[test]
fn a_yes_in_advance_that_does_not_count_says_so() {
    for (more, why) in [
        ("by: human", "a person has to answer"),
        ("override: never", "the skill does not allow it"),
        ("approvals: 2", "several people have to agree"),
        ("reauth: true", "a one-time code is needed"),
        ("type_to_confirm: prod", "a text has to be typed"),
    ] {
        for quiet in ["-q", "--plain"] {
            let place = gate(more);
            let ran = place.aye(&["run", "skill.yaml", "--yes", "--no-input", quiet]);
            assert_eq!(ran.code, 6, "{}", ran.all());
            let line = format!("deploy  Deploy?  --yes does not answer this: {why}");
            assert!(ran.stderr.contains(&line), "{}", ran.all());
        }
    }
}

#[test]
fn silence_at_a_prompt_of_a_script_counts_only_while_it_is_shown() {
    for (ask, key, code) in [
        ("confirm zz --default yes", "n", "code 1"),
        ("choose zz a b --default b", "q", "code 5"),
        ("confirm zz --default yes --plain", "n\n", "code 1"),
    ] {
        let place = Place::new();
        let mut shell = Terminal::shell(&place);
        let prompt = if ask.contains("--plain") { "[Y/n], within" } else { "s left" };
        shell.keys(&format!("$AYE {ask} --timeout 4s\n")).wait_for(prompt).keys("\x1a");
        shell.wait_for("Stopped");
        let asked = shell.vt.all().matches(prompt).count();
        // Its time runs out meanwhile; then it has all of it again.
        shell.keys("sleep 4; fg; echo \"code $?\"\n");
        shell.wait("the prompt again", |vt| vt.all().matches(prompt).count() > asked);
        shell.keys(key).wait_for(code).keys("exit\n");
        shell.end();
    }
}

#[test]
fn a_question_whose_time_is_up_says_so_where_somebody_wants_to_answer() {
    let place = gate("timeout: 20s");
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let id = format!("{}-1", place.last());
    let mut terminal = Terminal::with(&place, &["answer", &id], &[LATER]);
    terminal.wait_for("is closed: nobody answered").wait_for("that counts");
    terminal.wait_for("continues it");
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
    let mut terminal = Terminal::with(&place, &["inbox", "--watch"], &[LATER]);
    terminal.wait_for("its time is up").wait_for("q leaves").keys("\r");
    terminal.wait("why, and the list below it", |vt| {
        let screen = vt.screen();
        let said = screen.find("is closed");
        said.is_some_and(|said| screen[said..].contains("q leaves"))
    });
    terminal.keys("q");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    // Once it is decided, that is what is told.
    assert_eq!(later(&place, &["resume", "last", "--no-input"]).code, 5);
    let mut terminal = Terminal::with(&place, &["answer", &id], &[LATER]);
    terminal.wait_for("is decided: nobody answered in time");
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
}
