//! A run that waits for a name that another run has, and items that wait for a slot.

use insta::assert_snapshot;

use super::{Pane, panes, panes_after};
use crate::cli::harness::{Place, until};

const HELD: &str = "
name: holder
concurrency: deploy-stage
steps:
- {name: hold, shell: 'touch began; until [ -e go ]; do sleep 0.02; done'}
";

const WAITS: &str = "
name: release
concurrency: deploy-stage
steps:
- {name: build, shell: 'true'}
- {name: upload, description: To the artifact store, shell: 'true'}
";

/// Another run has the name.
fn hold(place: &Place) {
    place.aye(&["run", "held.yaml", "--detach", "-q"]).ok();
    until("it has the name", || place.work().join("began").exists());
}

fn waits(pane: &mut Pane<'_>) {
    pane.shows(&["waits for run", "0 of 2"]);
}

#[test]
fn a_run_that_waits_says_for_which_and_shows_what_is_to_come() {
    let files = [("held.yaml", HELD), ("s.yaml", WAITS)];
    let pane = panes_after(&files, hold, &["run", "s.yaml"], waits);
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ‖ waits for run k3f9x2m7q1: it holds the name `deploy-stage`
      aye cancel k3f9x2m7q1  ends that run
    · build
    · upload  To the artifact store
    ⠋ 0 of 2 · 1.0s · Ctrl-C pauses
    === 120x40
    release  run k3f9x2m7q1
    ‖ waits for run k3f9x2m7q1: it holds the name `deploy-stage`
      aye cancel k3f9x2m7q1  ends that run
    · build
    · upload  To the artifact store
    ⠋ 0 of 2 · 1.0s · Ctrl-C pauses
    === 40x24
    release  run k3f9x2m7q1
    ‖ waits for run k3f9x2m7q1: it holds the
      name `deploy-stage`
      aye cancel k3f9x2m7q1  ends that run
    · build
    · upload  To the artifact store
    ⠋ 0 of 2 · 1.0s
    ");
}

#[test]
fn a_run_that_has_waited_says_how_long() {
    let files = [("held.yaml", HELD), ("s.yaml", WAITS)];
    let pane = panes_after(&files, hold, &["run", "s.yaml"], |pane| {
        waits(pane);
        pane.make("go").ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ‖ waits for run k3f9x2m7q1: it holds the name `deploy-stage`
      aye cancel k3f9x2m7q1  ends that run
    ▸ holds the name `deploy-stage` after 1.0s
    ✓ build   true                                                             1.0s
    ✓ upload  true                                                             1.0s
    ✓ release completed in 1.0s  2 steps done
    === 120x40
    release  run k3f9x2m7q1
    ‖ waits for run k3f9x2m7q1: it holds the name `deploy-stage`
      aye cancel k3f9x2m7q1  ends that run
    ▸ holds the name `deploy-stage` after 1.0s
    ✓ build   true                                                                                  1.0s
    ✓ upload  true                                                                                  1.0s
    ✓ release completed in 1.0s  2 steps done
    === 40x24
    release  run k3f9x2m7q1
    ‖ waits for run k3f9x2m7q1: it holds the
      name `deploy-stage`
      aye cancel k3f9x2m7q1  ends that run
    ▸ holds the name `deploy-stage` after
      1.0s
    ✓ build   true                     1.0s
    ✓ upload  true                     1.0s
    ✓ release completed in 1.0s  2 steps
      done
    ");
}

const MANY: &str = "
name: restart
steps:
- name: restart
  foreach: [web-1, web-2, web-3, web-4]
  parallel: 4
  shell: 'echo stopping {{ item }}; while [ ! -e go ]; do sleep 0.02; done'
- {name: tell, shell: 'true'}
";

#[test]
fn items_that_wait_for_a_slot_are_shown_as_waiting() {
    let files = [("aye.toml", "[run]\nmax_processes = 2\n"), ("s.yaml", MANY)];
    let pane = panes(&files, &["run", "s.yaml"], |pane| {
        pane.shows(&["stopping web-1", "stopping web-2", "waiting for a slot"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    restart  run k3f9x2m7q1
    ▸ restart  4 items
      ▸ web-1  echo stopping web-1; while [ ! -e go ]; do sleep 0.02; done     1.0s
        │ stopping web-1
      ▸ web-2  echo stopping web-2; while [ ! -e go ]; do sleep 0.02; done     1.0s
        │ stopping web-2
      ‖ web-3  waiting for a slot
      ‖ web-4  waiting for a slot
    · tell
    ⠋ 0 of 2 · restart 0 of 4 · 1.0s · 2 running · 2 waiting for a slot
    === 120x40
    restart  run k3f9x2m7q1
    ▸ restart  4 items
      ▸ web-1  echo stopping web-1; while [ ! -e go ]; do sleep 0.02; done                          1.0s
        │ stopping web-1
      ▸ web-2  echo stopping web-2; while [ ! -e go ]; do sleep 0.02; done                          1.0s
        │ stopping web-2
      ‖ web-3  waiting for a slot
      ‖ web-4  waiting for a slot
    · tell
    ⠋ 0 of 2 · restart 0 of 4 · 1.0s · 2 running · 2 waiting for a slot · Ctrl-C pauses
    === 40x24
    restart  run k3f9x2m7q1
    ▸ restart  4 items
      ▸ web-1  echo stopping web-1;…   1.0s
        │ stopping web-1
      ▸ web-2  echo stopping web-2;…   1.0s
        │ stopping web-2
      ‖ web-3  waiting for a slot
      ‖ web-4  waiting for a slot
    · tell
    ⠋ 0 of 2 · restart 0 of 4 · 1.0s
    ");
}

const ONE_BY_ONE: &str = "
workflows:
  restart:
    steps:
    - {name: hosts, foreach: [web-1, web-2], as: host, parallel: 2, skill: one}
    - {name: tell, shell: 'true'}
    finally:
    - {name: tidy, shell: 'true'}
  one:
    concurrency: balancer
    steps:
    - {name: stop, shell: 'echo stopping; until [ -e go ]; do sleep 0.02; done'}
    finally:
    - {name: report, shell: 'true'}
";

/// An item has one row, and one that waits for another names it: nobody is told to cancel it.
#[test]
fn items_that_wait_for_one_another_have_one_row_each() {
    let pane = panes(&[("s.yaml", ONE_BY_ONE)], &["run", "s.yaml#restart"], |pane| {
        pane.shows(&["│ stopping", "waits for web-"]);
    });
    // Either of them may be first.
    let pane = super::replaced(&pane, &[(r"web-2 › stop", "web-1 › stop")]);
    let pane =
        super::replaced(&pane, &[(r"web-1  ( *)waits for web-2", "web-2  ${1}waits for web-1")]);
    assert_snapshot!(pane, @r"
    === 80x24
    restart  run k3f9x2m7q1
    ▸ hosts    2 items
      ▸ web-1 › stop  echo stopping; until [ -e go ]; do sleep 0.02; done      1.0s
        │ stopping
      ‖ web-2  waits for web-1, which holds the name `balancer`
    · tell
    · tidy     finally
    ⠋ 0 of 3 · hosts 0 of 2 · 1.0s · Ctrl-C pauses
    === 120x40
    restart  run k3f9x2m7q1
    ▸ hosts    2 items
      ▸ web-1 › stop  echo stopping; until [ -e go ]; do sleep 0.02; done                           1.0s
        │ stopping
      ‖ web-2  waits for web-1, which holds the name `balancer`
    · tell
    · tidy     finally
    ⠋ 0 of 3 · hosts 0 of 2 · 1.0s · Ctrl-C pauses
    === 40x24
    restart  run k3f9x2m7q1
    ▸ hosts    2 items
      ▸ web-1 › stop  echo stopping…   1.0s
        │ stopping
      ‖ web-2  waits for web-1, which hold…
    · tell
    · tidy     finally
    ⠋ 0 of 3 · hosts 0 of 2 · 1.0s
    ");
    let pane = panes(&[("s.yaml", ONE_BY_ONE), ("go", "")], &["run", "s.yaml#restart"], |pane| {
        pane.ends(0);
    });
    for words in ["holds the name", "aye cancel", "waits", "report", "["] {
        assert!(!pane.contains(words), "{words}: {pane}");
    }
}
