//! Steps.

use super::check;

#[test]
fn no_name() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - command: make
    "), @"
    error[missing-key]: step 1 has no `name`
      --> demo.yaml:3:5
       |
     3 |   - command: make
       |     ^
       |
    hint: add `name: …`, it is how runs refer to the step

    1 error
    ");
}

#[test]
fn nothing_to_do() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            timeout: 5m
    "), @r"
    error[no-action]: step `one` does nothing
      --> demo.yaml:3:11
       |
     3 |   - name: one
       |           ^^^
       |
    hint: give it `command`, `shell`, `tool`, `compute`, `skill`, `confirm`, `choose` or `input`; with only a `description` it is a note

    1 error
    ");
}

#[test]
fn only_a_confirmation() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            confirmation: { message: "Continue?" }
    "#), @"
    error[no-action]: step `one` does nothing
      --> demo.yaml:3:11
       |
     3 |   - name: one
       |           ^^^
       |
    hint: `confirmation` is asked before something runs; a step that only asks has `confirm:`

    1 error
    ");
}

#[test]
fn two_actions() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            shell: make all
    "), @"
    error[two-actions]: step `one` has both `command` and `shell`
      --> demo.yaml:5:5
       |
     4 |     command: make
       |     ------- and the other
     5 |     shell: make all
       |     ^^^^^ keep one of them
       |
    hint: a step does one thing; make it two steps

    1 error
    ");
}

#[test]
fn a_whole_command_line() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: npm run build
    "), @"
    error[command-line]: `command` of step `one` is a whole command line
      --> demo.yaml:4:14
       |
     4 |     command: npm run build
       |              ^^^^^^^^^^^^^ no program is called `npm run build`
       |
    hint: write the words apart, or let a shell do it:
          command: npm
          args: [run, build]
          or
          shell: npm run build

    1 error
    ");
}

#[test]
fn what_belongs_to_a_question_stands_beside_it() {
    let found = check(
        "
        name: demo
        steps:
          - name: one
            confirm: Sure?
            approvals: 2
    ",
    );
    assert!(found.contains("hint: it belongs to the question: `choose: {"), "{found}");
}

#[test]
fn a_path_with_a_space() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: /opt/my tool/run
          - name: two
            command: /opt/my tool/run
            args: []
    "), @"
    error[command-line]: `command` of step `one` is a whole command line
      --> demo.yaml:4:14
       |
     4 |     command: /opt/my tool/run
       |              ^^^^^^^^^^^^^^^^ no program is called `/opt/my tool/run`
       |
    hint: write the words apart, or let a shell do it:
          command: /opt/my
          args: [tool/run]
          or
          shell: /opt/my tool/run
          (if its path has a space, add `args: []`)

    1 error
    ");
}

#[test]
fn a_whole_command_line_with_a_value_in_it() {
    insta::assert_snapshot!(check("
        name: demo
        inputs: [{name: version}]
        steps:
          - name: one
            command: git tag ${{ inputs.version }}
          - name: two
            command: '{{ inputs.version }} may be a path with blanks'
          - name: three
            command: bin/{{ inputs.version }}
    "), @r#"
    error[command-line]: `command` of step `one` is a whole command line
      --> demo.yaml:5:14
       |
     5 |     command: git tag ${{ inputs.version }}
       |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ no program is called `git tag ${{ inputs.version }}`
       |
    hint: write the words apart:
          command: git
          args: [tag, "{{ inputs.version }}"]
          (`${{ … }}` is written `{{ … }}` here)

    1 error
    "#);
}

#[test]
fn a_whole_shell_line() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make && make install
    "), @"
    error[command-line]: `command` of step `one` is a whole command line
      --> demo.yaml:4:14
       |
     4 |     command: make && make install
       |              ^^^^^^^^^^^^^^^^^^^^ no program is called `make && make install`
       |
    hint: write the words apart in `args`, or use `shell:`

    1 error
    ");
}

#[test]
fn an_empty_command() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            command: " "
    "#), @r#"
    error[empty-text]: `command` of step `one` is empty
      --> demo.yaml:4:14
       |
     4 |     command: " "
       |              ^^^

    1 error
    "#);
}

#[test]
fn args_without_command() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            shell: make
            args: [all]
    "), @r"
    error[stray-key]: `args` without `command` or `tool` in step `one`
      --> demo.yaml:5:5
       |
     5 |     args: [all]
       |     ^^^^
       |
    hint: write the arguments into the script

    1 error
    ");
}

#[test]
fn a_question_with_keys_of_a_command() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            confirm: Continue?
            timeout: 5m
            cwd: /tmp
    "), @"
    error[stray-key]: `timeout` without a command in step `one`
      --> demo.yaml:5:5
       |
     5 |     timeout: 5m
       |     ^^^^^^^
       |
    hint: a question's time limit goes inside `confirm:`

    error[stray-key]: `cwd` without a command in step `one`
      --> demo.yaml:6:5
       |
     6 |     cwd: /tmp
       |     ^^^

    2 errors
    ");
}

#[test]
fn stdin_as_a_mode() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: vim
            stdin: inherit
    "), @"
    error[stdin-mode]: `stdin` holds the text itself, not a mode
      --> demo.yaml:5:12
       |
     5 |     stdin: inherit
       |            ^^^^^^^
       |
    hint: write `interactive: true` to give the step the terminal

    1 error
    ");
}

#[test]
fn stdin_and_interactive() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: vim
            stdin: hello
            interactive: true
    "), @"
    error[conflicting-keys]: step `one` has `stdin` and is interactive
      --> demo.yaml:5:5
       |
     5 |     stdin: hello
       |     ^^^^^ the text for its input
     6 |     interactive: true
       |     ----------- its input is the terminal

    1 error
    ");
}

#[test]
fn an_output_no_template_can_use() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            output: my-result
    "), @"
    error[bad-name]: `my-result` cannot be the name of an output
      --> demo.yaml:5:13
       |
     5 |     output: my-result
       |             ^^^^^^^^^ expected letters, digits and `_`, not starting with a digit
       |
    hint: write `my_result`

    1 error
    ");
}

#[test]
fn an_output_with_a_built_in_name() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            output: env
    "), @"
    error[built-in-name]: `env` is a built-in name
      --> demo.yaml:5:13
       |
     5 |     output: env
       |             ^^^ templates already know this name
       |
    hint: write `output: env_result`, for instance

    1 error
    ");
}

#[test]
fn a_step_with_a_built_in_name() {
    insta::assert_snapshot!(check("
        name: demo
        steps: [{ name: run, command: make }]
    "), @"
    warning[built-in-name]: the result of step `run` cannot be used in templates
      --> demo.yaml:2:17
       |
     2 | steps: [{ name: run, command: make }]
       |                 ^^^ templates already know this name
       |
    hint: add `output: run_result`, for instance

    1 warning
    ");
}

#[test]
fn a_bad_variable() {
    insta::assert_snapshot!(check(r#"
        name: demo
        steps:
          - name: one
            command: make
            env: { "A=B": c }
    "#), @r#"
    error[bad-name]: `A=B` cannot be a variable in `env` of step `one`
      --> demo.yaml:5:12
       |
     5 |     env: { "A=B": c }
       |            ^^^^^ expected a name without `=`

    1 error
    "#);
}

#[test]
fn transitions_in_a_step() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            transitions: { success: done }
    "), @"
    error[misplaced-key]: `transitions` in step `one`
      --> demo.yaml:5:5
       |
     5 |     transitions: { success: done }
       |     ^^^^^^^^^^^ only states have this key
       |
    hint: steps run in order; write the skill with `states:` to branch

    1 error
    ");
}

#[test]
fn output_that_is_discarded_or_has_no_log() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - { name: one, shell: vi, interactive: true, log: false }
          - { name: two, shell: ls, tty: true, stderr: discard, log: false }
          - { name: three, shell: ls, stdout: discard, output: files }
          - { name: four, compute: result = 1, stdout: discard }
          - { name: five, shell: ls, stdout: keep }
          - { name: six, shell: ls, stdout: discard, stderr: discard, log: false }
    "), @r"
    error[conflicting-keys]: step `one` has `log` and is interactive
      --> demo.yaml:3:48
       |
     3 |   - { name: one, shell: vi, interactive: true, log: false }
       |                                                ^^^
       |                             ----------- its output goes to the terminal

    error[conflicting-keys]: step `two` has `stderr` and has `tty`
      --> demo.yaml:4:40
       |
     4 |   - { name: two, shell: ls, tty: true, stderr: discard, log: false }
       |                                        ^^^^^^
       |                             --- both streams arrive as one

    error[conflicting-keys]: step `three` has `output` and discards its standard output
      --> demo.yaml:5:48
       |
     5 |   - { name: three, shell: ls, stdout: discard, output: files }
       |                                                ^^^^^^ a name for the result
       |                               ------ its result is always empty

    error[stray-key]: `stdout` without a command in step `four`
      --> demo.yaml:6:40
       |
     6 |   - { name: four, compute: result = 1, stdout: discard }
       |                                        ^^^^^^

    error[unknown-word]: `stdout` cannot be `keep`
      --> demo.yaml:7:38
       |
     7 |   - { name: five, shell: ls, stdout: keep }
       |                                      ^^^^ expected `discard`

    5 errors
    ");
}
