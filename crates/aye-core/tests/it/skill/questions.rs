//! Questions.

use super::check;

#[test]
fn no_message() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { title: Release }
    "), @"
    error[missing-key]: `confirm` of step `one` has no `message`
      --> demo.yaml:4:14
       |
     4 |     confirm: { title: Release }
       |              ^
       |
    hint: add `message: …`, the question itself

    1 error
    ");
}

#[test]
fn an_empty_message() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            confirm: ""
    "#), @r#"
    error[empty-text]: the message of `confirm` of step `one` is empty
      --> demo.yaml:4:14
       |
     4 |     confirm: ""
       |              ^^

    1 error
    "#);
}

#[test]
fn no_options() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            choose: Which one?
    "), @"
    error[missing-key]: `choose` of step `one` has no `options`
      --> demo.yaml:4:13
       |
     4 |     choose: Which one?
       |             ^
       |
    hint: add `options: [first, second]`

    1 error
    ");
}

#[test]
fn empty_options() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            choose: { message: Which one?, options: [] }
    "), @"
    error[empty-list]: `options` of `choose` of step `one` is empty
      --> demo.yaml:4:45
       |
     4 |     choose: { message: Which one?, options: [] }
       |                                             ^^ nothing could be chosen

    1 error
    ");
}

#[test]
fn duplicate_options() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            choose: { message: Which one?, options: [a, { label: A, value: a }] }
    "), @"
    error[duplicate-option]: option `a` is there twice
      --> demo.yaml:4:49
       |
     4 |     choose: { message: Which one?, options: [a, { label: A, value: a }] }
       |                                                 ^^^^^^^^^^^^^^^^^^^^^^ again here
       |                                              - first here

    1 error
    ");
}

#[test]
fn duplicate_labels() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            choose: { message: Which one?, options: [a, { label: a, value: b }] }
    "), @"
    error[duplicate-option]: option `a` is there twice
      --> demo.yaml:4:58
       |
     4 |     choose: { message: Which one?, options: [a, { label: a, value: b }] }
       |                                                          ^ again here
       |                                              - first here

    1 error
    ");
}

#[test]
fn an_option_without_anything() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            choose: { message: Which one?, options: [{ description: x }, b] }
    "), @"
    error[missing-key]: an option of `choose` of step `one` has no `label`
      --> demo.yaml:4:46
       |
     4 |     choose: { message: Which one?, options: [{ description: x }, b] }
       |                                              ^
       |
    hint: add `label: …`

    1 error
    ");
}

#[test]
fn an_option_whose_value_is_a_template() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            choose: { message: Which one?, options: ["{{ branch }}", main] }
    "#), @r#"
    error[bad-value]: the value of an option of `choose` of step `one` is a template
      --> demo.yaml:4:46
       |
     4 |     choose: { message: Which one?, options: ["{{ branch }}", main] }
       |                                              ^^^^^^^^^^^^^^
       |
    hint: give the option a fixed `value:`; only `label` may be a template

    1 error
    "#);
}

#[test]
fn a_confirmation_nobody_can_decline() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, options: [Yes, Fine] }
    "), @"
    error[no-decline]: no option of `confirm` of step `one` declines
      --> demo.yaml:4:42
       |
     4 |     confirm: { message: Go on?, options: [Yes, Fine] }
       |                                          ^^^^^^^^^^^ every answer would mean yes
       |
    hint: give one of them `action: cancel`, or ask with `choose:`

    1 error
    ");
}

#[test]
fn a_confirmation_can_be_declined_with_the_words_that_say_so() {
    for value in ["cancel", "No", "ABORT"] {
        let text = format!(
            "name: demo\nsteps:\n  - name: one\n    confirm: {{ message: Go on?, options: [{{ label: Go, value: go }}, {{ label: Leave, value: {value} }}] }}\n"
        );
        let parsed = aye_core::skill::parse("demo.yaml", &text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let aye_core::skill::Body::Steps(steps) = &parsed.skills[0].body else { panic!() };
        let actions: Vec<_> =
            steps[0].question().unwrap().options.iter().map(|option| option.action).collect();
        use aye_core::skill::ChoiceAction::{Cancel, Proceed};
        assert_eq!(actions, [Proceed, Cancel], "{value}");
    }
    // In `choose`, every answer is an answer.
    let text = "name: demo\nsteps:\n  - { name: one, choose: { message: Which?, options: [go, cancel] } }\n";
    let parsed = aye_core::skill::parse("demo.yaml", text);
    let aye_core::skill::Body::Steps(steps) = &parsed.skills[0].body else { panic!() };
    let proceeds =
        |option: &aye_core::skill::Choice| option.action == aye_core::skill::ChoiceAction::Proceed;
    assert!(steps[0].question().unwrap().options.iter().all(proceeds));
}

#[test]
fn a_default_that_is_no_option() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            choose: { message: Which one?, options: [stage, production], default: prodution }
    "), @"
    error[bad-default]: the default `prodution` is not an option
      --> demo.yaml:4:75
       |
     4 |     choose: { message: Which one?, options: [stage, production], default: prodution }
       |                                                                           ^^^^^^^^^ did you mean `production`?

    1 error
    ");
}

#[test]
fn a_default_that_is_a_label() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            choose: { message: Which one?, options: [{ label: Production, value: prod }], default: production }
    "), @"
    error[bad-default]: the default `production` is not an option
      --> demo.yaml:4:92
       |
     4 | … choose: { message: Which one?, options: [{ label: Production, value: prod }], default: production }
       |                                                                                          ^^^^^^^^^^ did you mean `prod`?

    1 error
    ");
}

#[test]
fn a_default_that_is_neither_yes_nor_no() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, default: maybe }
    "), @"
    error[bad-default]: the default `maybe` is not an option
      --> demo.yaml:4:42
       |
     4 |     confirm: { message: Go on?, default: maybe }
       |                                          ^^^^^ expected `proceed` or `cancel`

    1 error
    ");
}

#[test]
fn two_defaults() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, default: no, defaultAccept: true }
    "), @"
    error[conflicting-keys]: `confirm` of step `one` has both `default` and `defaultAccept`
      --> demo.yaml:4:46
       |
     4 |     confirm: { message: Go on?, default: no, defaultAccept: true }
       |                                              ^^^^^^^^^^^^^ the older name
       |                                 ------- keep this one

    1 error
    ");
}

#[test]
fn options_of_an_input() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            input: { message: Which one?, options: [a, b] }
    "), @"
    error[stray-key]: `options` in `input` of step `one`
      --> demo.yaml:4:35
       |
     4 |     input: { message: Which one?, options: [a, b] }
       |                                   ^^^^^^^
       |
    hint: `input` takes text; use `choose:` for options

    1 error
    ");
}

#[test]
fn a_pattern_outside_of_an_input() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, match: "^y", secret: true }
    "#), @r#"
    error[stray-key]: `match` in `confirm` of step `one`
      --> demo.yaml:4:33
       |
     4 |     confirm: { message: Go on?, match: "^y", secret: true }
       |                                 ^^^^^
       |
    hint: only `input` takes text

    error[stray-key]: `secret` in `confirm` of step `one`
      --> demo.yaml:4:46
       |
     4 |     confirm: { message: Go on?, match: "^y", secret: true }
       |                                              ^^^^^^
       |
    hint: only `input` takes text

    2 errors
    "#);
}

#[test]
fn a_pattern_that_is_none() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            input: { message: Which one?, match: "[" }
    "#), @r#"
    error[bad-pattern]: `match` is not a regular expression: found unclosed character class
      --> demo.yaml:4:42
       |
     4 |     input: { message: Which one?, match: "[" }
       |                                          ^^^
       |
    hint: in double quotes a backslash is written twice; single quotes take it as it is

    1 error
    "#);
}

#[test]
fn a_default_that_does_not_match() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            input: { message: Which one?, match: "^v[0-9]", default: latest }
    "#), @r#"
    error[bad-default]: the default does not match `^v[0-9]`
      --> demo.yaml:4:62
       |
     4 |     input: { message: Which one?, match: "^v[0-9]", default: latest }
       |                                                              ^^^^^^

    1 error
    "#);
}

#[test]
fn typing_outside_of_a_confirmation() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            input: { message: Which one?, type: demo }
    "), @"
    error[stray-key]: `type_to_confirm` in `input` of step `one`
      --> demo.yaml:4:35
       |
     4 |     input: { message: Which one?, type: demo }
       |                                   ^^^^
       |
    hint: only a confirmation can be typed

    1 error
    ");
}

#[test]
fn time_limits_out_of_range() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, timeout: 500ms }
            confirmation: { message: Sure?, timeout: 30d }
    "), @"
    warning[clamped-duration]: `timeout` of `confirm` of step `one` is outside of `1s` to `7d`
      --> demo.yaml:4:42
       |
     4 |     confirm: { message: Go on?, timeout: 500ms }
       |                                          ^^^^^ taken as `1s`
       |
    hint: `0` waits for ever

    warning[clamped-duration]: `timeout` of `confirmation` of step `one` is outside of `1s` to `7d`
      --> demo.yaml:5:46
       |
     5 |     confirmation: { message: Sure?, timeout: 30d }
       |                                              ^^^ taken as `7d`
       |
    hint: `0` waits for ever

    2 warnings
    ");
}

#[test]
fn remembering_what_is_destructive() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: rm
            destructive: true
            confirmation: { message: Sure?, remember: true }
    "), @"
    error[remember-refused]: the answer to `confirmation` of step `one` must not be remembered
      --> demo.yaml:6:37
       |
     6 |     confirmation: { message: Sure?, remember: true }
       |                                     ^^^^^^^^ the step is destructive
       |
    hint: remove `remember`; it has to be asked each time

    1 error
    ");
}

#[test]
fn remembering_a_secret() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            input: { message: Token?, secret: true, remember: true }
    "), @"
    error[remember-refused]: the answer to `input` of step `one` must not be remembered
      --> demo.yaml:4:45
       |
     4 |     input: { message: Token?, secret: true, remember: true }
       |                                             ^^^^^^^^ the answer is secret
       |
    hint: remove `remember`; it has to be asked each time

    1 error
    ");
}

#[test]
fn no_approvals() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, approvals: 0 }
    "), @"
    error[bad-approvals]: `approvals` cannot be 0
      --> demo.yaml:4:44
       |
     4 |     confirm: { message: Go on?, approvals: 0 }
       |                                            ^ at least one person has to agree

    1 error
    ");
}

#[test]
fn more_approvals_than_people() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, approvals: 3, by: [ann, bob] }
    "), @"
    error[bad-approvals]: `approvals` cannot be 3
      --> demo.yaml:4:44
       |
     4 |     confirm: { message: Go on?, approvals: 3, by: [ann, bob] }
       |                                            ^ `by` names only 2

    1 error
    ");
}

#[test]
fn a_person_instead_of_a_list() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, by: ann }
    "), @"
    error[unknown-word]: `by` cannot be `ann`
      --> demo.yaml:4:37
       |
     4 |     confirm: { message: Go on?, by: ann }
       |                                     ^^^ expected `anyone` or `human`
       |
    hint: people are given as a list: `by: [ann]`

    1 error
    ");
}

#[test]
fn nobody_may_answer() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, by: [] }
    "), @"
    error[empty-list]: `by` of `confirm` of step `one` is empty
      --> demo.yaml:4:37
       |
     4 |     confirm: { message: Go on?, by: [] }
       |                                     ^^ nobody could answer

    1 error
    ");
}

#[test]
fn the_same_person_twice() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: { message: Go on?, by: [ann, ann] }
    "), @"
    error[duplicate-name]: person `ann` is there twice
      --> demo.yaml:4:43
       |
     4 |     confirm: { message: Go on?, by: [ann, ann] }
       |                                           ^^^ again here
       |                                      --- first here

    1 error
    ");
}

#[test]
fn hidden_characters() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            choose:
              message: "Delete \e[8mall\e[0m?"
              title: "a\u202Eb"
              options: ["o\u200Bne", two]
    "#), @r#"
    warning[hidden-characters]: the message of `choose` of step `one` holds the invisible character U+001B
      --> demo.yaml:5:16
       |
     5 |       message: "Delete \e[8mall\e[0m?"
       |                ^^^^^^^^^^^^^^^^^^^^^^^ it will be shown as `\u{1b}`

    warning[hidden-characters]: the title of `choose` of step `one` holds the invisible character U+202E
      --> demo.yaml:6:14
       |
     6 |       title: "a\u202Eb"
       |              ^^^^^^^^^^ it will be shown as `\u{202e}`

    warning[hidden-characters]: the label of an option of `choose` of step `one` holds the invisible character U+200B
      --> demo.yaml:7:17
       |
     7 |       options: ["o\u200Bne", two]
       |                 ^^^^^^^^^^^ it will be shown as `\u{200b}`

    3 warnings
    "#);
}

#[test]
fn a_long_message_of_a_confirmation() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            command: make
            confirmation: { message: "Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? " }
    "#), @r#"
    error[message-too-long]: the message of `confirmation` of step `one` has 560 characters, the limit is 500
      --> demo.yaml:5:30
       |
     5 |     confirmation: { message: "Are you sure? Are you sure? Are you sure? Are you sure? Are you sure? …
       |                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
    hint: put what it is about under `details:`, which has no limit

    1 error
    "#);
}

#[test]
fn a_truth_value_instead_of_a_question() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            confirmation: true
    "), @"
    error[wrong-type]: `confirmation` of step `one` must be a question
      --> demo.yaml:5:19
       |
     5 |     confirmation: true
       |                   ^^^^ this is `true`
       |
    hint: write `confirmation: {}` to ask with the usual words

    1 error
    ");
}

#[test]
fn silence_must_not_pass_a_guarded_gate() {
    for guard in ["by: human", "by: [ann]", "approvals: 2", "reauth: true", "type: demo"] {
        let gate = |default: &str, timeout: &str| {
            format!(
                "name: demo\nsteps:\n- name: a\n  command: make\n  confirmation: {{ message: Go?, {guard}, default: {default}, timeout: {timeout} }}\n"
            )
        };
        let said = check(&gate("yes", "5s"));
        assert!(said.contains("error[default-lets-through]"), "{guard}: {said}");
        assert_eq!(check(&gate("no", "5s")), "nothing to say", "{guard}");
        assert_eq!(check(&gate("yes", "0")), "nothing to say", "{guard}");
    }
}
