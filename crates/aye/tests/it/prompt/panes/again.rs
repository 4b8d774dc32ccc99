//! Steps that are tried again, and those that a rule repairs.

use insta::assert_snapshot;

use super::{HOLD, panes};

const RETRIED: &str = "
name: fetch
steps:
- name: download
  retry: {attempts: 3, backoff: 10ms}
  shell: 'echo x >> tries; if [ $(wc -l < tries) -lt 3 ]; then echo connection reset >&2; exit 7; fi; sh hold'
- {name: unpack, shell: 'true'}
";

#[test]
fn a_step_that_is_tried_again_says_so() {
    let pane = panes(&[("s.yaml", RETRIED), HOLD], &["run", "s.yaml"], |pane| {
        pane.shows(&["compiling c", "warning"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    fetch  run k3f9x2m7q1
    ✗ download  exit code 7                                                    1.0s
      ┃ connection reset
    ▸ download  attempt 2 in 1.0s: as its `retry` says
    ✗ download  exit code 7, attempt 2                                         1.0s
      ┃ connection reset
    ▸ download  attempt 3 in 1.0s: as its `retry` says
    ▸ download  echo x >> tries; if [ $(wc -l < tries) -lt 3 ]; then echo c…   1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · unpack
    ⠋ 0 of 2 · 1.0s · Ctrl-C pauses
    === 120x40
    fetch  run k3f9x2m7q1
    ✗ download  exit code 7                                                                         1.0s
      ┃ connection reset
    ▸ download  attempt 2 in 1.0s: as its `retry` says
    ✗ download  exit code 7, attempt 2                                                              1.0s
      ┃ connection reset
    ▸ download  attempt 3 in 1.0s: as its `retry` says
    ▸ download  echo x >> tries; if [ $(wc -l < tries) -lt 3 ]; then echo connection reset >&2; …   1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · unpack
    ⠋ 0 of 2 · 1.0s · Ctrl-C pauses
    === 40x24
    fetch  run k3f9x2m7q1
    ✗ download  exit code 7            1.0s
      ┃ connection reset
    ▸ download  attempt 2 in 1.0s: as its
                `retry` says
    ✗ download  exit code 7, attempt   1.0s
                2
      ┃ connection reset
    ▸ download  attempt 3 in 1.0s: as its
                `retry` says
    ▸ download  echo x >> tries; if…   1.0s
      │ compiling a
      │ compiling b
      │ compiling c
      ┃ warning: c is old
    · unpack
    ⠋ 0 of 2 · 1.0s
    ");
    let pane = panes(&[("s.yaml", RETRIED), HOLD], &["run", "s.yaml"], |pane| {
        pane.make("go").ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    fetch  run k3f9x2m7q1
    ✗ download  exit code 7                                                    1.0s
      ┃ connection reset
    ▸ download  attempt 2 in 1.0s: as its `retry` says
    ✗ download  exit code 7, attempt 2                                         1.0s
      ┃ connection reset
    ▸ download  attempt 3 in 1.0s: as its `retry` says
    ✓ download  echo x >> tries; if [ $(wc -l < tries) -lt 3 ]; t… → 4 lines   1.0s
    ✓ unpack    true                                                           1.0s
    ✓ fetch completed in 1.0s  2 steps done
    === 120x40
    fetch  run k3f9x2m7q1
    ✗ download  exit code 7                                                                         1.0s
      ┃ connection reset
    ▸ download  attempt 2 in 1.0s: as its `retry` says
    ✗ download  exit code 7, attempt 2                                                              1.0s
      ┃ connection reset
    ▸ download  attempt 3 in 1.0s: as its `retry` says
    ✓ download  echo x >> tries; if [ $(wc -l < tries) -lt 3 ]; then echo connection r… → 4 lines   1.0s
    ✓ unpack    true                                                                                1.0s
    ✓ fetch completed in 1.0s  2 steps done
    === 40x24
    fetch  run k3f9x2m7q1
    ✗ download  exit code 7            1.0s
      ┃ connection reset
    ▸ download  attempt 2 in 1.0s: as its
                `retry` says
    ✗ download  exit code 7, attempt   1.0s
                2
      ┃ connection reset
    ▸ download  attempt 3 in 1.0s: as its
                `retry` says
    ✓ download  echo x >>… → 4 lines   1.0s
    ✓ unpack    true                   1.0s
    ✓ fetch completed in 1.0s  2 steps done
    ");
}

const HEALED: &str = "
name: push
heal:
- {name: login, match: {error: [no login]}, repair: {shell: touch login}}
steps:
- {name: push, on_error: auto_heal, shell: '[ -e login ] || { echo no login >&2; exit 1; }'}
- {name: tell, shell: 'true'}
";

#[test]
fn a_repair_is_part_of_the_record() {
    let pane = panes(&[("s.yaml", HEALED)], &["run", "s.yaml"], |pane| {
        pane.ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    push  run k3f9x2m7q1
    ✗ push  exit code 1                                                        1.0s
      ┃ no login
    ▸ push  known error: `login` repairs it
      ✓ login  touch login                                                     1.0s
    ✓ push  `login` ran in 1.0s
    ▸ push  attempt 2: repaired
    ✓ push  [ -e login ] || { echo no login >&2; exit 1; }                     1.0s
    ✓ tell  true                                                               1.0s
    ✓ push completed in 1.0s  2 steps done
    === 120x40
    push  run k3f9x2m7q1
    ✗ push  exit code 1                                                                             1.0s
      ┃ no login
    ▸ push  known error: `login` repairs it
      ✓ login  touch login                                                                          1.0s
    ✓ push  `login` ran in 1.0s
    ▸ push  attempt 2: repaired
    ✓ push  [ -e login ] || { echo no login >&2; exit 1; }                                          1.0s
    ✓ tell  true                                                                                    1.0s
    ✓ push completed in 1.0s  2 steps done
    === 40x24
    push  run k3f9x2m7q1
    ✗ push  exit code 1                1.0s
      ┃ no login
    ▸ push  known error: `login` repairs it
      ✓ login  touch login             1.0s
    ✓ push  `login` ran in 1.0s
    ▸ push  attempt 2: repaired
    ✓ push  [ -e login ] || { echo …   1.0s
    ✓ tell  true                       1.0s
    ✓ push completed in 1.0s  2 steps done
    ");
}
