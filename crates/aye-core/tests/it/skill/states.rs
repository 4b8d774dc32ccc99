//! States.

use super::check;

#[test]
fn a_run_begins_with_the_first_state() {
    let text = "name: demo\nstates:\n  two: { command: make }\n  one: { command: make }\n";
    let parsed = aye_core::skill::parse("demo.yaml", text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let aye_core::skill::Body::States { initial, .. } = &parsed.skills[0].body else { panic!() };
    assert_eq!(initial.value, "two");
}

#[test]
fn initial_is_no_state() {
    insta::assert_snapshot!(check("
        name: demo
        initial: biuld
        states:
          build: { command: make }
    "), @"
    error[unknown-state]: `initial` leads to `biuld`, which is no state
      --> demo.yaml:2:10
       |
     2 | initial: biuld
       |          ^^^^^ did you mean `build`?

    1 error
    ");
}

#[test]
fn dangling_targets() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one: { command: make, transitions: { success: dnoe, failure: nowhere, 3: don } }
          done: { type: final }
    "), @"
    error[unknown-state]: the transition `success` leads to `dnoe`, which is no state
      --> demo.yaml:4:49
       |
     4 |   one: { command: make, transitions: { success: dnoe, failure: nowhere, 3: don } }
       |                                                 ^^^^ did you mean `done`?

    error[unknown-state]: the transition `failure` leads to `nowhere`, which is no state
      --> demo.yaml:4:64
       |
     4 |   one: { command: make, transitions: { success: dnoe, failure: nowhere, 3: don } }
       |                                                                ^^^^^^^ no state has this name

    error[unknown-state]: the transition `3` leads to `don`, which is no state
      --> demo.yaml:4:76
       |
     4 |   one: { command: make, transitions: { success: dnoe, failure: nowhere, 3: don } }
       |                                                                            ^^^ did you mean `done`?

    3 errors
    ");
}

#[test]
fn names_of_object_methods_are_ordinary() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one: { command: make, transitions: { success: toString } }
    "), @"
    error[unknown-state]: the transition `success` leads to `toString`, which is no state
      --> demo.yaml:4:49
       |
     4 |   one: { command: make, transitions: { success: toString } }
       |                                                 ^^^^^^^^ no state has this name

    1 error
    ");
}

#[test]
fn an_unknown_transition() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one: { command: make, transitions: { sucess: one, on_fail: one, else: one } }
    "), @"
    error[unknown-key]: unknown transition `sucess` in state `one`
      --> demo.yaml:4:40
       |
     4 |   one: { command: make, transitions: { sucess: one, on_fail: one, else: one } }
       |                                        ^^^^^^ did you mean `success`?

    error[unknown-key]: unknown transition `on_fail` in state `one`
      --> demo.yaml:4:53
       |
     4 |   one: { command: make, transitions: { sucess: one, on_fail: one, else: one } }
       |                                                     ^^^^^^^
       |
    hint: transitions are `success`, `failure`, `timeout`, `declined`, `cancelled` and exit codes

    error[unknown-key]: unknown transition `else` in state `one`
      --> demo.yaml:4:67
       |
     4 |   one: { command: make, transitions: { sucess: one, on_fail: one, else: one } }
       |                                                                   ^^^^
       |
    hint: transitions are `success`, `failure`, `timeout`, `declined`, `cancelled` and exit codes

    3 errors
    ");
}

#[test]
fn an_exit_code_out_of_range() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one: { command: make, transitions: { 256: one, -1: one } }
    "), @"
    error[bad-exit-code]: `256` is no exit code
      --> demo.yaml:4:40
       |
     4 |   one: { command: make, transitions: { 256: one, -1: one } }
       |                                        ^^^ expected a number from 0 to 255

    error[bad-exit-code]: `-1` is no exit code
      --> demo.yaml:4:50
       |
     4 |   one: { command: make, transitions: { 256: one, -1: one } }
       |                                                  ^^ expected a number from 0 to 255

    2 errors
    ");
}

#[test]
fn a_transition_given_twice() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one:
            command: make
            on_success: one
            transitions: { success: one }
    "), @"
    error[duplicate-key]: the transition `success` of state `one` is given twice
      --> demo.yaml:6:5
       |
     6 |     on_success: one
       |     ^^^^^^^^^^ again here
     7 |     transitions: { success: one }
       |                    ------- first here

    1 error
    ");
}

#[test]
fn a_final_state_that_leads_on() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one: { type: final, transitions: { success: one } }
    "), @"
    error[final-transitions]: state `one` is final and leads on
      --> demo.yaml:4:23
       |
     4 |   one: { type: final, transitions: { success: one } }
       |                       ^^^^^^^^^^^ the run ends before this
       |          ---- because of this

    1 error
    ");
}

#[test]
fn a_status_without_an_end() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one: { command: make, status: failed }
    "), @"
    error[stray-key]: `status` in state `one`, which is not final
      --> demo.yaml:4:25
       |
     4 |   one: { command: make, status: failed }
       |                         ^^^^^^
       |
    hint: add `type: final` if the run ends here

    1 error
    ");
}

#[test]
fn a_name_in_a_state() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one: { name: first, command: make }
    "), @"
    error[misplaced-key]: `name` in state `one`
      --> demo.yaml:4:10
       |
     4 |   one: { name: first, command: make }
       |          ^^^^ a state is named by its key

    1 error
    ");
}

#[test]
fn a_state_with_nothing_to_do() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one: { transitions: { success: one } }
    "), @r"
    error[no-action]: state `one` does nothing
      --> demo.yaml:4:3
       |
     4 |   one: { transitions: { success: one } }
       |   ^^^
       |
    hint: give it `command`, `shell`, `tool`, `compute`, `skill`, `confirm`, `choose` or `input`; with only a `description` it is a note

    1 error
    ");
}

#[test]
fn a_bad_state_name() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one: { command: make }
          2nd state: { command: make }
    "), @"
    error[bad-name]: `2nd state` cannot be the name of a state
      --> demo.yaml:5:3
       |
     5 |   2nd state: { command: make }
       |   ^^^^^^^^^ expected letters, digits, `_` and `-`, not starting with a digit or `-`
       |
    hint: write `_2nd_state`

    1 error
    ");
}

#[test]
fn no_states() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states: {}
    "), @"
    error[no-steps]: `states` is empty
      --> demo.yaml:3:9
       |
     3 | states: {}
       |         ^^
       |
    hint: a skill has at least one state

    1 error
    ");
}
