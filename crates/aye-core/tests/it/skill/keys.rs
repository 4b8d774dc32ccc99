//! Keys and types: what does not fit the schema.

use super::check;

#[test]
fn an_unknown_key() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            comand: cargo
    "), @"
    error[unknown-key]: unknown key `comand` in step `one`
      --> demo.yaml:4:5
       |
     4 |     comand: cargo
       |     ^^^^^^ did you mean `command`?

    1 error
    ");
}

#[test]
fn a_word_of_another_tool() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            run: cargo build
    "), @"
    error[unknown-key]: unknown key `run` in step `one`
      --> demo.yaml:4:5
       |
     4 |     run: cargo build
       |     ^^^ did you mean `shell`?

    1 error
    ");
}

#[test]
fn limits_by_another_name() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - { name: one, command: make, memory: 1GiB, cpu: 5m }
    "), @"
    error[unknown-key]: unknown key `memory` in step `one`
      --> demo.yaml:3:33
       |
     3 |   - { name: one, command: make, memory: 1GiB, cpu: 5m }
       |                                 ^^^^^^ did you mean `max_memory`?

    error[unknown-key]: unknown key `cpu` in step `one`
      --> demo.yaml:3:47
       |
     3 |   - { name: one, command: make, memory: 1GiB, cpu: 5m }
       |                                               ^^^ did you mean `max_cpu`?

    2 errors
    ");
}

#[test]
fn a_word_of_another_tool_close_to_one_of_ours() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            cmd: cargo
    "), @"
    error[unknown-key]: unknown key `cmd` in step `one`
      --> demo.yaml:4:5
       |
     4 |     cmd: cargo
       |     ^^^ did you mean `command`?

    1 error
    ");
}

#[test]
fn an_unknown_key_like_no_other() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            frobnicate: true
    "), @r"
    error[unknown-key]: unknown key `frobnicate` in step `one`
      --> demo.yaml:5:5
       |
     5 |     frobnicate: true
       |     ^^^^^^^^^^
       |
    hint: the keys here are `name`, `description`, `command`, `args`, `shell`, `tool`, `compute`, `python`, `files`, `skill`, `inputs`, `foreach`, `as`, `label`, `parallel`, `fail_fast`, `steps`, `then`, `validate`, `retry`, `confirm`, `choose`, `input`, `condition`, `output`, `timeout`, `on_error`, `env`, `cwd`, `stdin`, `interactive`, `tty`, `stdout`, `stderr`, `log`, `max_memory`, `max_cpu`, `idempotent`, `destructive`, `assistant` and `confirmation`

    1 error
    ");
}

#[test]
fn an_unknown_key_at_the_top() {
    insta::assert_snapshot!(check("
        name: demo
        input:
          - name: x
        steps: [{ name: one, command: make }]
    "), @"
    error[unknown-key]: unknown key `input` in skill `demo`
      --> demo.yaml:2:1
       |
     2 | input:
       | ^^^^^ did you mean `inputs`?

    1 error
    ");
}

#[test]
fn all_unknown_keys_at_once() {
    insta::assert_snapshot!(check(r#"
        nme: demo
        steps:
          - name: one
            comand: make
            enviroment: { A: b }
          - name: two
            command: make
            confirmation: { mesage: "Go?" }
    "#), @r#"
    error[unknown-key]: unknown key `nme` in the skill
      --> demo.yaml:1:1
       |
     1 | nme: demo
       | ^^^ did you mean `name`?

    error[unknown-key]: unknown key `comand` in step `one`
      --> demo.yaml:4:5
       |
     4 |     comand: make
       |     ^^^^^^ did you mean `command`?

    error[unknown-key]: unknown key `enviroment` in step `one`
      --> demo.yaml:5:5
       |
     5 |     enviroment: { A: b }
       |     ^^^^^^^^^^ did you mean `env`?

    error[unknown-key]: unknown key `mesage` in `confirmation` of step `two`
      --> demo.yaml:8:21
       |
     8 |     confirmation: { mesage: "Go?" }
       |                     ^^^^^^ did you mean `message`?

    4 errors
    "#);
}

#[test]
fn wrong_types() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: [make]
            args: all
            shell: true
            tty: yes
            timeout: [1]
            description: 5
            env: PATH
    "), @r"
    error[wrong-type]: `command` must be text
      --> demo.yaml:4:14
       |
     4 |     command: [make]
       |              ^^^^^^ this is a list
       |
    hint: write `command: make`

    error[two-actions]: step `one` has both `command` and `shell`
      --> demo.yaml:6:5
       |
     4 |     command: [make]
       |     ------- and the other
    ...
     6 |     shell: true
       |     ^^^^^ keep one of them
       |
    hint: a step does one thing; make it two steps

    error[wrong-type]: `shell` must be text
      --> demo.yaml:6:12
       |
     6 |     shell: true
       |            ^^^^ this is `true`
       |
    hint: `shell` holds the script itself: `shell: npm run build`

    error[wrong-type]: `tty` must be `true` or `false`
      --> demo.yaml:7:10
       |
     7 |     tty: yes
       |          ^^^ this is the text `yes`
       |
    hint: write `true`

    error[wrong-type]: `timeout` must be a duration such as `30s`
      --> demo.yaml:8:14
       |
     8 |     timeout: [1]
       |              ^^^ this is a list

    error[wrong-type]: `description` must be text
      --> demo.yaml:9:18
       |
     9 |     description: 5
       |                  ^ this is the number `5`
       |
    hint: put it in quotes if it is meant as text

    error[wrong-type]: `env` must be a mapping
       --> demo.yaml:10:10
        |
     10 |     env: PATH
        |          ^^^^ this is the text `PATH`

    7 errors
    ");
}

#[test]
fn a_key_without_a_value() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            args:
    "), @"
    error[wrong-type]: `args` has no value
      --> demo.yaml:5:5
       |
     5 |     args:
       |     ^^^^ expected a list
       |
    hint: give it a value or remove the key

    1 error
    ");
}

#[test]
fn an_unknown_word() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            on_error: contine
    "), @"
    error[unknown-word]: `on_error` cannot be `contine`
      --> demo.yaml:5:15
       |
     5 |     on_error: contine
       |               ^^^^^^^ did you mean `continue`?

    1 error
    ");
}

#[test]
fn a_key_and_its_alias() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        initialState: one
        states:
          one: { type: final }
    "), @"
    error[duplicate-key]: `initial` is given twice in skill `demo`
      --> demo.yaml:3:1
       |
     3 | initialState: one
       | ^^^^^^^^^^^^ another name of the same key

    1 error
    ");
}

#[test]
fn inputs_as_a_mapping() {
    insta::assert_snapshot!(check("
        name: demo
        inputs:
          commit: { type: string }
        steps: [{ name: one, command: make }]
    "), @"
    error[wrong-type]: `inputs` must be a list
      --> demo.yaml:3:3
       |
     3 |   commit: { type: string }
       |   ^^^^^^^^^^^^^^^^^^^^^^^^ this is a mapping
       |
    hint: write a list with a name each:
          inputs:
            - { name: commit, type: string }

    1 error
    ");
}

#[test]
fn steps_as_a_mapping() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          one: { command: make }
    "), @"
    error[wrong-type]: `steps` must be a list
      --> demo.yaml:3:3
       |
     3 |   one: { command: make }
       |   ^^^^^^^^^^^^^^^^^^^^^^ this is a mapping
       |
    hint: write a list: `- name: …` for each step; states with names go under `states:`

    1 error
    ");
}

#[test]
fn states_as_a_list() {
    insta::assert_snapshot!(check("
        name: demo
        initial: one
        states:
          - name: one
    "), @"
    error[wrong-type]: `states` must be a mapping
      --> demo.yaml:4:3
       |
     4 |   - name: one
       |   ^^^^^^^^^^^ this is a list
       |
    hint: write a mapping from each state's name to the state; a list goes under `steps:`

    1 error
    ");
}

#[test]
fn a_step_that_is_text() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - make all
    "), @"
    error[wrong-type]: step 1 must be a mapping with the keys of a step
      --> demo.yaml:3:5
       |
     3 |   - make all
       |     ^^^^^^^^ this is the text `make all`
       |
    hint: write `- { name: …, shell: make all }`

    1 error
    ");
}

#[test]
fn an_amount_of_memory_without_a_unit() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - name: one
            command: make
            max_memory: 512
    "), @"
    error[bad-size]: `512` has no unit
      --> demo.yaml:5:17
       |
     5 |     max_memory: 512
       |                 ^^^
       |
    hint: write `512MB` or `512B`

    1 error
    ");
}

#[test]
fn the_hint_uses_what_was_written() {
    let said = check(
        "
        name: demo
        personas: [developer]
        inputs: [commit, { name: level, options: [a, b] }, { name: n, type: list }]
        steps:
          - { name: one, command: make, outputs: [made] }
          - { name: two, command: make, loop: [1], on_error: ignore }
          - { name: three, validate: { command: 'git show {{ made }} --stat' } }
        outputs: { made: '{{ made }}' }
    ",
    );
    for expected in [
        "notes of your own go under `metadata:`",
        "write `- { name: commit }`",
        "did you mean `enum`?",
        "did you mean `array`?",
        "a step has one result: `output: made`",
        "did you mean `foreach`?",
        "did you mean `continue`?",
        "args: [show, \"{{ made }}\", --stat]",
        "- { name: made, value: … }",
    ] {
        assert!(said.contains(expected), "no {expected:?} in:\n{said}");
    }
}

/// What people write who come from another tool, and what they are told.
#[test]
fn who_comes_from_another_tool_is_told_what_to_write() {
    let steps = [
        (
            "command: [npm, run, 'a b', '{{ branch }}']",
            "command: npm\n      args: [run, \"a b\", \"{{ branch }}\"]",
        ),
        ("command: [make]", "write `command: make`"),
        ("{ command: npm, args: run build }", "write `args: [run, build]`"),
        ("shell: [make, make test]", "shell: |\n        make\n        make test"),
        ("{ command: make, env: [A=b, C=d e] }", "env:\n        A: b\n        C: \"d e\""),
        ("command: make, env: [{ A: b }]", "env:\n        A: b"),
        ("{ command: make, env: A=b }", "write `env: { A: b }`"),
        ("{ command: make, output: [made] }", "a step has one result: `output: made`"),
        ("python: print(1)", "code goes under `compute: |`"),
        ("{ command: make, timeout-minutes: 5 }", "write `timeout: 5m`"),
        ("{ command: make, continue-on-error: true }", "write `on_error: continue`"),
        ("{ command: make, ignore_errors: true }", "write `on_error: continue`"),
        ("{ command: make, needs: a }", "in the order in which they are written"),
        ("{ command: make, depends_on: [a] }", "in the order in which they are written"),
        ("{ command: make, desc: x }", "did you mean `description`?"),
        ("{ command: make, working-directory: x }", "did you mean `cwd`?"),
        ("{ command: make, if: x }", "did you mean `condition`?"),
        ("{ command: make, become: true }", "command: sudo"),
        ("cmds: [make]", "`shell: |` with one line for each"),
        ("uses: actions/checkout@v4", "`skill: NAME` runs another skill"),
        ("prompt: Sure?", "did you mean `confirm`?"),
    ];
    for (step, expected) in steps {
        let step = step.trim_start_matches("{ ").trim_end_matches(" }");
        let said = check(&format!(
            "\n        name: demo\n        steps:\n          - {{ name: one, {step} }}\n    "
        ));
        assert!(said.contains(expected), "no {expected:?} in:\n{said}");
    }
    let skills = [
        ("jobs: { build: { steps: [] } }", "write one list, in order"),
        ("tasks: []", "did you mean `steps`?"),
        ("services: {}", "write one list, in order"),
        ("env: { A: b }", "variables of programs are given to a step"),
        ("params: []", "did you mean `inputs`?"),
        ("on: push", "when you start it: leave it out"),
        ("schedule: '0 3 * * *'", "schedule it with `aye schedule add`"),
        ("hosts: web", "runs on this machine: leave it out"),
    ];
    for (key, expected) in skills {
        let said = check(&format!("\n        name: demo\n        {key}\n    "));
        assert!(said.contains(expected), "no {expected:?} in:\n{said}");
    }
}
