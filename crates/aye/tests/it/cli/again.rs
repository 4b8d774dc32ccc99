//! Loops and sub-skills that failed and are tried again.

use super::harness::Place;

const INNER: &str = "
name: inner
inputs:
  - { name: what, type: string }
steps:
  - { name: before, shell: 'echo {{ inputs.what }} >> first.txt' }
  - name: each
    foreach: [a, '{{ inputs.what }}']
    steps:
      - { name: second, command: ./act, args: ['{{ item }}'] }
";

/// Items that fail until they are given `fine`, or there is a file of that name.
fn failing(skill: &str) -> Place {
    let place = Place::new();
    let act = "#!/bin/sh
echo \"$1\" >> acted.txt
[ -e deadly ] && { rm deadly; kill -9 $PPID; sleep 5; }
[ \"$1\" != b ] || [ -e fine ] || { echo \"no such thing: $1\" >&2; exit 1; }
";
    let path = place.write("act", act);
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.write("inner.yaml", INNER);
    place.write("s.yaml", skill);
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("aye retry"), "{}", ran.all());
    place
}

const EACH: &str = "
name: s
steps:
  - name: each
    foreach: [a, b, c]
    steps:
      - { name: first, shell: 'echo {{ item }} >> first.txt; echo {{ item }}' }
      - { name: second, command: ./act, args: ['{{ item }}'] }
outputs:
  - { name: all, value: '{{ each }}' }
";

#[test]
fn of_a_loop_only_what_failed_is_tried_again() {
    let place = failing(EACH);
    assert_eq!(place.read("acted.txt"), "a\nb\n");
    // It may fail again, as often as it does.
    assert_eq!(place.aye(&["retry", "last"]).code, 1);
    place.write("fine", "");
    let ran = place.aye(&["retry", "last", "each"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(place.read("acted.txt"), "a\nb\nb\nb\nc\n");
    assert_eq!(place.read("first.txt"), "a\nb\nc\n");
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["outputs"]["all"].as_array().map(Vec::len), Some(3), "{shown}");
    assert_eq!(shown["runs"].as_array().map(Vec::len), Some(3), "{shown}");
    assert!(place.aye(&["show", "last"]).ok().stdout.contains("each[b]"));
    place.aye(&["audit"]).ok();
}

#[test]
fn a_change_is_for_the_step_that_failed_inside_and_can_be_remembered() {
    let place = failing(EACH);
    let wrong = place.aye(&["retry", "last", "--set", "tag=v1"]);
    assert!(wrong.all().contains("`tag` is not an argument of `second`"), "{}", wrong.all());
    assert_eq!(place.read("acted.txt"), "a\nb\n");
    let ran = place.aye(&["retry", "last", "--set", "1=B", "--remember"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(place.read("acted.txt"), "a\nb\nB\nc\n");
    assert_eq!(place.read("first.txt"), "a\nb\nc\n");
    // The next loop is healed by what was kept.
    place.aye(&["run", "s.yaml"]).ok();
}

#[test]
fn a_loop_that_is_tried_again_survives_kill_9() {
    let place = failing(EACH);
    place.write("fine", "");
    place.write("deadly", "");
    place.aye(&["retry", "last"]);
    assert!(!place.work().join("deadly").exists());
    let ran = place.aye(&["resume", "last", "--no-input"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap();
    place.aye(&["answer", question, "retry", "--resume"]).ok();
    assert_eq!(place.read("acted.txt"), "a\nb\nb\nb\nc\n");
    assert_eq!(place.read("first.txt"), "a\nb\nc\n");
    assert_eq!(place.status(), "completed");
}

#[test]
fn so_it_is_with_skills_in_skills() {
    let skill = "name: s\nsteps:\n  - { name: sub, skill: inner.yaml, inputs: { what: b } }\n";
    let place = failing(skill);
    let refused = place.aye(&["retry", "last", "--set", "what=c"]);
    assert!(refused.all().contains("would do all of it again"), "{}", refused.all());
    place.write("fine", "");
    let ran = place.aye(&["retry", "last"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(place.read("first.txt"), "b\n");
    assert_eq!(place.read("acted.txt"), "a\nb\nb\n");
}

#[test]
fn whoever_retries_is_asked_although_the_run_was_started_with_yes() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "
name: s
steps:
  - { name: sure, confirm: { message: 'Begin?' } }
  - { name: act, shell: 'test -e fine' }
  - { name: really, confirm: { message: 'Publish?' } }
  - name: below
    foreach: [a]
    steps:
      - { name: each, confirm: { message: 'Item {{ item }}?' } }
  - { name: publish, shell: 'touch published' }
",
    );
    assert_eq!(place.aye(&["run", "s.yaml", "--yes"]).code, 1);
    place.write("fine", "");
    let ran = place.aye(&["retry", "last", "--no-input"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    let answer = || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let question = inbox[0]["question"].as_str().unwrap().to_owned();
        place.aye(&["answer", &question, "yes", "--resume", "--no-input"]).all()
    };
    // Also what asks inside of it.
    let said = answer();
    assert!(said.contains("waits for an answer inside `below`"), "{said}");
    assert!(!place.work().join("published").exists());
    answer();
    assert!(place.work().join("published").exists());
    assert_eq!(place.status(), "completed");
}

#[test]
fn what_is_set_stays_text_where_the_step_is_given_text() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n  - { name: act, shell: 'exit 3' }\n");
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 1);
    place.aye(&["retry", "last", "--set", "script=true"]).ok();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: act, command: sh, args: [-c, 'exit 3', x, y] }\n",
    );
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 1);
    let print = "2=printf \"%s|\" \"$@\" > given.txt";
    place
        .aye(&["retry", "last", "--set", print, "--set", r#"4={"a": [1]}"#, "--set", "5=null"])
        .ok();
    assert_eq!(place.read("given.txt"), "{\"a\": [1]}|null|");
    // A question about a failure takes the same.
    place.write("s.yaml", "name: s\nsteps:\n  - { name: act, shell: 'exit 3', on_error: ask }\n");
    assert_eq!(place.aye(&["run", "s.yaml", "--no-input"]).code, 6);
    place.aye(&["retry", "last", "--set", "script=true"]).ok();
}

#[test]
fn an_input_that_was_not_given_does_not_become_a_word_of_a_command() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "
name: s
inputs: [{ name: dir }]
steps:
  - { name: clean, command: touch, args: ['{{ inputs.dir }}'] }
",
    );
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("`inputs.dir` has no value: it was not given"), "{}", ran.all());
    assert!(ran.all().contains("inputs.dir or ''"), "{}", ran.all());
    place.aye(&["run", "s.yaml", "-i", "dir=here"]).ok();
    assert!(place.work().join("here").exists());
}

/// Python's `get` takes its default for an input that was not given, wherever it stands.
#[test]
fn the_default_of_get_counts_for_an_input_that_was_not_given() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "\
name: s
inputs: [{ name: note }, { name: count, type: integer }]
steps:
  - { name: block, compute: \"result = f'{inputs.get(\\\"note\\\", \\\"none\\\")}'.upper() + str(inputs.get('count', 0) + 1)\" }
  - { name: real, python: true, compute: \"result = inputs.get('note', 'none') + str(inputs.get('count') is None)\" }
  - { name: template, command: echo, args: [\"{{ inputs.get('note', 'none') }}\"] }
  - { name: expression, command: echo, args: [\"{{ [x for x in inputs.get('note', 'none')][0] }}\"] }
  - { name: same, compute: \"result = [inputs.note, inputs['note'], inputs.get('note')]\" }
outputs:
  - { name: all, value: '{{ block }} {{ real }} {{ template }} {{ expression }} {{ same }}' }
",
    );
    let ran = place.aye(&["run", "s.yaml"]).ok();
    let all = "all: NONE1 noneTrue none n [None, None, None]";
    assert!(
        ran.stderr.contains(all) || ran.stderr.contains(&all.replace("None", "null")),
        "{}",
        ran.all()
    );
    let ran = place.aye(&["run", "s.yaml", "-i", "note=x", "-i", "count=2"]).ok();
    assert!(ran.stderr.contains("all: X3 xFalse x x "), "{}", ran.all());
}
