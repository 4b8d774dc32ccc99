//! Answers that are remembered, and used only where nothing has changed.

use super::pty::Terminal;
use crate::cli::harness::{Place, assert_says};

const SKILL: &str = "
name: s
inputs: [{ name: what, default: build }]
steps:
  - name: sure
    confirm: { message: 'Continue with {{ inputs.what }}?', remember: true, timeout: 0 }
  - { name: act, command: touch, args: ['done-{{ inputs.what }}'] }
";

#[test]
fn an_answer_that_was_remembered_is_not_asked_for_again() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    let mut terminal = Terminal::aye(&place, &["run", "s.yaml"]);
    terminal.wait_for("Ctrl-R remembers").keys("\u{12}");
    terminal.wait_for("remembered: this question at this step, for 30 days");
    terminal.wait_for("remembered for this step: Ctrl-R for this skill").keys("\u{12}");
    terminal.wait_for("remembered for this skill: Ctrl-R always").keys("\u{12}");
    terminal.wait_for("remembered always: Ctrl-R takes it back").keys("\u{12}");
    terminal.wait_for("Ctrl-R remembers").keys("\u{12}");
    terminal.wait_for("remembered for this step: Ctrl-R").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(terminal.vt.all().contains("aye memory forget"), "{}", terminal.vt.all());
    // Nobody is there, and nobody has to be.
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("through memory"), "{}", ran.all());
    assert!(ran.all().contains("chose Proceed for this step on"), "{}", ran.all());
    // Another question is another question.
    assert_eq!(place.aye(&["run", "s.yaml", "-i", "what=deploy"]).code, 6);
    // Where it was said counts.
    assert_eq!(place.aye(&["run", "s.yaml", "--environment", "production"]).code, 6);
    let known = place.aye(&["memory", "list", "--json"]).ok().json();
    let id = known.to_string();
    let id = id.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    place.aye(&["memory", "forget", &id]).ok();
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
}

#[test]
fn an_answer_that_was_used_again_is_part_of_the_story() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    let question = format!("{}-1", place.last());
    place.aye(&["answer", &question, "yes", "--remember", "--resume"]).ok();
    place.aye(&["run", "s.yaml"]).ok();
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let page = place.aye(&["show", "last", "--markdown"]).ok().stdout;
    let said = "memory: preference pref-";
    let decided = "\"Continue with build?\" = proceed by ";
    assert_says(&[
        (&shown, &[said, "chose Proceed for this step on", decided, " through memory after "]),
        (&page, &[said, "chose Proceed for this step on", decided, " through memory after "]),
    ]);
}

#[test]
fn answers_from_elsewhere_are_remembered_too_and_a_no_is_a_no() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let answered = place
        .aye(&["answer", inbox[0]["question"].as_str().unwrap(), "no", "--remember", "skill"])
        .ok();
    assert!(answered.all().contains("aye memory forget"), "{}", answered.all());
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 5, "{}", ran.all());
    assert!(!place.work().join("done-build").exists());
}

#[test]
fn what_must_not_be_remembered_is_not() {
    for more in ["destructive: true", "confirmation: { message: 'Sure?', by: human, timeout: 0 }"] {
        let place = Place::new();
        let gate = match more.starts_with("destructive") {
            true => format!("{more}\n    confirmation: {{ message: 'Sure?', timeout: 0 }}"),
            false => more.to_owned(),
        };
        place.write(
            "s.yaml",
            &format!(
                "name: s\nsteps:\n  - name: a\n    command: touch\n    args: [x]\n    {gate}\n"
            ),
        );
        assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let answered =
            place.aye(&["answer", inbox[0]["question"].as_str().unwrap(), "yes", "--remember"]);
        assert!(answered.stderr.contains("the answer counts, but"), "{}", answered.all());
        assert_eq!(place.aye(&["run", "s.yaml"]).code, 6, "it is asked each time");
    }
}

#[test]
fn an_answer_about_a_failure_is_remembered_as_far_as_the_prompt_says() {
    let place = Place::new();
    place.write("sync.yaml", crate::memory::recovering::SKILL);
    let mut terminal = Terminal::aye(&place, &["run", "sync.yaml", "-i", "job=17"]);
    terminal.wait_for("Ctrl-R remembers").keys("\u{12}");
    terminal.wait_for("remembered: this error of this step, with any `job`, `kind`");
    terminal.wait_for("remembered for this error: Ctrl-R for this step").keys("\u{12}");
    terminal.wait_for("remembered: any error of this step");
    terminal.keys("\u{12}\u{12}\u{12}\u{12}").wait_for("remembered: this error of this step");
    // Skip.
    terminal.keys("4\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    let known = place.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    assert_eq!(known["preferences"][0]["choice"], "skip", "{known}");
    assert_eq!(known["preferences"][0]["scope"], "error", "{known}");
    assert_eq!(place.aye(&["run", "sync.yaml", "-i", "job=23"]).code, 0);
}
