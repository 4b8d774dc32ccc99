//! What decides is shown before it is agreed to: "Refresh the cache?" hides
//! nothing.

use super::pty::Terminal;
use crate::cli::harness::Place;

/// A harmless question before a step with this environment and standard input.
fn place(value: &str, stdin: &str) -> Place {
    let place = Place::new();
    place.write(
        "skill.yaml",
        &format!(
            "name: s\nsteps:\n  - name: act\n    shell: 'printf %s \"$TARGET\" > env.txt; cat > stdin.txt'\n    \
             env: {{ TARGET: '{value}' }}\n    stdin: '{stdin}'\n    \
             confirmation: {{ message: 'Refresh the cache?', timeout: 0 }}\n"
        ),
    );
    place
}

/// The text of the screen on one line, without the frame.
fn seen(terminal: &Terminal) -> String {
    let words = terminal.vt.all().replace(['│', '\n'], " ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn stdin_and_env_are_shown_in_full_when_they_are_short() {
    let place = place("production", "drop database customers");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("Refresh the cache?").wait_for("[y/N]");
    let shown = seen(&terminal);
    assert!(shown.contains("env `TARGET`: production"), "{shown}");
    assert!(shown.contains("stdin: drop database customers"), "{shown}");
    // The shell and the machine go without saying.
    assert!(!shown.contains("? shows the rest"), "{shown}");
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(place.read("env.txt"), "production");
    assert_eq!(place.read("stdin.txt"), "drop database customers");
}

#[test]
fn what_is_long_is_shown_in_full_with_a_question_mark() {
    let long = |end: &str| format!("{}{end}", "select 1, ".repeat(30));
    let (value, stdin) = (long("env-end"), long("drop-database"));
    let place = place(&value, &stdin);
    let mut terminal = Terminal::sized(&place, &["run", "skill.yaml"], 80, 60);
    terminal.wait_for("? shows the rest").wait_for("[y/N]");
    let shown = seen(&terminal);
    assert!(shown.contains("stdin: select 1, select 1"), "{shown}");
    assert!(!shown.contains("drop-database") && !shown.contains("env-end"), "{shown}");
    terminal.keys("?").wait_for("drop-database");
    let shown = seen(&terminal);
    assert!(shown.contains(&format!("env `TARGET`: {value}")), "{shown}");
    assert!(shown.contains(&format!("stdin: {stdin}")), "{shown}");
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(place.read("stdin.txt"), stdin);
}
