//! `aye check --fix`.

use super::harness::Place;

const SKILL: &str = "\
# Deploys.
name: deploy # a comment
inputs: [{ name: feature_name, type: string, default: x }]
timeout: 3600000   # for all of it
steps:
  - name: count
    shell: wc -l < list   # how many
    timeout: 30000
  - name: ask
    confirm: { message: \"Deploy {feature_name}?\", timeout: 60000 }  # in braces
    condition: count > 0
  - name: tell
    comand: echo
    args: ['${{ feature_name }}']
";

#[test]
fn certain_fixes_are_shown_and_written_and_comments_stay() {
    let place = Place::new();
    let file = place.write("deploy.yaml", SKILL);
    let read = || std::fs::read_to_string(&file).unwrap();
    // Without a unit the times stay, and nothing is written that nobody agreed to.
    let said = place.aye(&["check", "deploy.yaml", "--fix"]);
    assert!(
        said.all().contains("3 times without a unit: `--unit s` or `--unit ms`"),
        "{}",
        said.all()
    );
    assert!(said.stderr.contains("`--yes` writes the changes"), "{}", said.all());
    assert_eq!(said.code, 6, "{}", said.all());
    assert_eq!(read(), SKILL);
    let said = place.aye(&["check", "deploy.yaml", "--fix", "--unit", "ms", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.all());
    assert!(said.stderr.contains("\n+    command: echo\n"), "{}", said.all());
    let fixed = "\
# Deploys.
name: deploy # a comment
inputs: [{ name: feature_name, type: string, default: x }]
timeout: 1h   # for all of it
steps:
  - name: count
    shell: wc -l < list   # how many
    timeout: 30s
  - name: ask
    confirm: { message: \"Deploy {{ inputs.feature_name }}?\", timeout: 1m }  # in braces
    condition: count | float > 0
  - name: tell
    command: echo
    args: ['{{ inputs.feature_name }}']
";
    assert_eq!(read(), fixed);
}

#[test]
fn nothing_is_asked_where_nothing_is_to_be_fixed() {
    let place = Place::new();
    place.write("fine.yaml", "name: fine\nsteps: [{ name: one, command: echo, timeout: 5s }]\n");
    let said = place.aye(&["check", "fine.yaml", "--fix"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{}", said.all());
    let said = place.aye(&["check", "fine.yaml", "--unit", "s"]);
    assert_eq!(said.code, 2, "only with `--fix`: {}", said.all());
}

/// Each of these has a hint with one exact edit.
#[test]
fn what_a_hint_says_exactly_is_done() {
    for (before, after) in [
        (
            "  - name: a\n    command: git log -1 {{ branch }}\n",
            "  - name: a\n    command: git\n    args: [log, -1, \"{{ branch }}\"]\n",
        ),
        (
            "  - name: a\n    command: [git, log]\n",
            "  - name: a\n    command: git\n    args: [log]\n",
        ),
        (
            "  - name: a\n    command: git\n    args: log -1\n",
            "  - name: a\n    command: git\n    args: [log, -1]\n",
        ),
        (
            "  - name: a\n    command: git\n    outputs: # one\n      - head\n",
            "  - name: a\n    command: git\n    outputs: # one\n      - head\n",
        ),
        (
            "  - name: a\n    command: git\n    outputs:\n      - head\n    timeout: 5s # t\n",
            "  - name: a\n    command: git\n    output: head\n    timeout: 5s # t\n",
        ),
        (
            "  - { name: a, command: git, outputs: [head] }\n",
            "  - { name: a, command: git, output: head }\n",
        ),
        (
            "  - { name: a, command: git, timeout-minutes: 5 }\n",
            "  - { name: a, command: git, timeout: 5m }\n",
        ),
        (
            "  - name: a\n    command: git\n    env:\n      - A=b c\n      - D=e\n",
            "  - name: a\n    command: git\n    env:\n      { A: \"b c\", D: e }\n",
        ),
        (
            "  - { name: a, command: git, destructive: 'yes' }\n",
            "  - { name: a, command: git, destructive: true }\n",
        ),
        (
            "  - { name: a, command: git, timeout: none }\n",
            "  - { name: a, command: git, timeout: 0 }\n",
        ),
        (
            "  - { name: a, command: git }\n  - { name: b, command: git, condition: '{{ a.exit_code }} == 0' }\n",
            "  - { name: a, command: git }\n  - { name: b, command: git, condition: 'steps.a.exit_code == 0' }\n",
        ),
        (
            "  - { name: a, command: git, continue-on-error: true }\n",
            "  - { name: a, command: git, on_error: continue }\n",
        ),
        (
            "  - name: a\n    command: git\n    stdin: 'null'\n    timeout: 5s # t\n",
            "  - name: a\n    command: git\n    timeout: 5s # t\n",
        ),
        ("  - { name: a, command: git, stdin: 'null' }\n", "  - { name: a, command: git }\n"),
        (
            "  - { name: a, confirm: { showProgress: true, message: 'Go?' } }\n",
            "  - { name: a, confirm: { message: 'Go?' } }\n",
        ),
        // A comment beside what would go stays, and so does the line.
        (
            "  - name: a\n    command: git\n    stdin: 'null' # why\n",
            "  - name: a\n    command: git\n    stdin: 'null' # why\n",
        ),
        // Between braces, and beside arguments that are there.
        (
            "  - { name: a, command: git log -1 }\n",
            "  - { name: a, command: git, args: [log, -1] }\n",
        ),
        (
            "  - { name: a, command: git commit, args: [-m, 'a b'] } # why\n",
            "  - { name: a, command: git, args: [commit, -m, 'a b'] } # why\n",
        ),
        (
            "  - { name: a, args: [], command: git log -1 }\n",
            "  - { name: a, args: [log, -1], command: git }\n",
        ),
        (
            "  - name: a\n    command: git commit -q # c\n    args:\n      # what it says\n      - -m\n      - x\n",
            "  - name: a\n    command: git # c\n    args:\n      # what it says\n      - commit\n      - -q\n      - -m\n      - x\n",
        ),
        // Not certain: two results, a path that may hold a space.
        (
            "  - { name: a, command: git, outputs: [x, y] }\n",
            "  - { name: a, command: git, outputs: [x, y] }\n",
        ),
        ("  - { name: a, command: ./my tool }\n", "  - { name: a, command: ./my tool }\n"),
        (
            "  - { name: a, command: ./my tool, args: [x] }\n",
            "  - { name: a, command: ./my tool, args: [x] }\n",
        ),
    ] {
        let place = Place::new();
        let file = place.write("s.yaml", &format!("name: s\nsteps:\n{before}"));
        place.aye(&["check", "s.yaml", "--fix", "--yes"]);
        let read = std::fs::read_to_string(&file).unwrap();
        assert_eq!(read, format!("name: s\nsteps:\n{after}"));
    }
}

#[test]
fn what_stands_between_braces_is_put_right_there() {
    let place = Place::new();
    let text = "\
name: s
inputs: { path: { type: string, default: x }, force: {} }
states:
  a: { command: echo, on: { success: b, 3: b } } # outcomes
  b: { command: echo, args: ['{{ inputs.path }}'], on: { CLICK: a } } # an event
outputs: { found: '{{ a }}' }
";
    let file = place.write("s.yaml", text);
    place.aye(&["check", "s.yaml", "--fix", "--yes"]);
    let fixed = text
        .replace("on: { success", "transitions: { success")
        .replace(
            "{ path: { type: string, default: x }, force: {} }",
            "[{ name: path, type: string, default: x }, { name: force }]",
        )
        .replace("{ found: '{{ a }}' }", "[{ name: found, value: '{{ a }}' }]");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), fixed);
}

#[test]
fn inputs_by_name_become_a_list_and_keep_their_comments() {
    let place = Place::new();
    let before = "\
name: s
inputs:
  # Where it is.
  path:
    type: string # text
    required: true
  retries:
    type: number
    default: 3
steps:
  - { name: a, command: echo, args: ['{{ inputs.path }}'] }
outputs:
  found: '{{ a }}' # what it said
  fixed: true
";
    let after = "\
name: s
inputs:
  # Where it is.
  - name: path
    type: string # text
    required: true
  - name: retries
    type: number
    default: 3
steps:
  - { name: a, command: echo, args: ['{{ inputs.path }}'] }
outputs:
  - name: found
    value: '{{ a }}' # what it said
  - name: fixed
    value: true
";
    let file = place.write("s.yaml", before);
    let said = place.aye(&["check", "s.yaml", "--fix", "--yes"]).ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
    let diff = "-  found: '{{ a }}' # what it said\n-  fixed: true\n+  - name: found\n+    value: '{{ a }}' # what it said\n";
    assert!(said.stderr.contains(diff), "{}", said.all());
}

/// A whole file with every slip whose hint names one edit.
const SLIPS: &str = "\
name: slips
inputs:
  - { name: count, type: int, default: '3' }   # how many
  - { name: careful, type: bool, default: true }
  - { name: host, type: str }
  - force
steps:
  - name: build
    shell:
      - make
      - make test
    timout: 30        # half a minute
    on_error: ignore
  - name: rest
    command: echo
    args: [\"{{ inputs.cuont }}\", \"{{ biuld }}\"]
    confirmation: true
  - name: each
    foreach: build
    command: echo
    args: [\"{{ itm }}\"]
    ignore_errors: true
outputs:
  - name: built
    value: '{{ build }}'
  - name: late           # it was indented wrongly
    command: echo
    args: [late]
";

const RIGHT: &str = "\
name: slips
inputs:
  - { name: count, type: integer, default: 3 }   # how many
  - { name: careful, type: boolean, default: true }
  - { name: host, type: string }
  - { name: force }
steps:
  - name: build
    shell: |
      make
      make test
    timeout: 30s        # half a minute
    on_error: continue
  - name: rest
    command: echo
    args: [\"{{ inputs.count }}\", \"{{ build }}\"]
    confirmation: {}
  - name: each
    foreach: \"{{ build }}\"
    command: echo
    args: [\"{{ item }}\"]
    on_error: continue
  - name: late           # it was indented wrongly
    command: echo
    args: [late]
outputs:
  - name: built
    value: '{{ build }}'
";

#[test]
fn every_hint_with_one_edit_is_carried_out() {
    let place = Place::new();
    let file = place.write("slips.yaml", SLIPS);
    let said = place.aye(&["check", "slips.yaml", "--fix", "--unit", "s", "--yes"]);
    let fixed = std::fs::read_to_string(&file).unwrap();
    assert_eq!(fixed, RIGHT, "{}", said.all());
    assert_eq!(said.code, 0, "{}", said.all());
}

#[test]
fn a_step_under_outputs_moves_to_the_steps_with_its_comments() {
    for (before, after) in [
        // The only one: a list of nothing is not one.
        (
            "name: s\nsteps:\n- name: a\n  command: echo # says it\noutputs:\n  # late\n  - name: b\n    command: echo\n",
            "name: s\nsteps:\n- name: a\n  command: echo # says it\noutputs:\n  # late\n  - name: b\n    command: echo\n",
        ),
        (
            "name: s\nsteps:\n- name: a\n  command: echo # says it\noutputs:\n  - name: b # late\n    # why\n    shell: |\n      one\n        two\n",
            "name: s\nsteps:\n- name: a\n  command: echo # says it\n- name: b # late\n  # why\n  shell: |\n    one\n      two\n",
        ),
        // Two of them stay in order; what follows stays where it is.
        (
            "name: s\noutputs:\n  - name: b\n    command: echo\n  - name: c\n    command: echo\nsteps:\n  - name: a\n    command: echo\n\n# the end\nfinally:\n  - name: z\n    command: echo\n",
            "name: s\nsteps:\n  - name: a\n    command: echo\n  - name: b\n    command: echo\n  - name: c\n    command: echo\n\n# the end\nfinally:\n  - name: z\n    command: echo\n",
        ),
    ] {
        let place = Place::new();
        let file = place.write("s.yaml", before);
        let said = place.aye(&["check", "s.yaml", "--fix", "--yes"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), after, "{}", said.all());
    }
}

#[test]
fn a_misspelt_state_and_default_are_put_right_and_a_doubtful_one_is_not() {
    let place = Place::new();
    let text = "\
name: s
initial: biuld
states:
  build: { command: make, on_error: retry, transitions: { success: done, failure: rolback } }
  rollback: { choose: { message: Where?, options: [stage, prod], default: stag }, transitions: { success: done } }
  done: { type: final, status: faild }
";
    let file = place.write("s.yaml", text);
    place.aye(&["check", "s.yaml", "--fix", "--yes"]);
    let fixed = text
        .replace("biuld", "build")
        .replace("rolback", "rollback")
        .replace("default: stag }", "default: stage }")
        .replace("faild", "failed");
    // `retry` may be meant as `retry: 3`: nobody knows.
    assert_eq!(std::fs::read_to_string(&file).unwrap(), fixed);
}
