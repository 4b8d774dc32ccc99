//! The view while the window changes, the run is stopped, or a program has the terminal.

use insta::assert_snapshot;
use rustix::process::{Signal, kill_process};

use super::{HOLD, SIZES, panes, settled};
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
    let mut all = String::new();
    for (columns, rows) in SIZES {
        let place = Place::new();
        place.write("s.yaml", SKILL);
        place.write(HOLD.0, HOLD.1);
        place.aye(&["run", "s.yaml", "--detach"]).ok();
        let mut terminal = Terminal::sized(&place, &["watch"], columns, rows);
        terminal.wait_for("compiling c").wait_for("warning").wait_for("0 of 2");
        let running = settled(&terminal.vt.all(), columns);
        terminal.resize(columns, rows);
        kill_process(terminal.pid(), Signal::WINCH).unwrap();
        terminal.wait_for("0 of 2");
        place.write("go", "");
        assert_eq!(terminal.end(), Some(0));
        let ended = settled(&terminal.vt.all(), columns);
        all.push_str(&format!("=== {columns}x{rows}\n{running}\n--- its end\n{ended}\n"));
    }
    assert_snapshot!(all, @r"
    === 80x24
    release  run k3f9x2m7q1
    ▸ build  sh hold                                                           1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · tell
    ⠋ 0 of 2 · 1.0s · Ctrl-C stops watching
    --- its end
    ✓ build  sh hold → 4 lines                                                 1.0s
    ✓ tell   true                                                              1.0s
    ✓ release completed in 1.0s  2 steps done
    === 120x40
    release  run k3f9x2m7q1
    ▸ build  sh hold                                                                                1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · tell
    ⠋ 0 of 2 · 1.0s · Ctrl-C stops watching
    --- its end
    ✓ build  sh hold → 4 lines                                                                      1.0s
    ✓ tell   true                                                                                   1.0s
    ✓ release completed in 1.0s  2 steps done
    === 40x24
    release  run k3f9x2m7q1
    ▸ build  sh hold                   1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · tell
    ⠋ 0 of 2 · 1.0s
    --- its end
    ✓ build  sh hold → 4 lines         1.0s
    ✓ tell   true                      1.0s
    ✓ release completed in 1.0s  2 steps
      done
    ");
}

#[test]
fn a_run_that_is_paused_or_cancelled_says_how_it_goes_on() {
    let files = [("s.yaml", SKILL), HOLD];
    let paused = panes(&files, &["run", "s.yaml"], |pane| {
        pane.shows(&["compiling c", "warning"]).keys("\x03").ends(130);
    });
    assert_snapshot!(paused, @r"
    === 80x24
    release  run k3f9x2m7q1
    stopping; what still runs after 1.0s is killed, or at once on a second signal
    ? build  Aye was told to stop while the step ran
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    ‖ interrupted by SIGINT
    ‖ release is paused  0 steps done
      resume  aye resume k3f9x2m7q1
      cancel  aye cancel k3f9x2m7q1
    === 120x40
    release  run k3f9x2m7q1
    stopping; what still runs after 1.0s is killed, or at once on a second signal
    ? build  Aye was told to stop while the step ran
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    ‖ interrupted by SIGINT
    ‖ release is paused  0 steps done
      resume  aye resume k3f9x2m7q1
      cancel  aye cancel k3f9x2m7q1
    === 40x24
    release  run k3f9x2m7q1
    stopping; what still runs after 1.0s is
      killed, or at once on a second signal
    ? build  Aye was told to stop while the
             step ran
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    ‖ interrupted by SIGINT
    ‖ release is paused  0 steps done
      resume  aye resume k3f9x2m7q1
      cancel  aye cancel k3f9x2m7q1
    ");
    let cancelled = panes(&files, &["run", "s.yaml"], |pane| {
        pane.shows(&["compiling c", "warning"]);
        pane.place.aye(&["cancel", "last", "--reason", "another one is out"]).ok();
        pane.ends(5);
    });
    // Lines break where the name of the account lets them.
    let words = cancelled.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = "· not reached: tell ✗ release cancelled by ada: another one is out 0 steps done";
    assert_eq!(words.matches(end).count(), SIZES.len(), "{cancelled}");
}
