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
    condition: count | int > 0
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
        // Not certain: two results, a path that may hold a space, braces without room for lines.
        (
            "  - { name: a, command: git, outputs: [x, y] }\n",
            "  - { name: a, command: git, outputs: [x, y] }\n",
        ),
        ("  - { name: a, command: ./my tool }\n", "  - { name: a, command: ./my tool }\n"),
        ("  - { name: a, command: git log }\n", "  - { name: a, command: git log }\n"),
    ] {
        let place = Place::new();
        let file = place.write("s.yaml", &format!("name: s\nsteps:\n{before}"));
        place.aye(&["check", "s.yaml", "--fix", "--yes"]);
        let read = std::fs::read_to_string(&file).unwrap();
        assert_eq!(read, format!("name: s\nsteps:\n{after}"));
    }
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
