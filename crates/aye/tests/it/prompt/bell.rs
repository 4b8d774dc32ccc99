//! The terminal of a run calls whoever looked away.

use super::pty::Terminal;
use crate::cli::harness::Place;

fn place() -> Place {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "name: gate\nsteps:\n  - { name: sure, confirm: { title: \"Ship \\u001b]0;x\\u0007 it\", message: 'Go?' } }\n",
    );
    place
}

fn raw(terminal: &Terminal) -> String {
    String::from_utf8_lossy(&terminal.raw).into_owned()
}

#[test]
fn a_question_rings_and_names_itself_in_the_title_until_it_is_answered() {
    let place = place();
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]");
    assert_eq!(terminal.vt.titles.len(), 1);
    let title = terminal.vt.titles[0].clone();
    assert!(title.starts_with("gate: Ship") && title.ends_with("it"), "{title}");
    let before = raw(&terminal);
    assert_eq!(before.matches("\u{1b}[22;2t").count(), 1, "the title before is kept");
    assert_eq!(before.matches("\u{1b}[23;2t").count(), 0);
    assert!(before.contains("\u{7}\u{7}"), "the end of the title, then the bell: {before:?}");
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(raw(&terminal).matches("\u{1b}[23;2t").count(), 1, "and comes back");
    terminal.assert_clean();
}

#[test]
fn the_bell_can_be_turned_off() {
    let place = place();
    place.write("aye.toml", "[run]\nbell = false\n");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]").keys("n");
    assert_eq!(terminal.end(), Some(5));
    assert!(terminal.vt.titles.is_empty());
    assert!(!raw(&terminal).contains('\u{7}'));
}

#[test]
fn a_dumb_terminal_is_left_alone() {
    let place = place();
    let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &[("TERM", "dumb")]);
    terminal.wait_for("[y/N]").keys("n\n");
    assert_eq!(terminal.end(), Some(5));
    assert!(!raw(&terminal).contains('\u{7}'));
}

/// Without `TERM` nothing is known of the terminal: ASCII, no colours.
#[test]
fn a_terminal_without_a_name_gets_plain_text() {
    let place = place();
    let mut terminal = Terminal::without_term(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]").keys("n\n");
    assert_eq!(terminal.end(), Some(5));
    let raw = raw(&terminal);
    assert!(raw.is_ascii() && !raw.contains('\u{1b}'), "{raw:?}");
}
