//! Lists: runs, figures of a skill, and the inbox that stays open.

use insta::assert_snapshot;

use super::{SIZES, panes_after, replaced, settled};
use crate::cli::harness::Place;
use crate::prompt::pty::Terminal;

const SKILL: &str = "
name: release
inputs: [{name: code, type: integer, default: 0}]
steps:
- {name: build, shell: 'true'}
- {name: x, shell: 'exit {{ inputs.code }}'}
";

const ASKS: &str = "
name: rollout
steps:
- {name: regions, shell: echo 2}
- name: region
  choose: {message: 'Which of the **regions** is first? The other one follows an hour later.', options: [eu, us], timeout: 0}
";

/// One run of each kind, the last one waiting.
fn runs(place: &Place) {
    place.write("s.yaml", SKILL);
    place.write("asks.yaml", ASKS);
    place.aye(&["run", "s.yaml", "-q"]).ok();
    assert_eq!(place.aye(&["run", "s.yaml", "-q", "-i", "code=3"]).code, 1);
    place.aye(&["run", "s.yaml", "-q"]).ok();
    assert_eq!(place.aye(&["run", "asks.yaml", "--no-input"]).code, 6);
}

/// What a command shows of these, at every size.
fn shown(args: &[&str]) -> String {
    let mut all = String::new();
    for (columns, rows) in SIZES {
        let place = Place::new();
        runs(&place);
        let mut terminal = Terminal::sized(&place, args, columns, rows);
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        let pane = settled(&terminal.vt.all(), columns);
        all.push_str(&format!("=== {columns}x{rows}\n{pane}\n"));
    }
    all
}

/// How long something took moves what follows it, and what is cut.
#[test]
fn runs_are_listed() {
    let pane = replaced(
        &shown(&["runs"]),
        &[("just now +", "just now  "), ("(?m)step `x.*…$", "step `x`…")],
    );
    assert_snapshot!(pane, @r"
    === 80x24
    ? k3f9x2m7q1  rollout  waiting    just now  at region
    ✓ k3f9x2m7q1  release  completed  just now  in 1.0s
    ✗ k3f9x2m7q1  release  failed     just now  in 1.0s, step `x`: exit code 3
    ✓ k3f9x2m7q1  release  completed  just now  in 1.0s
    === 120x40
    ? k3f9x2m7q1  rollout  waiting    just now  at region
    ✓ k3f9x2m7q1  release  completed  just now  in 1.0s
    ✗ k3f9x2m7q1  release  failed     just now  in 1.0s, step `x`: exit code 3
    ✓ k3f9x2m7q1  release  completed  just now  in 1.0s
    === 40x24
    ? k3f9x2m7q1  rollout
      waiting, just now, at region
    ✓ k3f9x2m7q1  release
      completed, just now, in 1.0s
    ✗ k3f9x2m7q1  release
      failed, just now, in 1.0s, step `x`…
    ✓ k3f9x2m7q1  release
      completed, just now, in 1.0s
    ");
}

#[test]
fn a_skill_has_figures() {
    let bars = [("[▁▂▃▄▅▆▇█]+", "▇"), (r" {2,}1\.0s", "  1.0s"), ("1.0s  ▇", "1.0s")];
    let pane = replaced(&shown(&["stats", "s.yaml"]), &bars);
    assert_snapshot!(pane, @r"
    === 80x24
    release  3 runs: 2 completed, 1 failed
    duration  ▇  median 1.0s, 90 % within 1.0s, longest 1.0s
    outcome   ✓✗✓  the newest is the last

    step   times   failed    median   longest
    build      3        0  1.0s  1.0s
    x          3        1  1.0s  1.0s
    === 120x40
    release  3 runs: 2 completed, 1 failed
    duration  ▇  median 1.0s, 90 % within 1.0s, longest 1.0s
    outcome   ✓✗✓  the newest is the last

    step   times   failed    median   longest
    build      3        0  1.0s  1.0s
    x          3        1  1.0s  1.0s
    === 40x24
    release  3 runs: 2 completed, 1 failed
    duration  ▇  median 1.0s, 90 % within
      1.0s, longest 1.0s
    outcome   ✓✗✓  the newest is the last

    step   times   failed    median
    build      3        0  1.0s
    x          3        1  1.0s
    ");
}

#[test]
fn the_inbox_that_stays_open() {
    let gate = ASKS.replace("choose:", "confirm:").replace(", options: [eu, us]", "");
    let files = [("asks.yaml", ASKS), ("gate.yaml", &gate)];
    let before = |place: &Place| {
        for file in ["asks.yaml", "gate.yaml"] {
            assert_eq!(place.aye(&["run", file, "--no-input"]).code, 6);
        }
    };
    let pane = panes_after(&files, before, &["inbox", "--watch"], |pane| {
        pane.shows(&["2 questions wait"]).keys("\x1b[B").shows(&["❯ 2"]);
    });
    let pane = replaced(&pane, &[("(?m)asked .*…$", "asked …")]);
    assert_snapshot!(pane, @r"
    === 80x24
    ╭─ Inbox  2 questions wait
    │
    │    1 Which of the regions is first? The other one follows an hour later.
    │      rollout · region · asked …
    │  ❯ 2 Which of the regions is first? The other one follows an hour later.
    │      rollout · region · asked …
    │
    ╰─ Enter opens · q leaves · ↑↓ move · digits too
    === 120x40
    ╭─ Inbox  2 questions wait
    │
    │    1 Which of the regions is first? The other one follows an hour later.
    │      rollout · region · asked just now · no time limit · no process drives the run
    │  ❯ 2 Which of the regions is first? The other one follows an hour later.
    │      rollout · region · asked just now · no time limit · no process drives the run
    │
    ╰─ Enter opens · q leaves · ↑↓ move · digits too
    === 40x24
    ╭─ Inbox  2 questions wait
    │
    │    1 Which of the regions is first? …
    │      rollout · region · asked …
    │  ❯ 2 Which of the regions is first? …
    │      rollout · region · asked …
    │
    ╰─ Enter opens · q leaves · ↑↓ move
    ");
}

/// A name is cut rather than a row broken.
#[test]
fn figures_fit_a_narrow_window() {
    let place = Place::new();
    let skill = "name: s\nsteps:\n- {name: a_step_with_a_name_that_is_long, shell: 'true'}\n";
    place.write("s.yaml", skill);
    place.aye(&["run", "s.yaml", "-q"]).ok();
    let mut terminal = Terminal::sized(&place, &["stats", "s"], 40, 24);
    assert_eq!(terminal.end(), Some(0));
    let all = terminal.vt.all();
    let row = all.lines().find(|line| line.starts_with("a_step")).unwrap();
    assert!(row.ends_with('s') && row.contains("  1  "), "{all}");
}
