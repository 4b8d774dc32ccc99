//! Inputs.

use super::check;

#[test]
fn no_name() {
    insta::assert_snapshot!(check("
        name: demo
        inputs:
          - type: string
        steps: [{ name: one, command: make }]
    "), @"
    error[missing-key]: an input has no `name`
      --> demo.yaml:3:5
       |
     3 |   - type: string
       |     ^
       |
    hint: add `name: …`

    1 error
    ");
}

#[test]
fn an_unknown_type() {
    insta::assert_snapshot!(check("
        name: demo
        inputs:
          - { name: a, type: text }
        steps: [{ name: one, command: make }]
    "), @"
    error[unknown-word]: `type` cannot be `text`
      --> demo.yaml:3:22
       |
     3 |   - { name: a, type: text }
       |                      ^^^^ did you mean `string`?

    1 error
    ");
}

#[test]
fn a_default_of_another_type() {
    insta::assert_snapshot!(check(r#"
        name: demo
        inputs:
          - { name: a, default: 1.10 }
          - { name: b, type: integer, default: "5" }
          - { name: c, type: boolean, default: no }
        steps: [{ name: one, command: make }]
    "#), @r#"
    error[bad-default]: the default of input `a` must be text, not a number
      --> demo.yaml:3:25
       |
     3 |   - { name: a, default: 1.10 }
       |                         ^^^^
       |
    hint: put it in quotes if it is meant as text

    error[bad-default]: the default of input `b` must be a whole number, not text
      --> demo.yaml:4:40
       |
     4 |   - { name: b, type: integer, default: "5" }
       |                                        ^^^
       |
    hint: write it without the quotes

    error[bad-default]: the default of input `c` must be `true` or `false`, not text
      --> demo.yaml:5:40
       |
     5 |   - { name: c, type: boolean, default: no }
       |                                        ^^
       |
    hint: write `false`

    3 errors
    "#);
}

#[test]
fn a_default_outside_the_enum() {
    insta::assert_snapshot!(check("
        name: demo
        inputs:
          - { name: a, default: test, enum: [stage, production] }
        steps: [{ name: one, command: make }]
    "), @"
    error[bad-default]: the default of input `a` must be `stage` or `production`
      --> demo.yaml:3:25
       |
     3 |   - { name: a, default: test, enum: [stage, production] }
       |                         ^^^^

    1 error
    ");
}

#[test]
fn a_default_that_does_not_match() {
    insta::assert_snapshot!(check(r#"
        name: demo
        inputs:
          - { name: a, default: main, match: "^[0-9a-f]{40}$" }
        steps: [{ name: one, command: make }]
    "#), @r#"
    error[bad-default]: the default of input `a` does not match `^[0-9a-f]{40}$`
      --> demo.yaml:3:25
       |
     3 |   - { name: a, default: main, match: "^[0-9a-f]{40}$" }
       |                         ^^^^

    1 error
    "#);
}

#[test]
fn an_enum_of_another_type() {
    insta::assert_snapshot!(check("
        name: demo
        inputs:
          - { name: a, type: integer, enum: [1, two] }
        steps: [{ name: one, command: make }]
    "), @"
    error[bad-default]: a value of `enum` of input `a` must be a whole number, not text
      --> demo.yaml:3:41
       |
     3 |   - { name: a, type: integer, enum: [1, two] }
       |                                         ^^^

    1 error
    ");
}

#[test]
fn an_empty_enum() {
    insta::assert_snapshot!(check("
        name: demo
        inputs:
          - { name: a, enum: [] }
        steps: [{ name: one, command: make }]
    "), @"
    error[empty-list]: `enum` of input `a` is empty
      --> demo.yaml:3:22
       |
     3 |   - { name: a, enum: [] }
       |                      ^^ no value would be allowed

    1 error
    ");
}

#[test]
fn a_pattern_that_is_none() {
    insta::assert_snapshot!(check(r#"
        name: demo
        inputs:
          - { name: a, match: "(" }
        steps: [{ name: one, command: make }]
    "#), @r#"
    error[bad-pattern]: `match` is not a regular expression: found open group without closing ')'
      --> demo.yaml:3:23
       |
     3 |   - { name: a, match: "(" }
       |                       ^^^
       |
    hint: in double quotes a backslash is written twice; single quotes take it as it is

    1 error
    "#);
}

#[test]
fn a_pattern_for_a_number() {
    insta::assert_snapshot!(check(r#"
        name: demo
        inputs:
          - { name: a, type: integer, match: "^1" }
        steps: [{ name: one, command: make }]
    "#), @r#"
    error[stray-key]: `match` of input `a`, which is not text
      --> demo.yaml:3:31
       |
     3 |   - { name: a, type: integer, match: "^1" }
       |                               ^^^^^ only for `type: string` and `type: secret`

    1 error
    "#);
}
