//! Questions, in their place in the run.

use insta::assert_snapshot;

use super::panes;

const GATE: &str = "
name: release
steps:
- {name: build, shell: echo 4f2a}
- name: release
  confirmation: {message: '**Release?**', timeout: 0}
  shell: 'true'
- {name: tell, shell: 'true'}
";

#[test]
fn a_question_is_asked_where_the_run_is() {
    let pane = panes(&[("s.yaml", GATE)], &["run", "s.yaml"], |pane| {
        pane.shows(&["[y/N]"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                1.0s
    ╭─ release · release
    │
    │  Release?
    │
    │  command: true
    │  not covered: programs that the script finds in `PATH`
    │
    ├─ yes → runs release, no → the run ends (cancelled)
    ├─ Proceed? [y/N]
    ╰─ ? details · Esc declines
    === 120x40
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                                     1.0s
    ╭─ release · release
    │
    │  Release?
    │
    │  command: true
    │  not covered: programs that the script finds in `PATH`
    │
    ├─ yes → runs release, no → the run ends (cancelled)
    ├─ Proceed? [y/N]
    ╰─ ? details · Esc declines
    === 40x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a        1.0s
    ╭─ release · release
    │
    │  Release?
    │
    │  command: true
    │  not covered: programs that the
    │    script finds in `PATH`
    │
    ├─ yes → runs release, no → the run
    │    ends (cancelled)
    ├─ Proceed? [y/N]
    ╰─ ? details · Esc declines
    ");
}

#[test]
fn an_answer_leaves_a_line() {
    let pane = panes(&[("s.yaml", GATE)], &["run", "s.yaml"], |pane| {
        pane.shows(&["[y/N]"]).keys("y").ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                1.0s
    ● release  Release?  Proceed  answered by ada through terminal (local) after
               1.0s
    ✓ release  true                                                            1.0s
    ✓ tell     true                                                            1.0s
    ✓ release completed in 1.0s  3 steps done
    === 120x40
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                                     1.0s
    ● release  Release?  Proceed  answered by ada through terminal (local) after 1.0s
    ✓ release  true                                                                                 1.0s
    ✓ tell     true                                                                                 1.0s
    ✓ release completed in 1.0s  3 steps done
    === 40x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a        1.0s
    ● release  Release?  Proceed  answered
               by ada through terminal
               (local) after 1.0s
    ✓ release  true                    1.0s
    ✓ tell     true                    1.0s
    ✓ release completed in 1.0s  3 steps
      done
    ");
}

#[test]
fn what_silence_does_is_always_said() {
    let skill = "
name: rollout
steps:
- name: where
  choose:
    title: Rollout
    message: Which region first?
    options: [eu-west-1, us-east-1, nowhere]
    default: nowhere
    timeout: 20m
";
    let pane = panes(&[("s.yaml", skill)], &["run", "s.yaml"], |pane| {
        pane.shows(&["then nowhere"]);
    });
    let pane = regex_lite::Regex::new("19m \\d+s|20m 0s").unwrap().replace_all(&pane, "19m 59s");
    assert_snapshot!(pane, @r"
    === 80x24
    rollout  run k3f9x2m7q1
    ╭─ Rollout  rollout · where
    │
    │  Which region first?
    │
    ├─ each answer → the run ends (completed)
    ├─ Choose
    │    eu-west-1
    │    us-east-1
    │  ❯ nowhere (default)
    ╰─ ⠋ 1.0s left, then nowhere · ↑↓ · Enter · ? details · Ctrl-C pauses
    === 120x40
    rollout  run k3f9x2m7q1
    ╭─ Rollout  rollout · where
    │
    │  Which region first?
    │
    ├─ each answer → the run ends (completed)
    ├─ Choose
    │    eu-west-1
    │    us-east-1
    │  ❯ nowhere (default)
    ╰─ ⠋ 1.0s left, then nowhere · ↑↓ move · Enter chooses · type to filter · ? details · Ctrl-C pauses
    === 40x24
    rollout  run k3f9x2m7q1
    ╭─ Rollout  rollout · where
    │
    │  Which region first?
    │
    ├─ each answer → the run ends
    │    (completed)
    ├─ Choose
    │    eu-west-1
    │    us-east-1
    │  ❯ nowhere (default)
    │  ⠋ 1.0s left, then nowhere
    ╰─ ↑↓ · Enter · ? · Ctrl-C
    ");
}

#[test]
fn a_failed_step_is_asked_about_below_what_it_wrote() {
    let skill = "
name: restart
steps:
- {name: stop, shell: 'true'}
- {name: health, shell: 'echo checking; echo \"curl: (22) 503\" >&2; exit 22'}
- {name: tell, shell: 'true'}
";
    let pane = panes(&[("s.yaml", skill)], &["run", "s.yaml"], |pane| {
        pane.shows(&["5 Abort"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    restart  run k3f9x2m7q1
    ✓ stop    true                                                             1.0s
    ✗ health  exit code 22                                                     1.0s
      │ checking
      ┃ curl: (22) 503
    ╭─ Step failed  restart · health
    │
    │  health failed: exit code 22
    │
    │  curl: (22) 503
    │
    ├─ Choose, or type a number
    │    1 Retry               run the step again
    │    2 Retry with changes  edit its arguments
    │    3 It was done         continue as if it had succeeded
    │    4 Skip                skip the step and continue
    │    5 Abort               end the run as failed
    ╰─ ↑↓ move · Enter chooses · type to filter · ? details · Esc aborts
    === 120x40
    restart  run k3f9x2m7q1
    ✓ stop    true                                                                                  1.0s
    ✗ health  exit code 22                                                                          1.0s
      │ checking
      ┃ curl: (22) 503
    ╭─ Step failed  restart · health
    │
    │  health failed: exit code 22
    │
    │  curl: (22) 503
    │
    ├─ Choose, or type a number
    │    1 Retry               run the step again
    │    2 Retry with changes  edit its arguments
    │    3 It was done         continue as if it had succeeded
    │    4 Skip                skip the step and continue
    │    5 Abort               end the run as failed
    ╰─ ↑↓ move · Enter chooses · type to filter · ? details · Esc aborts
    === 40x24
    restart  run k3f9x2m7q1
    ✓ stop    true                     1.0s
    ✗ health  exit code 22             1.0s
      │ checking
      ┃ curl: (22) 503
    ╭─ Step failed  restart · health
    │
    │  health failed: exit code 22
    │
    │  curl: (22) 503
    │
    ├─ Choose, or type a number
    │    1 Retry
    │        run the step again
    │    2 Retry with changes
    │        edit its arguments
    │    3 It was done
    │        continue as if it had
    │        succeeded
    │    4 Skip
    │        skip the step and continue
    │    5 Abort
    │        end the run as failed
    ╰─ ↑↓ · Enter · ? details · Esc aborts
    ");
}

const EACH: &str = "
name: restart
steps:
- {name: plan, shell: echo 3}
- name: restart
  foreach: [web-1, web-2, web-3]
  parallel: 3
  steps:
  # One after the other, so that they ask in this order.
  - name: check
    shell: |
      until [ {{ item }} = web-1 ] || [ -e {{ item }} ]; do sleep 0.02; done
      touch {{ {'web-1': 'web-2', 'web-2': 'web-3'}.get(item, 'end') }}
  - name: stop
    confirmation: {message: 'Stop `{{ item }}`?', timeout: 0}
    command: echo
    args: [stopped, '{{ item }}']
- {name: tell, shell: 'true'}
";

#[test]
fn several_are_asked_one_at_a_time_with_their_item() {
    let pane = panes(&[("s.yaml", EACH)], &["run", "s.yaml"], |pane| {
        pane.shows(&["1 of 3", "[y/N]"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 3 → 3                                                      1.0s
    ▸ restart  3 items
    ╭─ restart · restart[web-1] · stop
    │
    │  Stop web-1?
    │
    │  command: echo stopped web-1
    │
    ├─ yes → runs stop, no → the item is left out
    ├─ Proceed? [y/N]
    ╰─ 1 of 3 · ? details · Esc declines
    === 120x40
    restart  run k3f9x2m7q1
    ✓ plan     echo 3 → 3                                                                           1.0s
    ▸ restart  3 items
    ╭─ restart · restart[web-1] · stop
    │
    │  Stop web-1?
    │
    │  command: echo stopped web-1
    │
    ├─ yes → runs stop, no → the item is left out
    ├─ Proceed? [y/N]
    ╰─ 1 of 3 · ? details · Esc declines
    === 40x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 3 → 3              1.0s
    ▸ restart  3 items
    ╭─ restart · restart[web-1] · stop
    │
    │  Stop web-1?
    │
    │  command: echo stopped web-1
    │
    ├─ yes → runs stop, no → the item is
    │    left out
    ├─ Proceed? [y/N]
    ╰─ 1 of 3 · ? details · Esc declines
    ");
    let pane = panes(&[("s.yaml", EACH)], &["run", "s.yaml"], |pane| {
        pane.shows(&["1 of 3", "[y/N]"]).keys("y").shows(&["✓ web-1", "2 of 3"]).keys("y");
        pane.shows(&["✓ web-2", "3 of 3"]).keys("y").ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 3 → 3                                                      1.0s
    ▸ restart  3 items
      ● web-1 › stop  Stop `web-1`?  Proceed  answered by ada through terminal
                      (local) after 1.0s
      ✓ web-1  2 steps                                                         1.0s
      ● web-2 › stop  Stop `web-2`?  Proceed  answered by ada through terminal
                      (local) after 1.0s
      ✓ web-2  2 steps                                                         1.0s
      ● web-3 › stop  Stop `web-3`?  Proceed  answered by ada through terminal
                      (local) after 1.0s
      ✓ web-3  2 steps                                                         1.0s
    ✓ restart  3 items                                                         1.0s
    ✓ tell     true                                                            1.0s
    ✓ restart completed in 1.0s  3 steps done
    === 120x40
    restart  run k3f9x2m7q1
    ✓ plan     echo 3 → 3                                                                           1.0s
    ▸ restart  3 items
      ● web-1 › stop  Stop `web-1`?  Proceed  answered by ada through terminal (local) after 1.0s
      ✓ web-1  2 steps                                                                              1.0s
      ● web-2 › stop  Stop `web-2`?  Proceed  answered by ada through terminal (local) after 1.0s
      ✓ web-2  2 steps                                                                              1.0s
      ● web-3 › stop  Stop `web-3`?  Proceed  answered by ada through terminal (local) after 1.0s
      ✓ web-3  2 steps                                                                              1.0s
    ✓ restart  3 items                                                                              1.0s
    ✓ tell     true                                                                                 1.0s
    ✓ restart completed in 1.0s  3 steps done
    === 40x24
    restart  run k3f9x2m7q1
    ✓ plan     echo 3 → 3              1.0s
    ▸ restart  3 items
      ● web-1 › stop  Stop `web-1`?  Proceed
        answered by ada through terminal
        (local) after 1.0s
      ✓ web-1  2 steps                 1.0s
      ● web-2 › stop  Stop `web-2`?  Proceed
        answered by ada through terminal
        (local) after 1.0s
      ✓ web-2  2 steps                 1.0s
      ● web-3 › stop  Stop `web-3`?  Proceed
        answered by ada through terminal
        (local) after 1.0s
      ✓ web-3  2 steps                 1.0s
    ✓ restart  3 items                 1.0s
    ✓ tell     true                    1.0s
    ✓ restart completed in 1.0s  3 steps
      done
    ");
}
