//! A run: what is done, what runs, what is to come, and its end.

use insta::assert_snapshot;

use super::{HOLD, panes};

const TEN: &str = "
name: release
steps:
- {name: fetch, shell: echo 4f2a}
- {name: image, shell: 'true'}
- {name: build, shell: sh hold}
- {name: unit_tests, shell: seq 12}
- {name: lint, description: Look for mistakes, shell: 'true'}
- {name: docs, condition: 'false', shell: 'true'}
- {name: sign, shell: 'true'}
- {name: upload, description: To the artifact store, shell: 'true'}
- {name: notify, shell: 'true'}
- {name: clean_up, shell: 'true'}
";

#[test]
fn ten_steps_fit_on_a_screen() {
    let pane = panes(&[("s.yaml", TEN), HOLD], &["run", "s.yaml"], |pane| {
        pane.shows(&["2 of 10", "compiling c", "warning"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ fetch       echo 4f2a → 4f2a                                             1.0s
    ✓ image       true                                                         1.0s
    ▸ build       sh hold                                                      1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · unit_tests
    · lint        Look for mistakes
    · docs
    · sign
    · upload      To the artifact store
    · notify
    · clean_up
    ⠋ 2 of 10 · 1.0s · Ctrl-C pauses
    === 120x40
    release  run k3f9x2m7q1
    ✓ fetch       echo 4f2a → 4f2a                                                                  1.0s
    ✓ image       true                                                                              1.0s
    ▸ build       sh hold                                                                           1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · unit_tests
    · lint        Look for mistakes
    · docs
    · sign
    · upload      To the artifact store
    · notify
    · clean_up
    ⠋ 2 of 10 · 1.0s · Ctrl-C pauses
    === 40x24
    release  run k3f9x2m7q1
    ✓ fetch       echo 4f2a → 4f2a     1.0s
    ✓ image       true                 1.0s
    ▸ build       sh hold              1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · unit_tests
    · lint        Look for mistakes
    · docs
    · sign
    · upload      To the artifact store
    · notify
    · clean_up
    ⠋ 2 of 10 · 1.0s
    ");
}

#[test]
fn a_run_that_has_ended_is_a_record() {
    let pane = panes(&[("s.yaml", TEN), HOLD], &["run", "s.yaml"], |pane| {
        pane.shows(&["2 of 10"]).make("go").ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ fetch       echo 4f2a → 4f2a                                             1.0s
    ✓ image       true                                                         1.0s
    ✓ build       sh hold → 4 lines                                            1.0s
    ✓ unit_tests  seq 12 → 12 lines                                            1.0s
    ✓ lint        true                                                         1.0s
    − docs        `false` is false
    ✓ sign        true                                                         1.0s
    ✓ upload      true                                                         1.0s
    ✓ notify      true                                                         1.0s
    ✓ clean_up    true                                                         1.0s
    ✓ release completed in 1.0s  9 steps done, 1 skipped
    === 120x40
    release  run k3f9x2m7q1
    ✓ fetch       echo 4f2a → 4f2a                                                                  1.0s
    ✓ image       true                                                                              1.0s
    ✓ build       sh hold → 4 lines                                                                 1.0s
    ✓ unit_tests  seq 12 → 12 lines                                                                 1.0s
    ✓ lint        true                                                                              1.0s
    − docs        `false` is false
    ✓ sign        true                                                                              1.0s
    ✓ upload      true                                                                              1.0s
    ✓ notify      true                                                                              1.0s
    ✓ clean_up    true                                                                              1.0s
    ✓ release completed in 1.0s  9 steps done, 1 skipped
    === 40x24
    release  run k3f9x2m7q1
    ✓ fetch       echo 4f2a → 4f2a     1.0s
    ✓ image       true                 1.0s
    ✓ build       sh hold → 4 lines    1.0s
    ✓ unit_tests  seq 12 → 12 lines    1.0s
    ✓ lint        true                 1.0s
    − docs        `false` is false
    ✓ sign        true                 1.0s
    ✓ upload      true                 1.0s
    ✓ notify      true                 1.0s
    ✓ clean_up    true                 1.0s
    ✓ release completed in 1.0s  9 steps
      done, 1 skipped
    ");
}

#[test]
fn a_failure_is_shown_whole() {
    let skill = "
name: release
steps:
- {name: build, shell: 'true'}
- {name: check, on_error: fail, shell: 'seq 3; echo \"curl: (22) The requested URL returned error: 503\" >&2; exit 22'}
- {name: upload, shell: 'true'}
- {name: notify, shell: 'true'}
";
    let pane = panes(&[("s.yaml", skill)], &["run", "s.yaml", "--no-input"], |pane| {
        pane.ends(1);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build   true                                                             1.0s
    ✗ check   exit code 22                                                     1.0s
      │ 1
      │ 2
      │ 3
      ┃ curl: (22) The requested URL returned error: 503
    · not reached: upload · notify
    ✗ release failed: step `check`: exit code 22  1 step done, 1 failed
      output     aye logs k3f9x2m7q1 check
      try again  aye retry k3f9x2m7q1
    === 120x40
    release  run k3f9x2m7q1
    ✓ build   true                                                                                  1.0s
    ✗ check   exit code 22                                                                          1.0s
      │ 1
      │ 2
      │ 3
      ┃ curl: (22) The requested URL returned error: 503
    · not reached: upload · notify
    ✗ release failed: step `check`: exit code 22  1 step done, 1 failed
      output     aye logs k3f9x2m7q1 check
      try again  aye retry k3f9x2m7q1
    === 40x24
    release  run k3f9x2m7q1
    ✓ build   true                     1.0s
    ✗ check   exit code 22             1.0s
      │ 1
      │ 2
      │ 3
      ┃ curl: (22) The requested URL return
      ┃ ed error: 503
    · not reached: upload · notify
    ✗ release failed: step `check`: exit
      code 22  1 step done, 1 failed
      output     aye logs k3f9x2m7q1 check
      try again  aye retry k3f9x2m7q1
    ");
}

#[test]
fn a_hundred_steps_scroll_and_the_plan_stays_small() {
    let mut skill = String::from("name: hundred\nsteps:\n");
    for number in 1..=100 {
        let shell = if number == 40 { "sh hold" } else { "true" };
        skill.push_str(&format!("- {{name: step_{number}, shell: {shell:?}}}\n"));
    }
    let pane = panes(&[("s.yaml", &skill), HOLD], &["run", "s.yaml"], |pane| {
        pane.shows(&["39 of 100", "compiling c", "warning"]);
        let lines = pane.terminal.vt.screen();
        let live = lines.lines().skip_while(|line| !line.starts_with("▸ step_40")).count();
        assert!(live <= 10, "{lines}");
    });
    let shown: Vec<&str> = pane.lines().filter(|line| !line.starts_with("✓ step_1")).collect();
    assert_snapshot!(shown.join("\n"), @r"
    === 80x24
    hundred  run k3f9x2m7q1
    ✓ step_2    true                                                           1.0s
    ✓ step_3    true                                                           1.0s
    ✓ step_4    true                                                           1.0s
    ✓ step_5    true                                                           1.0s
    ✓ step_6    true                                                           1.0s
    ✓ step_7    true                                                           1.0s
    ✓ step_8    true                                                           1.0s
    ✓ step_9    true                                                           1.0s
    ✓ step_20   true                                                           1.0s
    ✓ step_21   true                                                           1.0s
    ✓ step_22   true                                                           1.0s
    ✓ step_23   true                                                           1.0s
    ✓ step_24   true                                                           1.0s
    ✓ step_25   true                                                           1.0s
    ✓ step_26   true                                                           1.0s
    ✓ step_27   true                                                           1.0s
    ✓ step_28   true                                                           1.0s
    ✓ step_29   true                                                           1.0s
    ✓ step_30   true                                                           1.0s
    ✓ step_31   true                                                           1.0s
    ✓ step_32   true                                                           1.0s
    ✓ step_33   true                                                           1.0s
    ✓ step_34   true                                                           1.0s
    ✓ step_35   true                                                           1.0s
    ✓ step_36   true                                                           1.0s
    ✓ step_37   true                                                           1.0s
    ✓ step_38   true                                                           1.0s
    ✓ step_39   true                                                           1.0s
    ▸ step_40   sh hold                                                        1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · step_41 · step_42 · step_43 · step_44 · step_45 · step_46 · 54 more
    ⠋ 39 of 100 · 1.0s · Ctrl-C pauses
    === 120x40
    hundred  run k3f9x2m7q1
    ✓ step_2    true                                                                                1.0s
    ✓ step_3    true                                                                                1.0s
    ✓ step_4    true                                                                                1.0s
    ✓ step_5    true                                                                                1.0s
    ✓ step_6    true                                                                                1.0s
    ✓ step_7    true                                                                                1.0s
    ✓ step_8    true                                                                                1.0s
    ✓ step_9    true                                                                                1.0s
    ✓ step_20   true                                                                                1.0s
    ✓ step_21   true                                                                                1.0s
    ✓ step_22   true                                                                                1.0s
    ✓ step_23   true                                                                                1.0s
    ✓ step_24   true                                                                                1.0s
    ✓ step_25   true                                                                                1.0s
    ✓ step_26   true                                                                                1.0s
    ✓ step_27   true                                                                                1.0s
    ✓ step_28   true                                                                                1.0s
    ✓ step_29   true                                                                                1.0s
    ✓ step_30   true                                                                                1.0s
    ✓ step_31   true                                                                                1.0s
    ✓ step_32   true                                                                                1.0s
    ✓ step_33   true                                                                                1.0s
    ✓ step_34   true                                                                                1.0s
    ✓ step_35   true                                                                                1.0s
    ✓ step_36   true                                                                                1.0s
    ✓ step_37   true                                                                                1.0s
    ✓ step_38   true                                                                                1.0s
    ✓ step_39   true                                                                                1.0s
    ▸ step_40   sh hold                                                                             1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · step_41 · step_42 · step_43 · step_44 · step_45 · step_46 · step_47 · step_48 · 52 more
    ⠋ 39 of 100 · 1.0s · Ctrl-C pauses
    === 40x24
    hundred  run k3f9x2m7q1
    ✓ step_2    true                   1.0s
    ✓ step_3    true                   1.0s
    ✓ step_4    true                   1.0s
    ✓ step_5    true                   1.0s
    ✓ step_6    true                   1.0s
    ✓ step_7    true                   1.0s
    ✓ step_8    true                   1.0s
    ✓ step_9    true                   1.0s
    ✓ step_20   true                   1.0s
    ✓ step_21   true                   1.0s
    ✓ step_22   true                   1.0s
    ✓ step_23   true                   1.0s
    ✓ step_24   true                   1.0s
    ✓ step_25   true                   1.0s
    ✓ step_26   true                   1.0s
    ✓ step_27   true                   1.0s
    ✓ step_28   true                   1.0s
    ✓ step_29   true                   1.0s
    ✓ step_30   true                   1.0s
    ✓ step_31   true                   1.0s
    ✓ step_32   true                   1.0s
    ✓ step_33   true                   1.0s
    ✓ step_34   true                   1.0s
    ✓ step_35   true                   1.0s
    ✓ step_36   true                   1.0s
    ✓ step_37   true                   1.0s
    ✓ step_38   true                   1.0s
    ✓ step_39   true                   1.0s
    ▸ step_40   sh hold                1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · step_41 · step_42 · 58 more
    ⠋ 39 of 100 · 1.0s
    ");
}

#[test]
fn all_of_the_output_or_none_of_it() {
    let skill = "
name: s
steps:
- {name: build, shell: echo one; echo two >&2}
- {name: check, on_error: fail, shell: echo three; exit 1}
";
    for (which, shown) in [("full", [true, true]), ("failed", [false, true]), ("none", [false; 2])]
    {
        let args = ["run", "s.yaml", "--no-input", "--output", which];
        let pane = panes(&[("s.yaml", skill)], &args, |pane| {
            pane.ends(1);
        });
        assert_eq!(pane.contains("┃ two"), shown[0], "{which}: {pane}");
        assert_eq!(pane.contains("│ three"), shown[1], "{which}: {pane}");
        assert!(which != "none" || !pane.contains("2 lines"), "{pane}");
    }
}

#[test]
fn an_exit_code_with_a_way_of_its_own_is_no_failure() {
    let skill = "
name: update
states:
  look:
    shell: echo 3 packages; exit 10
    transitions: {10: install, success: done}
  install:
    shell: 'true'
    transitions: {success: done}
  done: {type: final, status: completed}
";
    let pane = panes(&[("s.yaml", skill)], &["run", "s.yaml"], |pane| {
        pane.ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    update  run k3f9x2m7q1
    → look     exit code 10, which leads to `install`                          1.0s
    ✓ install  true                                                            1.0s
    ✓ update completed in 1.0s at `done`  2 steps done
    === 120x40
    update  run k3f9x2m7q1
    → look     exit code 10, which leads to `install`                                               1.0s
    ✓ install  true                                                                                 1.0s
    ✓ update completed in 1.0s at `done`  2 steps done
    === 40x24
    update  run k3f9x2m7q1
    → look     exit code 10, which     1.0s
               leads to `install`
    ✓ install  true                    1.0s
    ✓ update completed in 1.0s at `done`  2
      steps done
    ");
}
