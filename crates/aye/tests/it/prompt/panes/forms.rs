//! What is asked beside yes and no: texts, secrets, options, details, words to type.

use insta::assert_snapshot;

use super::{panes, replaced};

const TEXT: &str = "
name: release
steps:
- {name: build, shell: echo 4f2a}
- name: ticket
  input:
    title: Ticket
    message: Which ticket is this release for? It goes into the log.
    match: '^OPS-[0-9]+$'
    timeout: 0
  output: ticket
- {name: tell, shell: 'echo {{ ticket }}'}
";

#[test]
fn a_text_that_does_not_fit_says_what_would() {
    let pane = panes(&[("s.yaml", TEXT)], &["run", "s.yaml"], |pane| {
        pane.shows(&["❯"]).keys("seven").shows(&["❯ seven"]).keys("\r").shows(&["^OPS"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build   echo 4f2a → 4f2a                                                 1.0s
    ╭─ Ticket  release · ticket
    │
    │  Which ticket is this release for? It goes into the log.
    │
    ├─ ❯ seven
    │  ! this does not match `^OPS-[0-9]+$`
    ╰─ Enter answers · Esc empties it
    === 120x40
    release  run k3f9x2m7q1
    ✓ build   echo 4f2a → 4f2a                                                                      1.0s
    ╭─ Ticket  release · ticket
    │
    │  Which ticket is this release for? It goes into the log.
    │
    ├─ ❯ seven
    │  ! this does not match `^OPS-[0-9]+$`
    ╰─ Enter answers · Esc empties it
    === 40x24
    release  run k3f9x2m7q1
    ✓ build   echo 4f2a → 4f2a         1.0s
    ╭─ Ticket  release · ticket
    │
    │  Which ticket is this release for? It
    │  goes into the log.
    │
    ├─ ❯ seven
    │  ! this does not match `^OPS-[0-9]+$`
    ╰─ Enter answers · Esc empties it
    ");
}

#[test]
fn a_text_leaves_a_line() {
    let pane = panes(&[("s.yaml", TEXT)], &["run", "s.yaml"], |pane| {
        pane.shows(&["❯"]).keys("OPS-7").shows(&["❯ OPS-7"]).keys("\r").ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build   echo 4f2a → 4f2a                                                 1.0s
    ● ticket  Which ticket is this release for? It goes into the log.  OPS-7
              answered by ada through terminal (local) after 1.0s
    ✓ tell    echo OPS-7 → OPS-7                                               1.0s
    ✓ release completed in 1.0s  3 steps done
    === 120x40
    release  run k3f9x2m7q1
    ✓ build   echo 4f2a → 4f2a                                                                      1.0s
    ● ticket  Which ticket is this release for? It goes into the log.  OPS-7  answered by ada through terminal (local)
              after 1.0s
    ✓ tell    echo OPS-7 → OPS-7                                                                    1.0s
    ✓ release completed in 1.0s  3 steps done
    === 40x24
    release  run k3f9x2m7q1
    ✓ build   echo 4f2a → 4f2a         1.0s
    ● ticket  Which ticket is this release
              for? It goes into the log.
              OPS-7  answered by ada
              through terminal (local) after
              1.0s
    ✓ tell    echo OPS-7 → OPS-7       1.0s
    ✓ release completed in 1.0s  3 steps
      done
    ");
}

const SECRET: &str = "
name: login
steps:
- {name: password, input: {message: Password of the registry?, secret: true, timeout: 0}, output: p}
- {name: login, shell: 'test \"$PASS\"', env: {PASS: '{{ p }}'}}
";

#[test]
fn a_secret_is_not_shown() {
    let pane = panes(&[("s.yaml", SECRET)], &["run", "s.yaml"], |pane| {
        pane.shows(&["❯"]).keys("hunter2").shows(&["•••••••"]);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    login  run k3f9x2m7q1
    ╭─ login · password
    │
    │  Password of the registry?
    │
    ├─ ❯ •••••••
    ╰─ Enter answers · Esc empties it
    === 120x40
    login  run k3f9x2m7q1
    ╭─ login · password
    │
    │  Password of the registry?
    │
    ├─ ❯ •••••••
    ╰─ Enter answers · Esc empties it
    === 40x24
    login  run k3f9x2m7q1
    ╭─ login · password
    │
    │  Password of the registry?
    │
    ├─ ❯ •••••••
    ╰─ Enter answers · Esc empties it
    ");
    let pane = panes(&[("s.yaml", SECRET)], &["run", "s.yaml"], |pane| {
        pane.shows(&["❯"]).keys("hunter2").shows(&["•••••••"]).keys("\r").ends(0);
    });
    assert_snapshot!(pane, @r#"
    === 80x24
    login  run k3f9x2m7q1
    ● password  Password of the registry?  ***  answered by ada through terminal
                (local) after 1.0s
    ✓ login     test "$PASS"                                                   1.0s
    ✓ login completed in 1.0s  2 steps done
    === 120x40
    login  run k3f9x2m7q1
    ● password  Password of the registry?  ***  answered by ada through terminal (local) after 1.0s
    ✓ login     test "$PASS"                                                                        1.0s
    ✓ login completed in 1.0s  2 steps done
    === 40x24
    login  run k3f9x2m7q1
    ● password  Password of the registry?
                ***  answered by ada
                through terminal (local)
                after 1.0s
    ✓ login     test "$PASS"           1.0s
    ✓ login completed in 1.0s  2 steps done
    "#);
}

const OPTIONS: &str = "
name: release
steps:
- {name: build, shell: echo 4f2a}
- name: go
  confirm:
    title: Production release
    message: |
      # Release 4f2a

      - 3 commits
      - **no** migrations
    options:
    - {label: Proceed, value: proceed, description: Create the merge request and wait for its pipeline}
    - {label: Only stage, value: stage, description: Not in production}
    - {label: Cancel, value: cancel}
    default: cancel
    timeout: 0
  output: answer
- {name: tell, shell: 'echo {{ answer }}'}
";

#[test]
fn options_have_descriptions_and_a_default() {
    let pane = panes(&[("s.yaml", OPTIONS)], &["run", "s.yaml"], |pane| {
        pane.shows(&["Cancel (default)"]);
    });
    assert_snapshot!(pane, @"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build  echo 4f2a → 4f2a                                                  1.0s
    ╭─ Production release  release · go
    │
    │  Release 4f2a
    │
    │  • 3 commits
    │  • no migrations
    │
    │  proceed: command of `tell`: echo proceed
    │  stage: command of `tell`: echo stage
    │  not covered: programs that the script finds in `PATH`
    │
    ├─ Proceed, Only stage → the run continues, Cancel → the run ends (cancelled)
    ├─ Choose, or type a number
    │    1 Proceed           Create the merge request and wait for its pipeline
    │    2 Only stage        Not in production
    │  ❯ 3 Cancel (default)
    ╰─ ↑↓ move · Enter chooses · type to filter · ? details · Esc declines
    === 120x40
    release  run k3f9x2m7q1
    ✓ build  echo 4f2a → 4f2a                                                                       1.0s
    ╭─ Production release  release · go
    │
    │  Release 4f2a
    │
    │  • 3 commits
    │  • no migrations
    │
    │  proceed: command of `tell`: echo proceed
    │  stage: command of `tell`: echo stage
    │  not covered: programs that the script finds in `PATH`
    │
    ├─ Proceed, Only stage → the run continues, Cancel → the run ends (cancelled)
    ├─ Choose, or type a number
    │    1 Proceed           Create the merge request and wait for its pipeline
    │    2 Only stage        Not in production
    │  ❯ 3 Cancel (default)
    ╰─ ↑↓ move · Enter chooses · type to filter · ? details · Esc declines
    === 40x24
    release  run k3f9x2m7q1
    ✓ build  echo 4f2a → 4f2a          1.0s
    ╭─ Production release  release · go
    │
    │  Release 4f2a
    │
    │  • 3 commits
    │  • no migrations
    │
    │  proceed: command of `tell`: echo
    │    proceed
    │  stage: command of `tell`: echo stage
    │  not covered: programs that the
    │    script finds in `PATH`
    │
    ├─ Proceed, Only stage → the run
    │    continues, Cancel → the run ends
    │    (cancelled)
    ├─ Choose, or type a number
    │
    │    1 Proceed…
    │    2 Only stage…
    │  ❯ 3 Cancel (default)
    │
    ╰─ ↑↓ · Enter · ? · Esc declines
    ");
    let pane = panes(&[("s.yaml", OPTIONS)], &["run", "s.yaml"], |pane| {
        pane.shows(&["Cancel (default)"]).keys("2\r").ends(0);
    });
    assert_snapshot!(pane, @r"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build  echo 4f2a → 4f2a                                                  1.0s
    ● go     Release 4f2a  Only stage  answered by ada through terminal (local)
             after 1.0s
    ✓ tell   echo stage → stage                                                1.0s
    ✓ release completed in 1.0s  3 steps done
    === 120x40
    release  run k3f9x2m7q1
    ✓ build  echo 4f2a → 4f2a                                                                       1.0s
    ● go     Release 4f2a  Only stage  answered by ada through terminal (local) after 1.0s
    ✓ tell   echo stage → stage                                                                     1.0s
    ✓ release completed in 1.0s  3 steps done
    === 40x24
    release  run k3f9x2m7q1
    ✓ build  echo 4f2a → 4f2a          1.0s
    ● go     Release 4f2a  Only stage
             answered by ada through
             terminal (local) after 1.0s
    ✓ tell   echo stage → stage        1.0s
    ✓ release completed in 1.0s  3 steps
      done
    ");
}

const GATE: &str = "
name: release
steps:
- {name: build, shell: echo 4f2a}
- name: release
  description: Puts it live
  command: sh
  args: [live, --region, eu-west-1]
  destructive: true
  confirmation: {message: Release **4f2a**?, type_to_confirm: production, timeout: 0}
";

#[test]
fn details_say_what_runs_and_what_happened() {
    let skill = GATE.replace("type_to_confirm: production, ", "");
    let files = [("s.yaml", skill.as_str()), ("live", "true\n")];
    let pane = panes(&files, &["run", "s.yaml"], |pane| {
        pane.shows(&["[y/N]"]).keys("?").shows(&["so far"]);
    });
    // What differs from place to place and from machine to machine.
    let patterns = [
        ("aye-[A-Za-z0-9]{6}/work", "aye-PLACE0/work"),
        ("machine: \\S+", "machine: host"),
        ("program: \\S+", "program: /bin/sh"),
        ("sha256 [0-9a-f]{12}", "sha256 0123456789ab"),
    ];
    let pane = replaced(&pane, &patterns);
    assert_snapshot!(pane, @"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                1.0s
    ╭─ release · release
    │
    │  Release 4f2a?
    │
    │  command: sh live --region eu-west-1
    │  not covered: files that `live` reads, imports or starts
    │
    ├─ Details
    │  then runs sh live --region eu-west-1
    │  covers    machine: host
    │  covers    command: sh live --region eu-west-1
    │  covers    directory: /tmp/aye-PLACE0/work
    │  covers    program: /bin/sh (sha256 0123456789ab)
    │  covers    file `live`: /tmp/aye-PLACE0/work/live (sha256 0123456789ab)
    │  not       files that `live` reads, imports or starts
    │  step      release of release
    │  where     /tmp/aye-PLACE0/work
    │  option    Proceed: continues
    │  option    Cancel: declines
    │  id        k3f9x2m7q1-1
    │  so far    ✓ build 1.0s
    ├─ yes → runs release, no → the run ends (cancelled)
    ├─ Proceed? [y/N]
    ╰─ ? less · Esc declines
    === 120x40
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                                     1.0s
    ╭─ release · release
    │
    │  Release 4f2a?
    │
    │  command: sh live --region eu-west-1
    │  not covered: files that `live` reads, imports or starts
    │
    ├─ Details
    │  then runs sh live --region eu-west-1
    │  covers    machine: host
    │  covers    command: sh live --region eu-west-1
    │  covers    directory: /tmp/aye-PLACE0/work
    │  covers    program: /bin/sh (sha256 0123456789ab)
    │  covers    file `live`: /tmp/aye-PLACE0/work/live (sha256 0123456789ab)
    │  not       files that `live` reads, imports or starts
    │  step      release of release
    │  where     /tmp/aye-PLACE0/work
    │  option    Proceed: continues
    │  option    Cancel: declines
    │  id        k3f9x2m7q1-1
    │  so far    ✓ build 1.0s
    ├─ yes → runs release, no → the run ends (cancelled)
    ├─ Proceed? [y/N]
    ╰─ ? less · Esc declines
    === 40x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a        1.0s
    ╭─ release · release
    │
    │  Release 4f2a?
    │
    │  command: sh live --region eu-west-1
    │  not covered: files that `live`
    │    reads, imports or starts
    │
    ├─ Details
    │  then runs sh live --region eu-west-1
    │  covers    machine: host
    │  covers    command: sh live --region
    │            eu-west-1
    │  covers    directory:
    │            /tmp/aye-PLACE0/work
    │  covers    program: /bin/sh
    │            (sha256 0123456789ab)
    │  covers    file `live`:
    │            /tmp/aye-PLACE0/work/live
    │            (sha256 0123456789ab)
    │  not       files that `live` reads,
    │            imports or starts
    │  step      release of release
    │  where     /tmp/aye-PLACE0/work
    │  option    Proceed: continues
    │  option    Cancel: declines
    │  id        k3f9x2m7q1-1
    │  so far    ✓ build 1.0s
    ├─ yes → runs release, no → the run
    │    ends (cancelled)
    ├─ Proceed? [y/N]
    ╰─ ? less · Esc declines
    ");
}

#[test]
fn a_word_has_to_be_typed() {
    let files = [("s.yaml", GATE), ("live", "true\n")];
    let pane = panes(&files, &["run", "s.yaml"], |pane| {
        pane.shows(&["type production"]).keys("prod").shows(&["❯ prod"]).keys("\r");
        pane.shows(&["exactly"]);
    });
    assert_snapshot!(pane, @"
    === 80x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                1.0s
    ╭─ release · release
    │
    │  Release 4f2a?
    │
    │  command: sh live --region eu-west-1
    │  not covered: files that `live` reads, imports or starts
    │
    ├─ yes → runs release, no → the run ends (cancelled)
    ├─ To agree, type production
    │  ❯
    │  ! that is not the text; type it exactly (2 tries left)
    ╰─ Enter agrees · Esc declines · ? details
    === 120x40
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a                                                                     1.0s
    ╭─ release · release
    │
    │  Release 4f2a?
    │
    │  command: sh live --region eu-west-1
    │  not covered: files that `live` reads, imports or starts
    │
    ├─ yes → runs release, no → the run ends (cancelled)
    ├─ To agree, type production
    │  ❯
    │  ! that is not the text; type it exactly (2 tries left)
    ╰─ Enter agrees · Esc declines · ? details
    === 40x24
    release  run k3f9x2m7q1
    ✓ build    echo 4f2a → 4f2a        1.0s
    ╭─ release · release
    │
    │  Release 4f2a?
    │
    │  command: sh live --region eu-west-1
    │  not covered: files that `live`
    │    reads, imports or starts
    │
    ├─ yes → runs release, no → the run
    │    ends (cancelled)
    ├─ To agree, type production
    │  ❯
    │  ! that is not the text; type it
    │    exactly (2 tries left)
    ╰─ Enter · Esc declines · ? details
    ");
}
