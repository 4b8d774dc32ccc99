//! A run that waits for a name that another run has.

use insta::assert_snapshot;

use super::{Pane, panes_after};
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
    ‖ waiting  for run k3f9x2m7q1, which holds the name `deploy-stage`
    · build
    · upload  To the artifact store
    ⠋ 0 of 2 · 1.0s · Ctrl-C pauses
    === 120x40
    release  run k3f9x2m7q1
    ‖ waits for run k3f9x2m7q1: it holds the name `deploy-stage`
      aye cancel k3f9x2m7q1  ends that run
    ‖ waiting  for run k3f9x2m7q1, which holds the name `deploy-stage`
    · build
    · upload  To the artifact store
    ⠋ 0 of 2 · 1.0s · Ctrl-C pauses
    === 40x24
    release  run k3f9x2m7q1
    ‖ waits for run k3f9x2m7q1: it holds the
      name `deploy-stage`
      aye cancel k3f9x2m7q1  ends that run
    ‖ waiting  for run k3f9x2m7q1, which h…
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
