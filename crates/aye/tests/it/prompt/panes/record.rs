//! What is looked at later: `aye inbox`, `aye show` and `aye logs`.

use insta::assert_snapshot;

use super::{SIZES, settled};
use crate::cli::harness::Place;
use crate::prompt::pty::Terminal;

/// The exit code is so long that the row of its step breaks at 40 columns, however long it took.
const SKILL: &str = "
name: release
steps:
- {name: build, shell: seq 3; echo odd >&2}
- {name: check, on_error: continue, shell: echo 2 of 5 failed >&2; exit 103}
- name: release
  confirmation:
    timeout: 0
    message: |
      ## Release to production

      - **checkout** at `4f2a91c0`
      - two checks were skipped
  shell: 'true'
- {name: tell, shell: 'true'}
";

/// What a command shows of a run that waits, at every size.
fn shown(args: &[&str]) -> String {
    let mut all = String::new();
    for (columns, rows) in SIZES {
        let place = Place::new();
        place.write("s.yaml", SKILL);
        assert_eq!(place.aye(&["run", "s.yaml", "--no-input"]).code, 6);
        let mut terminal = Terminal::sized(&place, args, columns, rows);
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        let shown = settled(&terminal.vt.all(), columns);
        // The names of user and machine fold the first line differently everywhere.
        let told = shown.find("✓ build").map_or(shown.as_str(), |at| &shown[at..]);
        all.push_str(&format!("=== {columns}x{rows}\n{told}\n"));
    }
    all
}

#[test]
fn the_inbox_keeps_the_lines_of_a_message() {
    assert_snapshot!(shown(&["inbox"]), @r"
    === 80x24
    ? k3f9x2m7q1-1  release · release
      Release to production

      • checkout at 4f2a91c0
      • two checks were skipped
      command: true
      not covered: programs that the script finds in `PATH`
      yes → runs release, no → the run ends (cancelled)
      asked just now, no time limit, no process drives the run
      aye answer k3f9x2m7q1-1 (proceed|cancel)
    === 120x40
    ? k3f9x2m7q1-1  release · release
      Release to production

      • checkout at 4f2a91c0
      • two checks were skipped
      command: true
      not covered: programs that the script finds in `PATH`
      yes → runs release, no → the run ends (cancelled)
      asked just now, no time limit, no process drives the run
      aye answer k3f9x2m7q1-1 (proceed|cancel)
    === 40x24
    ? k3f9x2m7q1-1  release · release
      Release to production

      • checkout at 4f2a91c0
      • two checks were skipped
      command: true
      not covered: programs that the script
        finds in `PATH`
      yes → runs release, no → the run ends
        (cancelled)
      asked just now, no time limit, no
        process drives the run
      aye answer k3f9x2m7q1-1 \
        (proceed|cancel)
    ");
}

#[test]
fn a_run_is_shown_with_every_step() {
    assert_snapshot!(shown(&["show"]), @r"
    === 80x24
    ✓ build    completed    1.0s
        $ seq 3; echo odd >&2
    ✗ check    failed       1.0s, exit code 103
        $ echo 2 of 5 failed >&2; exit 103
        | 2 of 5 failed
    ? release  waiting
    · tell     not reached yet
    ‖ release waits for an answer: Release to production  1 step done, 1 failed
      command: true
      not covered: programs that the script finds in `PATH`
      yes → runs release, no → the run ends (cancelled)
      answer  aye answer k3f9x2m7q1-1 (proceed|cancel) --resume
      inbox   aye inbox
      wait    aye resume k3f9x2m7q1 --detach
      resume  aye resume k3f9x2m7q1
      cancel  aye cancel k3f9x2m7q1
    === 120x40
    ✓ build    completed    1.0s
        $ seq 3; echo odd >&2
    ✗ check    failed       1.0s, exit code 103
        $ echo 2 of 5 failed >&2; exit 103
        | 2 of 5 failed
    ? release  waiting
    · tell     not reached yet
    ‖ release waits for an answer: Release to production  1 step done, 1 failed
      command: true
      not covered: programs that the script finds in `PATH`
      yes → runs release, no → the run ends (cancelled)
      answer  aye answer k3f9x2m7q1-1 (proceed|cancel) --resume
      inbox   aye inbox
      wait    aye resume k3f9x2m7q1 --detach
      resume  aye resume k3f9x2m7q1
      cancel  aye cancel k3f9x2m7q1
    === 40x24
    ✓ build    completed    1.0s
        $ seq 3; echo odd >&2
    ✗ check    failed       1.0s, exit code
               103
        $ echo 2 of 5 failed >&2; exit 103
        | 2 of 5 failed
    ? release  waiting
    · tell     not reached yet
    ‖ release waits for an answer: Release
      to production  1 step done, 1 failed
      command: true
      not covered: programs that the script
        finds in `PATH`
      yes → runs release, no → the run ends
        (cancelled)
      answer  aye answer k3f9x2m7q1-1 \
              (proceed|cancel) --resume
      inbox   aye inbox
      wait    aye resume k3f9x2m7q1 --detach
      resume  aye resume k3f9x2m7q1
      cancel  aye cancel k3f9x2m7q1
    ");
}

#[test]
fn logs_are_shown_as_they_were_written() {
    assert_snapshot!(shown(&["logs"]), @r"
    === 80x24
    == build
    1
    2
    3
    ┃ odd
    == check
    ┃ 2 of 5 failed
    === 120x40
    == build
    1
    2
    3
    ┃ odd
    == check
    ┃ 2 of 5 failed
    === 40x24
    == build
    1
    2
    3
    ┃ odd
    == check
    ┃ 2 of 5 failed
    ");
}
