//! What nobody gave is asked for where someone is there.

use super::pty::Terminal;
use crate::cli::harness::Place;

const SKILL: &str = "
name: s
inputs:
  - { name: commit, description: 'Which commit?', required: true, match: '^[0-9a-f]+$' }
  - { name: count, type: integer, required: true }
  - { name: where, required: true, enum: [stage, production] }
  - { name: token, type: secret, required: true }
steps:
  - name: show
    shell: echo {{ inputs.commit }} {{ inputs.count + 1 }} {{ inputs.where }} > shown; printf %s {{ inputs.token }} | wc -c > length
";

#[test]
fn inputs_that_are_missing_are_asked_for_and_checked() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    let mut terminal = Terminal::aye(&place, &["run", "s.yaml"]);
    terminal.wait_for("Which commit?").keys("f00\r");
    terminal.wait_for("A value for count?").keys("many\r");
    terminal.wait_for("stage").keys("2\r");
    terminal.wait_for("A value for token?").keys("hunter2\r");
    terminal.wait_for("`many` is not").wait_for("A value for count?").keys("4\r");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(place.read("shown"), "f00 5 production\n");
    assert_eq!(place.read("length").trim(), "7");
    let shown = place.aye(&["show", "last", "--json"]).ok();
    assert!(!shown.stdout.contains("hunter2"));
}

#[test]
fn nobody_is_asked_without_a_terminal_or_against_their_will() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.all().contains("input `commit` is missing"), "{}", ran.all());
    let mut terminal = Terminal::aye(&place, &["run", "s.yaml", "--no-input"]);
    assert_eq!(terminal.end(), Some(2));
    let mut terminal = Terminal::aye(&place, &["run", "s.yaml"]);
    terminal.wait_for("Which commit?").keys("\u{1b}");
    assert_eq!(terminal.end(), Some(5));
    assert_eq!(place.aye(&["runs", "--json"]).code, 0);
}

#[test]
fn a_secret_that_was_typed_is_asked_for_again_after_a_crash() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: pin, input: { message: 'The pin?', secret: true } }\n  - { name: wait, confirm: { message: 'Continue?', timeout: 0 } }\n  - { name: use, shell: 'printf %s {{ pin }} | wc -c > length' }\n",
    );
    let mut terminal = Terminal::aye(&place, &["run", "s.yaml"]);
    terminal.wait_for("The pin?").keys("123456\r");
    terminal.wait_for("Continue?");
    rustix::process::kill_process(terminal.pid(), rustix::process::Signal::KILL).unwrap();
    terminal.end();
    let mut terminal = Terminal::aye(&place, &["resume", "last"]);
    terminal.wait_for("enter pin again").keys("9876\r");
    terminal.wait_for("Continue?").keys("y");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(place.read("length").trim(), "4");
}
