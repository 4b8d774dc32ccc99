//! A terminal beside the prompt: what is completed there, and how lines are folded.

use crate::cli::harness::Place;

use super::pty::Terminal;

#[test]
fn the_tab_key_offers_the_names_that_are_there() {
    let place = Place::new();
    let skill = "name: hello\ninputs: [{name: who, default: x}]\nsteps: [{name: first, command: echo, args: ['{{ inputs.who }}']}]\n";
    place.write("skills/hello.yaml", skill);
    let mut shell = Terminal::editing(&place);
    shell.keys("source <(aye completions bash) && echo rea''dy\n").wait_for("ready");
    shell.keys("aye run he\t").wait_for("aye run hello");
    shell.keys("--fr\tfi\t").wait_for("--from first");
    // No blank behind the sign: the value follows.
    shell.keys("-i w\tbob\r").wait_for("-i who=bob").wait_for("hello completed");
    shell.keys("aye show la\t\r").wait_for("aye show last").wait_for("by ");
    shell.keys("exit\r");
    assert_eq!(shell.end(), Some(0));
}

#[test]
fn lines_break_between_words_on_a_terminal() {
    let place = Place::new();
    let mut terminal = Terminal::sized(&place, &["resume", "last", "--yes"], 60, 24);
    assert_eq!(terminal.end(), Some(2));
    let shown = terminal.vt.all();
    assert!(
        shown.contains("`aye answer QUESTION proceed\n      --resume`; `aye inbox` lists them"),
        "{shown}"
    );
    let question = "Is everything that has to be there before the release really there, all of it?";
    let skill =
        format!("name: s\nsteps:\n- {{name: g, confirm: {{message: '{question}', timeout: 0}}}}\n");
    place.write("s.yaml", &skill);
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    let mut terminal = Terminal::sized(&place, &["show"], 60, 24);
    assert_eq!(terminal.end(), Some(0));
    let shown = terminal.vt.all();
    assert!(shown.contains("waits for an answer: Is everything that has to be there\n"), "{shown}");
    assert!(shown.contains("\n  before the release really there, all of it?"), "{shown}");
    assert!(shown.contains("--resume\n"), "a command stays one line: {shown}");
    // In a pipe nothing is broken.
    assert!(place.aye(&["show"]).stdout.contains(question));
    let mut terminal = Terminal::sized(&place, &["runs"], 48, 24);
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(terminal.vt.all().trim_end().lines().count(), 1, "{}", terminal.vt.all());
}
