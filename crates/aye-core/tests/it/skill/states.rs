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
    error[unknown-state]: `initial` leads to `biuld`, which is not a state
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
    error[unknown-state]: the transition `success` leads to `dnoe`, which is not a state
      --> demo.yaml:4:49
       |
     4 |   one: { command: make, transitions: { success: dnoe, failure: nowhere, 3: don } }
       |                                                 ^^^^ did you mean `done`?

    error[unknown-state]: the transition `failure` leads to `nowhere`, which is not a state
      --> demo.yaml:4:64
       |
     4 |   one: { command: make, transitions: { success: dnoe, failure: nowhere, 3: don } }
       |                                                                ^^^^^^^ no state has this name

    error[unknown-state]: the transition `3` leads to `don`, which is not a state
      --> demo.yaml:4:76
       |
     4 |   one: { command: make, transitions: { success: dnoe, failure: nowhere, 3: don } }
       |                                                                            ^^^ did you mean `done`?

    3 errors
    ");
}

#[test]
fn a_cancel_starts_no_state_again() {
    insta::assert_snapshot!(check("
        name: demo
        states:
          one: { command: make, transitions: { success: done, cancelled: one } }
          done: { type: final }
    "), @"
    error[cancelled-itself]: a cancel starts state `one` again
      --> demo.yaml:3:66
       |
     3 |   one: { command: make, transitions: { success: done, cancelled: one } }
       |                                                                  ^^^ the transition `cancelled` leads back here
       |
    hint: name the state that cleans up, or remove `cancelled`: then the run ends

    1 error
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
    error[unknown-state]: the transition `success` leads to `toString`, which is not a state
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
    error[bad-exit-code]: `256` is not an exit code
      --> demo.yaml:4:40
       |
     4 |   one: { command: make, transitions: { 256: one, -1: one } }
       |                                        ^^^ expected a number from 0 to 255

    error[bad-exit-code]: `-1` is not an exit code
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

#[test]
fn answers_that_are_none() {
    insta::assert_snapshot!(check("
        name: demo
        states:
          pick:
            choose: { message: Where?, options: [canary, everywhere] }
            transitions: { canari: done, everywhere: dnoe, nowhere: done }
          go: { confirm: Go?, transitions: { yes: done, cancel: done } }
          say: { input: Name?, transitions: { ann: done } }
          done: { type: final }
    "), @r"
    error[unknown-key]: unknown transition `canari` in state `pick`
      --> demo.yaml:5:20
       |
     5 |     transitions: { canari: done, everywhere: dnoe, nowhere: done }
       |                    ^^^^^^ did you mean `canary`?

    error[unknown-state]: the transition `everywhere` leads to `dnoe`, which is not a state
      --> demo.yaml:5:46
       |
     5 |     transitions: { canari: done, everywhere: dnoe, nowhere: done }
       |                                              ^^^^ did you mean `done`?

    error[unknown-key]: unknown transition `nowhere` in state `pick`
      --> demo.yaml:5:52
       |
     5 |     transitions: { canari: done, everywhere: dnoe, nowhere: done }
       |                                                    ^^^^^^^ neither an answer nor an outcome
       |
    hint: answers here: `canary`, `everywhere`; outcomes: `success`, `failure`, `timeout`, `declined`, `cancelled`

    error[unknown-key]: unknown transition `yes` in state `go`
      --> demo.yaml:6:38
       |
     6 |   go: { confirm: Go?, transitions: { yes: done, cancel: done } }
       |                                      ^^^ did you mean `proceed`?

    error[unknown-key]: unknown transition `ann` in state `say`
      --> demo.yaml:7:39
       |
     7 |   say: { input: Name?, transitions: { ann: done } }
       |                                       ^^^
       |
    hint: transitions are `success`, `failure`, `timeout`, `declined`, `cancelled` and exit codes

    5 errors
    ");
}

#[test]
fn answers_at_a_gate_and_answers_that_are_outcomes() {
    insta::assert_snapshot!(check("
        name: demo
        states:
          ship:
            command: make
            confirmation: { message: Ship?, options: [proceed, cancel] }
            transitions: { proceed: done, cancel: done }
          rate:
            choose: { message: How was it?, options: [success, failure] }
            transitions: { success: done, failure: done }
          check:
            choose: { message: Which?, options: [a, b] }
            validate: { command: 'true' }
            transitions: { a: done, b: done }
          done: { type: final }
    "), @r"
    error[answer-runs-state]: the answer `proceed` in the transitions of state `ship`
      --> demo.yaml:6:20
       |
     6 |     transitions: { proceed: done, cancel: done }
       |                    ^^^^^^^ this answer runs the state
       |
    hint: how the state ends says where it leads: `success`, `failure`, an exit code

    error[ambiguous-transition]: `success` in state `rate` is an answer and an outcome
      --> demo.yaml:7:3
       |
     7 |   rate:
       |   ^^^^
       |
    hint: give the option another `value:`

    error[ambiguous-transition]: `failure` in state `rate` is an answer and an outcome
      --> demo.yaml:7:3
       |
     7 |   rate:
       |   ^^^^
       |
    hint: give the option another `value:`

    error[answers-past-check]: state `check` has a `validate` command and answers as transitions
       --> demo.yaml:10:3
        |
     10 |   check:
        |   ^^^^^ an answer would lead past the command
        |
    hint: put the command in a state of its own

    4 errors
    ");
}

#[test]
fn steps_under_then_belong_to_steps() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          one:
            command: make
            then:
              - { name: two, command: b }
    "), @"
    error[stray-key]: `then` in state `one`
      --> demo.yaml:6:5
       |
     6 |     then:
       |     ^^^^ it would not run: transitions say what follows a state
       |
    hint: make its steps states, and name the first in `transitions: { success: NAME }`

    1 error
    ");
}
