//! Text that is not YAML, or more than a skill may be.

use super::check;

#[test]
fn a_quote_is_not_closed() {
    insta::assert_snapshot!(check(r#"
        name: "demo
        steps: []
    "#), @"
    error[yaml]: a quoted text is not closed before this line
      --> demo.yaml:2:1
       |
     2 | steps: []
       | ^
       |
    hint: add the closing quote, or indent the rest of the text

    1 error
    ");
}

#[test]
fn a_tab_in_the_indentation() {
    insta::assert_snapshot!(check("name: demo\nsteps:\n\t- name: one\n"), @"
    error[yaml]: a tab in the indentation
      --> demo.yaml:3:2
       |
     3 |     - name: one
       |     ^
       |
    hint: YAML is indented with spaces

    1 error
    ");
}

#[test]
fn a_colon_in_plain_text() {
    insta::assert_snapshot!(check("
        name: demo
        description: note: this
    "), @"
    error[yaml]: a `:` in a place where no key can be
      --> demo.yaml:2:18
       |
     2 | description: note: this
       |                  ^
       |
    hint: put text that holds `: ` in quotes, or look at the indentation

    1 error
    ");
}

#[test]
fn a_bracket_is_not_closed() {
    insta::assert_snapshot!(check("
        name: demo
        tags: [a, b
    "), @"
    error[yaml]: a `[` is not closed
      --> demo.yaml:2:7
       |
     2 | tags: [a, b
       |       ^
       |
    hint: add the closing `]`

    1 error
    ");
}

#[test]
fn indentation_that_fits_nothing() {
    insta::assert_snapshot!(check("
        name: demo
         steps:
          - x
    "), @"
    error[yaml]: a `:` in a place where no key can be
      --> demo.yaml:2:7
       |
     2 |  steps:
       |       ^
       |
    hint: put text that holds `: ` in quotes, or look at the indentation

    1 error
    ");
}

#[test]
fn an_unknown_escape() {
    insta::assert_snapshot!(check(r#"
        name: demo
        description: "C:\data"
    "#), @r#"
    error[yaml]: an unknown escape in double quotes
      --> demo.yaml:2:14
       |
     2 | description: "C:\data"
       |              ^
       |
    hint: write `\\` for a backslash, or use single quotes

    1 error
    "#);
}

#[test]
fn a_template_without_quotes() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: {{ inputs.program }}
    "), @r#"
    error[bad-key]: a template without quotes
      --> demo.yaml:4:14
       |
     4 |     command: {{ inputs.program }}
       |              ^^^^^^^^^^^^^^^^^^^^ to YAML this is a mapping
       |
    hint: write "{{ inputs.program }}"

    1 error
    "#);
}

#[test]
fn a_key_given_twice() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            command: cargo
    "), @"
    error[duplicate-key]: key `command` is given twice
      --> demo.yaml:5:5
       |
     4 |     command: make
       |     ------- first here
     5 |     command: cargo
       |     ^^^^^^^ again here

    1 error
    ");
}

#[test]
fn several_documents() {
    insta::assert_snapshot!(check("
        name: demo
        steps: [{ name: one, command: make }]
        ---
        name: other
    "), @"
    error[several-documents]: more than one YAML document in a file
      --> demo.yaml:3:1
       |
     3 | ---
       | ^^^ a second document starts here
       |
    hint: put several skills into one file as `workflows:`, a mapping of name to skill

    1 error
    ");
}

#[test]
fn an_unknown_anchor() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - *base
    "), @"
    error[unknown-anchor]: no anchor `&base` above
      --> demo.yaml:3:5
       |
     3 |   - *base
       |     ^^^^^

    1 error
    ");
}

#[test]
fn an_alias_inside_its_own_anchor() {
    insta::assert_snapshot!(check("
        name: demo
        steps: &all
          - *all
    "), @"
    error[recursive-alias]: an alias inside the node it stands for
      --> demo.yaml:3:5
       |
     3 |   - *all
       |     ^^^^ this would never end

    1 error
    ");
}

#[test]
fn a_merge_of_something_else() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            <<: [make]
            command: make
    "), @"
    error[bad-merge]: `<<` needs a mapping, or a list of mappings
      --> demo.yaml:4:9
       |
     4 |     <<: [make]
       |         ^^^^^^

    1 error
    ");
}

#[test]
fn an_unknown_tag() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: !secret make
    "), @"
    error[unknown-tag]: unknown tag `!secret`
      --> demo.yaml:4:22
       |
     4 |     command: !secret make
       |                      ^^^^ tags mean nothing here
       |
    hint: remove it

    1 error
    ");
}

#[test]
fn an_empty_file() {
    insta::assert_snapshot!(check("
        # nothing yet
    "), @"
    error[empty-file]: the file is empty
      --> demo.yaml:2:1
       |
     2 |
       | ^ a skill is expected here
       |
    hint: a skill has a `name:` and `steps:` or `states:`

    1 error
    ");
}

#[test]
fn not_a_mapping() {
    insta::assert_snapshot!(check("
        - name: demo
    "), @"
    error[wrong-type]: a skill file must be a mapping
      --> demo.yaml:1:1
       |
     1 | - name: demo
       | ^^^^^^^^^^^^
       |
    hint: a skill has a `name:` and `steps:` or `states:`

    1 error
    ");
}
