//! `--output`: what steps write, whole or not at all.

use insta::assert_snapshot;

use super::panes;

const SKILL: &str = "
name: release
steps:
- {name: build, shell: seq 3; echo odd >&2}
- {name: check, on_error: continue, shell: echo 2 of 5 failed >&2; exit 3}
- {name: tell, shell: printf done}
";

fn shown(output: &str) -> String {
    panes(&[("s.yaml", SKILL)], &["run", "s.yaml", "--output", output], |pane| {
        pane.ends(0);
    })
}

#[test]
fn all_of_it() {
    assert_snapshot!(shown("full"), @r"
    === 80x24
    release  run k3f9x2m7q1
    ▸ build  seq 3; echo odd >&2
      │ 1
      │ 2
      │ 3
      ┃ odd
    ✓ build                                                                    1.0s
    ▸ check  echo 2 of 5 failed >&2; exit 3
      ┃ 2 of 5 failed
    ✗ check  exit code 3                                                       1.0s
    ▸ tell   printf done
      │ done
    ✓ tell                                                                     1.0s
    ✓ release completed in 1.0s  2 steps done, 1 failed
    === 120x40
    release  run k3f9x2m7q1
    ▸ build  seq 3; echo odd >&2
      │ 1
      │ 2
      │ 3
      ┃ odd
    ✓ build                                                                                         1.0s
    ▸ check  echo 2 of 5 failed >&2; exit 3
      ┃ 2 of 5 failed
    ✗ check  exit code 3                                                                            1.0s
    ▸ tell   printf done
      │ done
    ✓ tell                                                                                          1.0s
    ✓ release completed in 1.0s  2 steps done, 1 failed
    === 40x24
    release  run k3f9x2m7q1
    ▸ build  seq 3; echo odd >&2
      │ 1
      │ 2
      │ 3
      ┃ odd
    ✓ build                            1.0s
    ▸ check  echo 2 of 5 failed >&2; exit 3
      ┃ 2 of 5 failed
    ✗ check  exit code 3               1.0s
    ▸ tell   printf done
      │ done
    ✓ tell                             1.0s
    ✓ release completed in 1.0s  2 steps
      done, 1 failed
    ");
}

#[test]
fn none_of_it() {
    assert_snapshot!(shown("none"), @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build  seq 3; echo odd >&2                                               1.0s
    ✗ check  exit code 3                                                       1.0s
    ✓ tell   printf done                                                       1.0s
    ✓ release completed in 1.0s  2 steps done, 1 failed
    === 120x40
    release  run k3f9x2m7q1
    ✓ build  seq 3; echo odd >&2                                                                    1.0s
    ✗ check  exit code 3                                                                            1.0s
    ✓ tell   printf done                                                                            1.0s
    ✓ release completed in 1.0s  2 steps done, 1 failed
    === 40x24
    release  run k3f9x2m7q1
    ✓ build  seq 3; echo odd >&2       1.0s
    ✗ check  exit code 3               1.0s
    ✓ tell   printf done               1.0s
    ✓ release completed in 1.0s  2 steps
      done, 1 failed
    ");
}
