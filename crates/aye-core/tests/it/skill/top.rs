//! What stands at the top of a skill.

use super::{check, sound};

#[test]
fn no_name() {
    insta::assert_snapshot!(check("
        steps: [{ name: one, command: make }]
    "), @"
    error[missing-key]: the skill has no `name`
      --> demo.yaml:1:1
       |
     1 | steps: [{ name: one, command: make }]
       | ^
       |
    hint: add `name: demo`

    1 error
    ");
}

#[test]
fn a_bad_name() {
    insta::assert_snapshot!(check("
        name: Release to production
        steps: [{ name: one, command: make }]
    "), @"
    error[bad-name]: `Release to production` cannot be the name of a skill
      --> demo.yaml:1:7
       |
     1 | name: Release to production
       |       ^^^^^^^^^^^^^^^^^^^^^ expected letters, digits, `_` and `-`, not starting with a digit or `-`
       |
    hint: write `Release_to_production`

    1 error
    ");
}

#[test]
fn neither_steps_nor_states() {
    insta::assert_snapshot!(check("
        name: demo
    "), @"
    error[no-body]: skill `demo` has neither `steps` nor `states`
      --> demo.yaml:1:1
       |
     1 | name: demo
       | ^
       |
    hint: write `steps:` for steps in order, or `states:` with transitions

    1 error
    ");
}

#[test]
fn both_steps_and_states() {
    insta::assert_snapshot!(check("
        name: demo
        steps: []
        states: {}
    "), @"
    error[two-bodies]: skill `demo` has both `steps` and `states`
      --> demo.yaml:3:1
       |
     2 | steps: []
       | ----- and the other
     3 | states: {}
       | ^^^^^^ keep one of them

    1 error
    ");
}

#[test]
fn empty_steps() {
    insta::assert_snapshot!(check("
        name: demo
        steps: []
    "), @"
    error[no-steps]: `steps` is empty
      --> demo.yaml:2:8
       |
     2 | steps: []
       |        ^^
       |
    hint: a skill has at least one step

    1 error
    ");
}

#[test]
fn empty_workflows() {
    insta::assert_snapshot!(check("
        workflows: {}
    "), @"
    error[no-steps]: `workflows` is empty
      --> demo.yaml:1:12
       |
     1 | workflows: {}
       |            ^^

    1 error
    ");
}

#[test]
fn steps_beside_workflows() {
    insta::assert_snapshot!(check("
        workflows:
          one:
            steps: [{ name: one, command: make }]
        steps: []
    "), @"
    error[unknown-key]: unknown key `steps` in a file with `workflows`
      --> demo.yaml:4:1
       |
     4 | steps: []
       | ^^^^^
       |
    hint: the keys here are `workflows`, `metadata`, `author`, `links` and `version`

    1 error
    ");
}

#[test]
fn notes_at_the_top_of_a_file_are_not_read() {
    let notes = "author: ann\nlinks: [https://example.org]\nversion: 2\nx-team: { lead: bob }\n";
    for skill in [
        "name: demo\nsteps: [{ name: one, command: make }]\n",
        "workflows:\n  demo:\n    x-note: 1\n    steps: [{ name: one, command: make }]\n",
    ] {
        let parsed = aye_core::skill::parse("demo.yaml", &format!("{notes}{skill}"));
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        assert_eq!(parsed.skills.len(), 1);
    }
    let parsed = aye_core::skill::parse(
        "demo.yaml",
        "name: demo\nteam: x\nsteps: [{ name: one, command: make, x-note: 1 }]\n",
    );
    assert_eq!(parsed.diagnostics.len(), 2, "other keys stay errors: {:?}", parsed.diagnostics);
}

#[test]
fn a_broken_skill_leaves_its_siblings_alone() {
    let text = "workflows:\n  bad:\n    name: a\n    name: b\n    steps: []\n  good:\n    steps: [{ name: one, command: make }]\n";
    let parsed = aye_core::skill::parse("demo.yaml", text);
    assert!(parsed.has_errors());
    let names: Vec<&str> = parsed.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["good"]);
    let declared: Vec<&str> = parsed.declared.iter().map(|skill| skill.as_str()).collect();
    assert_eq!(declared, ["bad", "good"]);
}

#[test]
fn initial_with_steps() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        steps: [{ name: one, command: make }]
    "), @"
    error[stray-key]: `initial` without `states`
      --> demo.yaml:2:1
       |
     2 | initial: one
       | ^^^^^^^
       |
    hint: steps begin with the first one; remove `initial`

    1 error
    ");
}

#[test]
fn bare_numbers_are_no_durations() {
    insta::assert_snapshot!(check("
        name: demo
        timeout: 30
        cleanup: 300000
        steps: [{ name: one, command: make, timeout: 5min }]
    "), @"
    error[bad-duration]: `30` has no unit
      --> demo.yaml:2:10
       |
     2 | timeout: 30
       |          ^^
       |
    hint: write `30s` for seconds or `30ms` for milliseconds

    error[bad-duration]: `300000` has no unit
      --> demo.yaml:3:10
       |
     3 | cleanup: 300000
       |          ^^^^^^
       |
    hint: write `5m` if these are milliseconds, `300000s` if they are seconds

    error[bad-duration]: `min` is not a unit of time
      --> demo.yaml:4:46
       |
     4 | steps: [{ name: one, command: make, timeout: 5min }]
       |                                              ^^^^
       |
    hint: write it like `30s`, `5m`, `1h30m`, `45.5s`, `500ms` or `2d`

    3 errors
    ");
}

#[test]
fn a_step_limit_of_zero() {
    insta::assert_snapshot!(check("
        name: demo
        step_limit: 0
        steps: [{ name: one, command: make }]
    "), @"
    error[bad-value]: `step_limit` must be at least 1
      --> demo.yaml:2:13
       |
     2 | step_limit: 0
       |             ^ no step could ever run

    1 error
    ");
}

#[test]
fn duplicate_names() {
    insta::assert_snapshot!(check("
        name: demo
        inputs: [{ name: a }, { name: a }]
        steps:
          - { name: one, command: make }
          - { name: one, command: make }
        outputs: [{ name: x, value: 1 }, { name: x, value: 2 }]
    "), @"
    error[duplicate-name]: input `a` is there twice
      --> demo.yaml:2:31
       |
     2 | inputs: [{ name: a }, { name: a }]
       |                               ^ again here
       |                  - first here

    error[duplicate-name]: step `one` is there twice
      --> demo.yaml:5:13
       |
     4 |   - { name: one, command: make }
       |             --- first here
     5 |   - { name: one, command: make }
       |             ^^^ again here

    error[duplicate-name]: output `x` is there twice
      --> demo.yaml:6:42
       |
     6 | outputs: [{ name: x, value: 1 }, { name: x, value: 2 }]
       |                                          ^ again here
       |                   - first here

    3 errors
    ");
}

#[test]
fn outputs_need_name_and_value() {
    insta::assert_snapshot!(check("
        name: demo
        steps: [{ name: one, command: make }]
        outputs:
          - name: x
          - value: 1
    "), @r#"
    error[missing-key]: output `x` has no `value`
      --> demo.yaml:4:11
       |
     4 |   - name: x
       |           ^
       |
    hint: no step gives a result called `x`: add `value: "{{ … }}"`

    error[missing-key]: an output has no `name`
      --> demo.yaml:5:5
       |
     5 |   - value: 1
       |     ^
       |
    hint: add `name: …`

    2 errors
    "#);
}

#[test]
fn an_output_may_be_a_result_by_its_name() {
    let skill = sound(
        "
        name: demo
        metadata: { personas: [developer] }
        steps: [{ name: one, command: make, output: made }]
        outputs:
          - { name: made, description: What was made }
    ",
    );
    assert_eq!(skill.outputs[0].value, "{{ made }}");
}

#[test]
fn a_step_under_outputs() {
    insta::assert_snapshot!(check("
        name: demo
        steps: [{ name: one, command: make }]
        outputs:
          - name: two
            command: make
            on_error: fail
    "), @"
    error[misplaced-step]: step `two` stands under `outputs`
      --> demo.yaml:5:5
       |
     5 |     command: make
       |     ^^^^^^^ only steps have this key
       |
    hint: move it up to `steps:`; an output has a `name` and a `value`

    1 error
    ");
}

#[test]
fn workflows_by_another_name() {
    insta::assert_snapshot!(check("
        skills:
          one:
            steps: [{ name: one, command: make }]
    "), @"
    error[unknown-key]: unknown key `skills` in the file
      --> demo.yaml:1:1
       |
     1 | skills:
       | ^^^^^^ did you mean `workflows`?

    1 error
    ");
}

#[test]
fn a_file_for_another_runner() {
    insta::assert_snapshot!(check(r#"
        workflows:
          dev-setup:
            name: Development set-up
            initialState: install
            globalTimeout: 600000
            states:
              install:
                command: npm
                args: [install, --retries, 3]
                timeout: 300000
                confirmation: { message: "Install?", timeout: 30000, defaultAccept: true }
                transitions: { success: edit, failure: null }
              edit:
                command: vim
                stdin: inherit
                transitions: {}
        metadata: { version: "1.0" }
    "#), @r#"
    error[bad-duration]: `600000` has no unit
      --> demo.yaml:5:20
       |
     5 |     globalTimeout: 600000
       |                    ^^^^^^
       |
    hint: write `10m` if these are milliseconds, `600000s` if they are seconds

    error[bad-duration]: `300000` has no unit
       --> demo.yaml:10:18
        |
     10 |         timeout: 300000
        |                  ^^^^^^
        |
    hint: write `5m` if these are milliseconds, `300000s` if they are seconds

    error[bad-duration]: `30000` has no unit
       --> demo.yaml:11:55
        |
     11 |         confirmation: { message: "Install?", timeout: 30000, defaultAccept: true }
        |                                                       ^^^^^
        |
    hint: write `30s` if these are milliseconds, `30000s` if they are seconds

    error[stdin-mode]: `stdin` holds the text itself, not a mode
       --> demo.yaml:15:16
        |
     15 |         stdin: inherit
        |                ^^^^^^^
        |
    hint: write `interactive: true` to give the step the terminal

    4 errors
    "#);
}
