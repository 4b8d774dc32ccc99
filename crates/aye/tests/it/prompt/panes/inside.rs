//! Items of lists and sub-skills.

use insta::assert_snapshot;

use rustix::process::{Signal, kill_process};

use super::{Pane, panes, settled};
use crate::cli::harness::{Place, until};
use crate::prompt::pty::Terminal;

const ITEMS: &str = "
name: restart
steps:
- {name: plan, shell: echo 5}
- name: restart
  foreach: [web-1, web-2, web-3, web-4, web-5]
  parallel: 3
  steps:
  - {name: stop, shell: 'true'}
  - {name: health, shell: 'sh h {{ item }}'}
- {name: tell, shell: 'true'}
";

/// One host fails, the next one hangs, the others are fine.
const HEALTH: (&str, &str) = (
    "h",
    "case $1 in web-2) echo 'curl: (22) 503' >&2; exit 22;; web-3) echo warming up;\n\
     while [ ! -e go ]; do sleep 0.02; done;; esac\n",
);

#[test]
fn items_are_counted() {
    let args = ["run", "s.yaml", "--no-input"];
    let skill = ITEMS.replace("parallel: 3", "parallel: 1").replace("web-2, web-3", "web-3");
    let pane = panes(&[("s.yaml", &skill), HEALTH], &args, |pane| {
        pane.shows(&["1 of 4", "warming up"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 5 → 5                                                      1.0s
    ▸ restart  4 items
      ✓ web-1  2 steps                                                         1.0s
      ▸ web-3 › health  sh h web-3                                             1.0s
        │ warming up
    · tell
    ⠋ 1 of 3 · restart 1 of 4 · 1.0s · Ctrl-C pauses
    === 120x40
    restart  run k3f9x2m7q1
    ✓ plan     echo 5 → 5                                                                           1.0s
    ▸ restart  4 items
      ✓ web-1  2 steps                                                                              1.0s
      ▸ web-3 › health  sh h web-3                                                                  1.0s
        │ warming up
    · tell
    ⠋ 1 of 3 · restart 1 of 4 · 1.0s · Ctrl-C pauses
    === 40x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 5 → 5              1.0s
    ▸ restart  4 items
      ✓ web-1  2 steps                 1.0s
      ▸ web-3 › health  sh h web-3     1.0s
        │ warming up
    · tell
    ⠋ 1 of 3 · restart 1 of 4 · 1.0s
    ");
}

#[test]
fn items_that_run_at_once_are_shown_side_by_side() {
    let warm = ("h", "echo warming $1; while [ ! -e go ]; do sleep 0.02; done\n");
    let args = ["run", "s.yaml", "--no-input"];
    let pane = panes(&[("s.yaml", ITEMS), warm], &args, |pane| {
        pane.shows(&["warming web-1", "warming web-2", "warming web-3"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 5 → 5                                                      1.0s
    ▸ restart  5 items
      ▸ web-1 › health  sh h web-1                                             1.0s
        │ warming web-1
      ▸ web-2 › health  sh h web-2                                             1.0s
        │ warming web-2
      ▸ web-3 › health  sh h web-3                                             1.0s
        │ warming web-3
    · tell
    ⠋ 1 of 3 · restart 0 of 5 · 1.0s · 3 running · Ctrl-C pauses
    === 120x40
    restart  run k3f9x2m7q1
    ✓ plan     echo 5 → 5                                                                           1.0s
    ▸ restart  5 items
      ▸ web-1 › health  sh h web-1                                                                  1.0s
        │ warming web-1
      ▸ web-2 › health  sh h web-2                                                                  1.0s
        │ warming web-2
      ▸ web-3 › health  sh h web-3                                                                  1.0s
        │ warming web-3
    · tell
    ⠋ 1 of 3 · restart 0 of 5 · 1.0s · 3 running · Ctrl-C pauses
    === 40x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 5 → 5              1.0s
    ▸ restart  5 items
      ▸ web-1 › health  sh h web-1     1.0s
        │ warming web-1
      ▸ web-2 › health  sh h web-2     1.0s
        │ warming web-2
      ▸ web-3 › health  sh h web-3     1.0s
        │ warming web-3
    · tell
    ⠋ 1 of 3 · restart 0 of 5 · 1.0s
    ");
    let pane = panes(&[("s.yaml", ITEMS), warm], &args, |pane| {
        pane.shows(&["warming web-1", "warming web-2", "warming web-3"]).make("go").ends(0);
    });
    let done = |name: &str| pane.matches(&format!("✓ {name}  2 steps")).count();
    assert_eq!(["web-1", "web-2", "web-3", "web-4", "web-5"].map(done), [3; 5], "{pane}");
}

#[test]
fn an_item_that_fails_says_which_it_is() {
    let args = ["run", "s.yaml", "--no-input"];
    let skill = ITEMS
        .replace("parallel: 3", "parallel: 1\n  fail_fast: false")
        .replace("sh h {{ item }}'", "sh h {{ item }}', on_error: fail");
    let pane = panes(&[("s.yaml", &skill), HEALTH, ("go", "")], &args, |pane| {
        pane.ends(1);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 5 → 5                                                      1.0s
    ▸ restart  5 items
      ✓ web-1  2 steps                                                         1.0s
      ✗ web-2 › health  exit code 22                                           1.0s
        ┃ curl: (22) 503
      ✓ web-3  2 steps                                                         1.0s
      ✓ web-4  2 steps                                                         1.0s
      ✓ web-5  2 steps                                                         1.0s
    ✗ restart  1 of 5 failed: restart[web-2]: step `health`: exit code 22 (4   1.0s
               of 5 done)
    · not reached: tell
    ✗ restart failed: step `restart`: 1 of 5 failed: restart[web-2]: step `health`:
      exit code 22 (4 of 5 done)  1 step done, 1 failed
      try again  aye retry k3f9x2m7q1
    === 120x40
    restart  run k3f9x2m7q1
    ✓ plan     echo 5 → 5                                                                           1.0s
    ▸ restart  5 items
      ✓ web-1  2 steps                                                                              1.0s
      ✗ web-2 › health  exit code 22                                                                1.0s
        ┃ curl: (22) 503
      ✓ web-3  2 steps                                                                              1.0s
      ✓ web-4  2 steps                                                                              1.0s
      ✓ web-5  2 steps                                                                              1.0s
    ✗ restart  1 of 5 failed: restart[web-2]: step `health`: exit code 22 (4 of 5 done)             1.0s
    · not reached: tell
    ✗ restart failed: step `restart`: 1 of 5 failed: restart[web-2]: step `health`: exit code 22 (4 of 5 done)  1 step done,
      1 failed
      try again  aye retry k3f9x2m7q1
    === 40x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 5 → 5              1.0s
    ▸ restart  5 items
      ✓ web-1  2 steps                 1.0s
      ✗ web-2 › health  exit code 22   1.0s
        ┃ curl: (22) 503
      ✓ web-3  2 steps                 1.0s
      ✓ web-4  2 steps                 1.0s
      ✓ web-5  2 steps                 1.0s
    ✗ restart  1 of 5 failed:          1.0s
               restart[web-2]: step
               `health`: exit code
               22 (4 of 5 done)
    · not reached: tell
    ✗ restart failed: step `restart`: 1 of 5
      failed: restart[web-2]: step `health`:
      exit code 22 (4 of 5 done)  1 step
      done, 1 failed
      try again  aye retry k3f9x2m7q1
    ");
}

#[test]
fn the_steps_of_a_skill_inside_are_nested() {
    let outer = "
name: release
steps:
- {name: build, shell: 'true'}
- {name: deploy, skill: deploy.yaml}
- {name: tell, shell: 'true'}
";
    let inner = "
name: deploy
steps:
- {name: copy, shell: echo 12}
- {name: switch, shell: sh hold}
- {name: warm, shell: 'true'}
";
    let files = [("s.yaml", outer), ("deploy.yaml", inner), super::HOLD];
    let pane = panes(&files, &["run", "s.yaml"], |pane| {
        pane.shows(&["1 of 3", "compiling c", "warning"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build   true                                                             1.0s
    ▸ deploy  deploy.yaml
      ✓ copy    echo 12 → 12                                                   1.0s
      ▸ switch  sh hold                                                        1.0s
        │ compiling a
        │ compiling b
        │ compiling c
        ┃ warning: c is old
    · tell
    ⠋ 1 of 3 · deploy 1 of 3 · 1.0s · Ctrl-C pauses
    === 120x40
    release  run k3f9x2m7q1
    ✓ build   true                                                                                  1.0s
    ▸ deploy  deploy.yaml
      ✓ copy    echo 12 → 12                                                                        1.0s
      ▸ switch  sh hold                                                                             1.0s
        │ compiling a
        │ compiling b
        │ compiling c
        ┃ warning: c is old
    · tell
    ⠋ 1 of 3 · deploy 1 of 3 · 1.0s · Ctrl-C pauses
    === 40x24
    release  run k3f9x2m7q1
    ✓ build   true                     1.0s
    ▸ deploy  deploy.yaml
      ✓ copy    echo 12 → 12           1.0s
      ▸ switch  sh hold                1.0s
        │ compiling a
        │ compiling b
        │ compiling c
        ┃ warning: c is old
    · tell
    ⠋ 1 of 3 · deploy 1 of 3 · 1.0s
    ");
    let pane = panes(&files, &["run", "s.yaml"], |pane| {
        pane.shows(&["compiling c"]).make("go").ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build   true                                                             1.0s
    ▸ deploy  deploy.yaml
      ✓ copy    echo 12 → 12                                                   1.0s
      ✓ switch  sh hold → 4 lines                                              1.0s
      ✓ warm    true                                                           1.0s
    ✓ deploy    deploy.yaml                                                    1.0s
    ✓ tell      true                                                           1.0s
    ✓ release completed in 1.0s  3 steps done
    === 120x40
    release  run k3f9x2m7q1
    ✓ build   true                                                                                  1.0s
    ▸ deploy  deploy.yaml
      ✓ copy    echo 12 → 12                                                                        1.0s
      ✓ switch  sh hold → 4 lines                                                                   1.0s
      ✓ warm    true                                                                                1.0s
    ✓ deploy    deploy.yaml                                                                         1.0s
    ✓ tell      true                                                                                1.0s
    ✓ release completed in 1.0s  3 steps done
    === 40x24
    release  run k3f9x2m7q1
    ✓ build   true                     1.0s
    ▸ deploy  deploy.yaml
      ✓ copy    echo 12 → 12           1.0s
      ✓ switch  sh hold → 4 lines      1.0s
      ✓ warm    true                   1.0s
    ✓ deploy    deploy.yaml            1.0s
    ✓ tell      true                   1.0s
    ✓ release completed in 1.0s  3 steps
      done
    ");
}

/// With `on_error: continue` the list goes on, and its row has the sign of the failure.
#[test]
fn an_item_that_failed_has_no_tick_where_the_list_continues() {
    let args = ["run", "s.yaml", "--no-input"];
    let skill = ITEMS
        .replace("parallel: 3", "parallel: 1")
        .replace("sh h {{ item }}'", "sh h {{ item }}', on_error: continue");
    let pane = panes(&[("s.yaml", &skill), HEALTH, ("go", "")], &args, |pane| {
        pane.ends(0);
    });
    let count = |row: &str| pane.matches(row).count();
    assert_eq!(count("✗ web-2 › health  exit code 22"), 3, "{pane}");
    assert_eq!(count("✗ web-2  1 step, 1 failed"), 3, "{pane}");
    assert_eq!((count("✓ web-2"), count("✓ web-3  2 steps")), (0, 3), "{pane}");
    // An item of one step has one row.
    let skill = "name: s\nsteps:\n- name: each\n  foreach: [web-1, web-2]\n  on_error: continue\n  shell: sh h {{ item }}\n";
    let pane = panes(&[("s.yaml", skill), HEALTH], &args, |pane| {
        pane.ends(0);
    });
    let count = |row: &str| pane.matches(row).count();
    assert_eq!((count("✗ web-2  exit code 22"), count("✗ web-2"), count("✓ web-2")), (3, 3, 0));
    assert_eq!(count("✓ web-1"), 3, "{pane}");
}

/// Items that ended before count, and what happens to the others stands below the list.
#[test]
fn a_list_that_is_taken_up_begins_with_its_heading() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: hosts
steps:
- name: h
  foreach: [a, b, c, d]
  parallel: 2
  steps:
  - {name: one, idempotent: true, shell: 'case {{ item }} in c) touch began; while [ ! -e go ]; do sleep 0.02; done;; esac'}
  - {name: two, shell: 'true'}
- {name: post, shell: 'true'}
",
    );
    let terminal = Terminal::aye(&place, &["run", "s.yaml"]);
    until("an item waits", || place.work().join("began").exists());
    // The others have ended.
    let mut pane = Pane { place: &place, terminal };
    pane.shows(&["h 3 of 4"]);
    kill_process(pane.terminal.pid(), Signal::KILL).unwrap();
    pane.terminal.end();
    let terminal = Terminal::aye(&place, &["resume", "last"]);
    let mut pane = Pane { place: &place, terminal };
    pane.shows(&["h 3 of 4", "▸ c"]).make("go").ends(0);
    assert_snapshot!(settled(&pane.terminal.vt.all(), 80), @r"
    hosts  run k3f9x2m7q1, resumed by ada on host
    ▸ h     4 items
      ▸ c › one  attempt 2: it may be run twice
      ✓ c   2 steps                                                            1.0s
    ✓ h     4 items                                                            1.0s
    ✓ post  true                                                               1.0s
    ✓ hosts completed in 1.0s  2 steps done
    ");
}
