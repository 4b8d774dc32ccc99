//! The view while the window changes, the run is stopped, or a program has the terminal.

use insta::assert_snapshot;
use rustix::process::{Signal, kill_process};

use super::{HOLD, panes, settled};
use crate::cli::harness::Place;
use crate::prompt::pty::Terminal;

const SKILL: &str = "
name: release
steps:
- {name: build, shell: sh hold}
- {name: tell, shell: 'true'}
";

#[test]
fn a_window_of_another_size_is_painted_anew() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    place.write(HOLD.0, HOLD.1);
    let mut terminal = Terminal::aye(&place, &["run", "s.yaml"]);
    terminal.wait_for("compiling c");
    // The pane begins empty here: all that is in it was painted after the change.
    terminal.resize(40, 12);
    terminal.wait_for("0 of 2").wait_for("compiling c");
    let painted = settled(&terminal.vt.screen(), 40);
    assert!(painted.lines().all(|line| line.chars().count() < 40), "{painted}");
    place.write("go", "");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn a_stopped_run_leaves_the_screen_and_comes_back() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    place.write(HOLD.0, HOLD.1);
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run s.yaml\r").wait_for("0 of 2");
    shell.keys("\u{1a}").wait_for("Stopped").wait_gone("0 of 2");
    shell.keys("fg\r").wait_for("0 of 2");
    place.write("go", "");
    shell.wait_for("release completed");
    let screen = shell.vt.screen();
    assert_eq!(screen.matches("✓ build").count(), 1, "{screen}");
    assert!(!screen.contains("0 of 2"), "{screen}");
}

#[test]
fn a_program_that_was_killed_in_the_middle_of_a_line_is_left_behind() {
    let skill = "
name: vim
steps:
- {name: edit, interactive: true, on_error: continue, shell: 'printf half; kill -9 $$'}
- {name: tell, shell: 'true'}
";
    let pane = panes(&[("s.yaml", skill)], &["run", "s.yaml"], |pane| {
        pane.ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    vim  run k3f9x2m7q1
    ▸ edit  printf half; kill -9 $$
    half
    ✗ edit  ended by SIGKILL                                                   1.0s
    ✓ tell  true                                                               1.0s
    ✓ vim completed in 1.0s  1 step done, 1 failed
    === 120x40
    vim  run k3f9x2m7q1
    ▸ edit  printf half; kill -9 $$
    half
    ✗ edit  ended by SIGKILL                                                                        1.0s
    ✓ tell  true                                                                                    1.0s
    ✓ vim completed in 1.0s  1 step done, 1 failed
    === 40x24
    vim  run k3f9x2m7q1
    ▸ edit  printf half; kill -9 $$
    half
    ✗ edit  ended by SIGKILL           1.0s
    ✓ tell  true                       1.0s
    ✓ vim completed in 1.0s  1 step done, 1
      failed
    ");
}

#[test]
fn a_run_that_is_watched_looks_like_one_that_is_driven() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    place.write(HOLD.0, HOLD.1);
    place.aye(&["run", "s.yaml", "--detach"]).ok();
    let mut terminal = Terminal::aye(&place, &["watch"]);
    terminal.wait_for("compiling c").wait_for("0 of 2");
    terminal.resize(80, 24);
    kill_process(terminal.pid(), Signal::WINCH).unwrap();
    terminal.wait_for("0 of 2");
    place.write("go", "");
    assert_eq!(terminal.end(), Some(0));
}
