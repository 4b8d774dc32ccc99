//! Keys of whole skills: tools, blocks, sub-skills, loops, guards, retries.

use super::check;

#[test]
fn what_stands_beside_the_wrong_kind() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - { name: a, command: make, python: true, parallel: 2 }
          - { name: b, tool: x.y, args: [one] }
          - { name: c, command: make, args: { a: b } }
          - { name: d, skill: other, args: { a: b } }
          - { name: e, compute: result = 1, env: { A: b } }
          - { name: f, tool: 'x y' }
    "), @r"
    error[stray-key]: `python` without `compute` in step `a`
      --> demo.yaml:3:31
       |
     3 |   - { name: a, command: make, python: true, parallel: 2 }
       |                               ^^^^^^

    error[stray-key]: `parallel` without `foreach` in step `a`
      --> demo.yaml:3:45
       |
     3 |   - { name: a, command: make, python: true, parallel: 2 }
       |                                             ^^^^^^^^

    error[wrong-type]: `args` must be a mapping
      --> demo.yaml:4:33
       |
     4 |   - { name: b, tool: x.y, args: [one] }
       |                                 ^^^^^ this is a list

    error[wrong-type]: `args` must be a list
      --> demo.yaml:5:37
       |
     5 |   - { name: c, command: make, args: { a: b } }
       |                                     ^^^^^^^^ this is a mapping

    error[stray-key]: `args` without `command` or `tool` in step `d`
      --> demo.yaml:6:30
       |
     6 |   - { name: d, skill: other, args: { a: b } }
       |                              ^^^^
       |
    hint: what a skill is given goes under `inputs:`

    error[stray-key]: `env` without a command in step `e`
      --> demo.yaml:7:37
       |
     7 |   - { name: e, compute: result = 1, env: { A: b } }
       |                                     ^^^

    error[bad-name]: `x y` cannot be a tool
      --> demo.yaml:8:22
       |
     8 |   - { name: f, tool: 'x y' }
       |                      ^^^^^
       |
    hint: write `server.tool`, or the name of a tool in `aye.toml`

    7 errors
    ");
}

#[test]
fn loops() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - { name: a, foreach: hosts, command: ping }
          - { name: b, foreach: [1], as: inputs, command: ping, parallel: 0 }
          - { name: c, foreach: [1], parallel: 2, command: vim, interactive: true }
          - name: d
            foreach: [1]
            timeout: 5s
            steps: [{ name: one, command: make }, { name: one, command: make }]
          - { name: e, foreach: [1], command: ping, then: [{ return: x }] }
          - { name: f, foreach: '{{ itmes }}', command: '{{ item }} {{ index }} {{ nothing }}' }
          - { name: g, foreach: 5, command: ping }
    "), @r#"
    error[bad-value]: `foreach` of step `a` is not a list
      --> demo.yaml:3:25
       |
     3 |   - { name: a, foreach: hosts, command: ping }
       |                         ^^^^^
       |
    hint: write `foreach: "{{ hosts }}"` for a name

    error[built-in-name]: `inputs` is a built-in name
      --> demo.yaml:4:34
       |
     4 |   - { name: b, foreach: [1], as: inputs, command: ping, parallel: 0 }
       |                                  ^^^^^^ templates already know this name
       |
    hint: write `as: inputs_result`, for instance

    error[bad-value]: `parallel` of step `b` must be at least 1
      --> demo.yaml:4:67
       |
     4 |   - { name: b, foreach: [1], as: inputs, command: ping, parallel: 0 }
       |                                                                   ^

    error[conflicting-keys]: step `c` is interactive and parallel
      --> demo.yaml:5:57
       |
     5 |   - { name: c, foreach: [1], parallel: 2, command: vim, interactive: true }
       |                                                         ^^^^^^^^^^^ there is one terminal

    error[stray-key]: `timeout` beside `steps` in step `d`
      --> demo.yaml:8:5
       |
     8 |     timeout: 5s
       |     ^^^^^^^
       |
    hint: write it at one of the steps

    error[duplicate-name]: step `one` is there twice
      --> demo.yaml:9:51
       |
     9 |     steps: [{ name: one, command: make }, { name: one, command: make }]
       |                                                   ^^^ again here
       |                     --- first here

    error[conflicting-keys]: step `e` has `foreach` and `then`
       --> demo.yaml:10:52
        |
     10 |   - { name: e, foreach: [1], command: ping, then: [{ return: x }] }
        |                                                    ^^^^^^^^^^^^^
        |
    hint: list the steps of each item under `steps:`

    error[bad-value]: `foreach` of step `g` is not a list
       --> demo.yaml:12:25
        |
     12 |   - { name: g, foreach: 5, command: ping }
        |                         ^
        |
    hint: give it a list, a mapping, or a template that gives one

    8 errors
    "#);
}

#[test]
fn keys_beside_the_steps_of_a_loop_and_the_name_of_its_count() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - { name: a, foreach: [1], retry: 3, steps: [{ name: one, command: make }] }
          - { name: b, foreach: [1], as: index, command: ping }
    "), @r"
    error[stray-key]: `retry` beside `steps` in step `a`
      --> demo.yaml:3:30
       |
     3 |   - { name: a, foreach: [1], retry: 3, steps: [{ name: one, command: make }] }
       |                              ^^^^^
       |
    hint: write it at one of the steps

    error[built-in-name]: `as: index` in step `b`
      --> demo.yaml:4:34
       |
     4 |   - { name: b, foreach: [1], as: index, command: ping }
       |                                  ^^^^^ `index` is the number of the item
       |
    hint: give the item another name, or leave `as` out: it is `item` then

    2 errors
    ");
}

#[test]
fn guards_and_retries() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - { name: a, command: make, retry: 0 }
          - { name: b, command: make, retry: { backoff: 5 } }
          - { name: c, command: make, retry: { attempts: 3, on: [sometimes, 300], factor: 0.5 } }
          - { name: d, command: make, validate: { error_message: x } }
          - { name: e, validate: [{ command: git status, expect_success: true }] }
          - { name: f, command: make, validate: { expect_success: false } }
          - { name: g, command: make, validate: { condtion: x } }
    "), @r"
    error[bad-value]: `attempts` in `retry` of step `a` must be from 1 to 1000
      --> demo.yaml:3:38
       |
     3 |   - { name: a, command: make, retry: 0 }
       |                                      ^ how often it is tried in all

    error[missing-key]: `retry` of step `b` has no `attempts`
      --> demo.yaml:4:38
       |
     4 |   - { name: b, command: make, retry: { backoff: 5 } }
       |                                      ^
       |
    hint: add `attempts: 3`, for instance

    error[unknown-word]: `on` in `retry` of step `c` cannot be `sometimes`
      --> demo.yaml:5:58
       |
     5 |   - { name: c, command: make, retry: { attempts: 3, on: [sometimes, 300], factor: 0.5 } }
       |                                                          ^^^^^^^^^ expected `failure`, `timeout`, or an exit code

    error[unknown-word]: `on` in `retry` of step `c` cannot be `300`
      --> demo.yaml:5:69
       |
     5 |   - { name: c, command: make, retry: { attempts: 3, on: [sometimes, 300], factor: 0.5 } }
       |                                                                     ^^^ expected `failure`, `timeout`, or an exit code

    error[bad-value]: `factor` in `retry` of step `c` must be from 1 to 100
      --> demo.yaml:5:83
       |
     5 |   - { name: c, command: make, retry: { attempts: 3, on: [sometimes, 300], factor: 0.5 } }
       |                                                                                   ^^^

    error[empty-guard]: `validate` of step `d` looks at nothing
      --> demo.yaml:6:41
       |
     6 |   - { name: d, command: make, validate: { error_message: x } }
       |                                         ^^^^^^^^^^^^^^^^^^^^
       |
    hint: give it a `condition`, a `command`, or `expect_success: true`

    error[command-line]: `command` of `validate` of step `e` is a whole command line
      --> demo.yaml:7:38
       |
     7 |   - { name: e, validate: [{ command: git status, expect_success: true }] }
       |                                      ^^^^^^^^^^ no program is called `git status`
       |
    hint: write the words apart:
          command: git
          args: [status]

    error[bad-value]: `expect_success` in `validate` of step `f` must be `true`
      --> demo.yaml:8:59
       |
     8 |   - { name: f, command: make, validate: { expect_success: false } }
       |                                                           ^^^^^
       |
    hint: leave it out, or write a `condition` that says what is expected

    error[unknown-key]: unknown key `condtion` in `validate` of step `g`
      --> demo.yaml:9:43
       |
     9 |   - { name: g, command: make, validate: { condtion: x } }
       |                                           ^^^^^^^^ did you mean `condition`?

    9 errors
    ");
}

#[test]
fn early_ends() {
    insta::assert_snapshot!(check("
        name: demo
        steps:
          - { name: a, condition: 'true', then: [{ name: a, command: make }, { return: 'bye', extra: 1 }] }
          - { name: b, then: [{ command: make }] }
    "), @r"
    error[duplicate-name]: step `a` is there twice
      --> demo.yaml:3:50
       |
     3 |   - { name: a, condition: 'true', then: [{ name: a, command: make }, { return: 'bye', extra: 1 }] }
       |                                                  ^ again here
       |             - first here

    error[unknown-key]: unknown key `extra` in `return` under `then` of step `a`
      --> demo.yaml:3:87
       |
     3 |   - { name: a, condition: 'true', then: [{ name: a, command: make }, { return: 'bye', extra: 1 }] }
       |                                                                                       ^^^^^
       |
    hint: the keys here are `return`, `name` and `condition`

    error[missing-key]: a step under `then` of step `b` has no `name`
      --> demo.yaml:4:23
       |
     4 |   - { name: b, then: [{ command: make }] }
       |                       ^
       |
    hint: add `name: …`, it is how runs refer to the step

    3 errors
    ");
}

#[test]
fn a_whole_skill_is_sound() {
    insta::assert_snapshot!(check("
        name: demo
        undefined: lenient
        defaults: { region: eu }
        steps:
          - { name: hosts, tool: cloud.hosts, args: { region: '{{ defaults.region }}' }, on_error: auto_heal }
          - { name: names, compute: 'result = [h for h in hosts]', files: read }
          - name: each
            foreach: '{{ names }}'
            as: host
            parallel: 4
            fail_fast: false
            steps:
              - { name: check, command: ping, args: ['{{ host }}'], retry: 3 }
              - { name: log, skill: log.yaml, inputs: { host: '{{ host }}', result: '{{ check }}' } }
          - name: done
            condition: each | length == 0
            validate: [{ condition: hosts_parsed is defined, error_message: 'no {{ hosts }}' }]
            then: [{ return: 'nothing to do' }]
    "), @"nothing to say");
}

#[test]
fn heal_rules() {
    insta::assert_snapshot!(check("
        name: demo
        heal:
          - { name: a, match: {}, repair: { command: make } }
          - { name: a, match: { error: '', category: weather }, repair: { description: look } }
          - { match: { errror: x }, retries: 50 }
          - { name: c, match: { error: x }, repair: { command: kube login } }
        steps:
          - { name: one, command: make }
    "), @r"
    error[empty-match]: `match` of heal rule `a` is for everything
      --> demo.yaml:3:23
       |
     3 |   - { name: a, match: {}, repair: { command: make } }
       |                       ^^
       |
    hint: say which errors: `error: …`, `exit_code: …`, `category: auth`

    error[duplicate-name]: heal rule `a` is there twice
      --> demo.yaml:4:13
       |
     3 |   - { name: a, match: {}, repair: { command: make } }
       |             - first here
     4 |   - { name: a, match: { error: '', category: weather }, repair: { description: look } }
       |             ^ again here

    error[empty-text]: `error` in `match` of heal rule `a` is empty
      --> demo.yaml:4:32
       |
     4 |   - { name: a, match: { error: '', category: weather }, repair: { description: look } }
       |                                ^^

    error[unknown-word]: `category` cannot be `weather`
      --> demo.yaml:4:46
       |
     4 |   - { name: a, match: { error: '', category: weather }, repair: { description: look } }
       |                                              ^^^^^^^ expected `auth`, `network`, `registry`, `tty` or `custom`

    error[no-action]: `repair` of heal rule `a` does nothing
      --> demo.yaml:4:65
       |
     4 |   - { name: a, match: { error: '', category: weather }, repair: { description: look } }
       |                                                                 ^^^^^^^^^^^^^^^^^^^^^
       |
    hint: give it `command`, `shell`, `tool` or `skill`

    error[missing-key]: heal rule 3 has no `name`
      --> demo.yaml:5:5
       |
     5 |   - { match: { errror: x }, retries: 50 }
       |     ^
       |
    hint: add `name: …`, it is what the journal calls the rule

    error[missing-key]: heal rule 3 has no `repair`
      --> demo.yaml:5:5
       |
     5 |   - { match: { errror: x }, retries: 50 }
       |     ^
       |
    hint: add `repair: { command: … }`: what is done about them

    error[command-line]: `command` of `repair` of heal rule `c` is a whole command line
      --> demo.yaml:6:56
       |
     6 |   - { name: c, match: { error: x }, repair: { command: kube login } }
       |                                                        ^^^^^^^^^^ no program is called `kube login`
       |
    hint: write the words apart, or let a shell do it:
          command: kube
          args: [login]
          or
          shell: kube login

    8 errors
    ");
}
