//! `--dry-run`: what would happen.

use insta::assert_snapshot;

use super::panes;

const SKILL: &str = "
name: release
description: Promote a commit to production
concurrency: deploy-{{ inputs.environment }}
inputs:
- {name: environment, type: string, default: stage}
steps:
- {name: build, description: Compile everything, command: make, args: [all, --jobs, '4'], timeout: 45.5s}
- name: go
  confirm: {message: 'Release to {{ inputs.environment }}?', timeout: 10m, default: cancel}
- name: each
  foreach: [web-1, web-2]
  shell: 'echo {{ item }}'
- {name: drop, destructive: true, shell: rm -rf old}
finally:
- {name: tell, shell: 'echo {{ run.status }}'}
";

#[test]
fn every_step_with_what_it_would_do() {
    let pane = panes(&[("s.yaml", SKILL)], &["run", "s.yaml", "--dry-run"], |pane| {
        pane.ends(0);
    });
    assert_snapshot!(pane, @r#"
    === 80x24
    release  dry run: nothing is run, nobody is asked
      environment = "stage"
      concurrency: deploy-stage  one run at a time can hold this name
      1. build at most 1.0s
         ▸ make all --jobs 4
      2. go
         ? Release to stage?
           within 10m, then no
         no -> the run ends (cancelled)
      3. each
         ▸ for each item of ["web-1","web-2"]:
           each at most 2m (default)
              ▸ echo {{ item }}
      4. drop destructive at most 2m (default)
         ▸ rm -rf old
      finally, however it ends (at most 1m in all):
      5. tell at most 2m (default)
         ▸ echo {{ run.status }}
    5 steps, 1 question
    warning: `drop` is destructive and has no question before it
    warning: `drop` uses `rm -rf`
    === 120x40
    release  dry run: nothing is run, nobody is asked
      environment = "stage"
      concurrency: deploy-stage  one run at a time can hold this name
      1. build at most 1.0s
         ▸ make all --jobs 4
      2. go
         ? Release to stage?
           within 10m, then no
         no -> the run ends (cancelled)
      3. each
         ▸ for each item of ["web-1","web-2"]:
           each at most 2m (default)
              ▸ echo {{ item }}
      4. drop destructive at most 2m (default)
         ▸ rm -rf old
      finally, however it ends (at most 1m in all):
      5. tell at most 2m (default)
         ▸ echo {{ run.status }}
    5 steps, 1 question
    warning: `drop` is destructive and has no question before it
    warning: `drop` uses `rm -rf`
    === 40x24
    release  dry run: nothing is run, nobody
             is asked
      environment = "stage"
      concurrency: deploy-stage  one run at
                   a time can hold this name
      1. build at most 1.0s
         ▸ make all --jobs 4
      2. go
         ? Release to stage?
           within 10m, then no
         no -> the run ends (cancelled)
      3. each
         ▸ for each item of
           ["web-1","web-2"]:
           each at most 2m (default)
              ▸ echo {{ item }}
      4. drop destructive at most 2m
         (default)
         ▸ rm -rf old
      finally, however it ends (at most 1m
        in all):
      5. tell at most 2m (default)
         ▸ echo {{ run.status }}
    5 steps, 1 question
    warning: `drop` is destructive and has
             no question before it
    warning: `drop` uses `rm -rf`
    "#);
}
