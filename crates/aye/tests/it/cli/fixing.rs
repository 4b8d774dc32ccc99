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
    assert!(said.stderr.contains("-    comand: echo\n+    command: echo\n"), "{}", said.all());
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
