//! A run with `finally`: what follows however it ends.

use insta::assert_snapshot;

use super::{HOLD, panes};

const SKILL: &str = "
name: release
cleanup: 10m
steps:
- {name: build, shell: echo 4f2a}
- {name: check, on_error: fail, shell: echo 2 of 5 failed >&2; exit 3}
- {name: upload, description: To the artifact store, shell: 'true'}
finally:
- {name: tidy, shell: sh hold}
- {name: tell, description: To the channel, shell: 'echo {{ run.status }}'}
";

#[test]
fn the_plan_has_what_follows_however_the_run_ends() {
    let pane = panes(&[("s.yaml", SKILL), HOLD], &["run", "s.yaml"], |pane| {
        pane.shows(&["compiling c", "warning", "▸ tidy"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                1.0s
    ✗ check    exit code 3                                                     1.0s
      ┃ 2 of 5 failed
    ▸ finally  the run failed
    ▸ tidy     sh hold                                                         1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · tell     To the channel
    ⠋ 2 of 4 · 1.0s · Ctrl-C pauses
    === 120x40
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                                     1.0s
    ✗ check    exit code 3                                                                          1.0s
      ┃ 2 of 5 failed
    ▸ finally  the run failed
    ▸ tidy     sh hold                                                                              1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · tell     To the channel
    ⠋ 2 of 4 · 1.0s · Ctrl-C pauses
    === 40x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a        1.0s
    ✗ check    exit code 3             1.0s
      ┃ 2 of 5 failed
    ▸ finally  the run failed
    ▸ tidy     sh hold                 1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · tell     To the channel
    ⠋ 2 of 4 · 1.0s
    ");
}

#[test]
fn the_end_says_why_and_what_was_not_reached() {
    let pane = panes(&[("s.yaml", SKILL), HOLD], &["run", "s.yaml"], |pane| {
        pane.shows(&["compiling c", "warning"]).make("go").ends(1);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                1.0s
    ✗ check    exit code 3                                                     1.0s
      ┃ 2 of 5 failed
    ▸ finally  the run failed
    ✓ tidy     sh hold → 4 lines                                               1.0s
    ✓ tell     echo failed → failed                                            1.0s
    · not reached: upload
    ✗ release failed: step `check`: exit code 3  3 steps done, 1 failed
      output     aye logs k3f9x2m7q1 check
      try again  aye retry k3f9x2m7q1
    === 120x40
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                                     1.0s
    ✗ check    exit code 3                                                                          1.0s
      ┃ 2 of 5 failed
    ▸ finally  the run failed
    ✓ tidy     sh hold → 4 lines                                                                    1.0s
    ✓ tell     echo failed → failed                                                                 1.0s
    · not reached: upload
    ✗ release failed: step `check`: exit code 3  3 steps done, 1 failed
      output     aye logs k3f9x2m7q1 check
      try again  aye retry k3f9x2m7q1
    === 40x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a        1.0s
    ✗ check    exit code 3             1.0s
      ┃ 2 of 5 failed
    ▸ finally  the run failed
    ✓ tidy     sh hold → 4 lines       1.0s
    ✓ tell     echo failed → failed    1.0s
    · not reached: upload
    ✗ release failed: step `check`: exit
      code 3  3 steps done, 1 failed
      output     aye logs k3f9x2m7q1 check
      try again  aye retry k3f9x2m7q1
    ");
}

#[test]
fn what_its_time_does_not_reach_is_named() {
    let skill = SKILL.replace("cleanup: 10m", "cleanup: 1s").replace("exit 3", "true");
    let pane = panes(&[("s.yaml", &skill), HOLD], &["run", "s.yaml"], |pane| {
        pane.shows(&["compiling c"]).ends(1);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                1.0s
    ✓ check    echo 2 of 5 failed >&2; true → ┃ 2 of 5 failed                  1.0s
    ✓ upload   true                                                            1.0s
    ▸ finally  the steps are done
    ✗ tidy     the time for `finally` (`cleanup`) was up, ended (SIGTERM)      1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · not reached: tell
    ✗ release failed: `finally`: step `tidy`: the time for `finally` (`cleanup`) was
      up  3 steps done, 1 failed
      output     aye logs k3f9x2m7q1 tidy
      try again  aye retry k3f9x2m7q1
    === 120x40
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                                     1.0s
    ✓ check    echo 2 of 5 failed >&2; true → ┃ 2 of 5 failed                                       1.0s
    ✓ upload   true                                                                                 1.0s
    ▸ finally  the steps are done
    ✗ tidy     the time for `finally` (`cleanup`) was up, ended (SIGTERM)                           1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · not reached: tell
    ✗ release failed: `finally`: step `tidy`: the time for `finally` (`cleanup`) was up  3 steps done, 1 failed
      output     aye logs k3f9x2m7q1 tidy
      try again  aye retry k3f9x2m7q1
    === 40x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a        1.0s
    ✓ check    echo 2 o… → ┃ 2 of 5…   1.0s
    ✓ upload   true                    1.0s
    ▸ finally  the steps are done
    ✗ tidy     the time for            1.0s
               `finally` (`cleanup`)
               was up, ended
               (SIGTERM)
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · not reached: tell
    ✗ release failed: `finally`: step
      `tidy`: the time for `finally`
      (`cleanup`) was up  3 steps done, 1
      failed
      output     aye logs k3f9x2m7q1 tidy
      try again  aye retry k3f9x2m7q1
    ");
}
