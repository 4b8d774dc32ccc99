//! A terminal and a desktop: who asks, and when.

use crate::cli::harness::{Place, until};
use crate::desktop::screen::{Screen, place, settings};

use super::pty::Terminal;

const GATE: &str = "
name: release
steps:
  - name: deploy
    command: touch
    args: [deployed]
    confirmation: { title: Production, message: 'Deploy?', timeout: 5m }
";

fn run(screen: &Screen, place: &Place) -> Terminal {
    let env = screen.env();
    let env: Vec<(&str, &str)> = env.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    Terminal::with(place, &["run", "skill.yaml"], &env)
}

#[test]
fn where_a_terminal_asks_no_window_comes_up() {
    let (screen, place) = (Screen::start(), place(GATE));
    let mut terminal = run(&screen, &place);
    terminal.wait_for("[y/N]");
    screen.assert_nothing();
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
}

#[test]
fn a_window_that_is_told_to_join_does_and_goes_when_the_terminal_answers() {
    let (screen, place) = (Screen::start(), place(GATE));
    settings(&place, "[ask.after]\ndesktop = \"1s\"\n");
    let mut terminal = run(&screen, &place);
    terminal.wait_for("[y/N]");
    screen.window();
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    screen.wait_for(0);
}

#[test]
fn the_first_answer_wins_and_the_terminal_says_whose_it_was() {
    let (screen, place) = (Screen::start(), place(GATE));
    settings(&place, "[ask.after]\ndesktop = \"0s\"\n");
    let mut terminal = run(&screen, &place);
    terminal.wait_for("[y/N]");
    screen.window();
    screen.keys(&["Tab", "Tab", "Return"]);
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(terminal.vt.all().contains("zenity"), "{}", terminal.vt.all());
    until("it is deployed", || place.work().join("deployed").exists());
    terminal.assert_clean();
}
