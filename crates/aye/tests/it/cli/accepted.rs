//! What a skill file may hold without a word about it.

use super::harness::{Place, assert_says};

#[test]
fn a_run_begins_with_the_first_state() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nstates:\n  second: { command: touch, args: [first], transitions: { success: a } }\n  a: { command: touch, args: [second], transitions: { success: done } }\n  done: { type: final }\n",
    );
    place.aye(&["run", "s.yaml", "--json"]).ok();
    let events = place.aye(&["show", "last", "--json"]).ok().json()["events"].clone();
    let begun = events.as_array().unwrap().iter().filter(|event| event["type"] == "step_started");
    let steps: Vec<&str> = begun.map(|event| event["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["second", "a"]);
}

/// The options of the original documents have no `action`.
#[test]
fn cancel_no_and_abort_decline() {
    let mut wrong = Vec::new();
    for (value, code) in [("proceed", 0), ("cancel", 5), ("no", 5), ("abort", 5)] {
        let place = Place::new();
        let options = "{ label: Go, value: proceed }, { label: A, value: cancel }, { label: B, value: 'no' }, { label: C, value: abort }";
        let skill = format!(
            "name: s\nsteps:\n  - name: sure\n    confirm: {{ message: Go?, timeout: 0, options: [{options}] }}\n  - {{ name: act, command: touch, args: [done] }}\n"
        );
        place.write("s.yaml", &skill);
        let asked = place.aye(&["run", "s.yaml", "--no-input"]);
        if asked.code != 6 {
            wrong.push(asked.all());
            break;
        }
        let question = format!("{}-1", place.last());
        let ran = place.aye(&["answer", &question, value, "--resume"]);
        if ran.code != code || place.work().join("done").exists() != (code == 0) {
            wrong.push(format!("{value}: {}", ran.all()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_filters_of_jinja_are_there() {
    let place = Place::new();
    let mut wrong = Vec::new();
    for (template, said) in [
        ("{{ 'hello world again' | truncate(8) }}", "hello..."),
        ("{{ 'aa bb cc' | wordwrap(5) }}", "aa bb\ncc"),
        ("{{ 'a b c' | wordcount }}", "3"),
        ("{{ 5 | filesizeformat }}", "5 Bytes"),
        ("{{ 'x' | center(5) }}", "  x  "),
        ("{{ '<b>x</b>' | striptags }}", "x"),
        (
            "{{ 'see https://a.b' | urlize }}",
            "see <a href=\"https://a.b\" rel=\"noopener\">https://a.b</a>",
        ),
        ("{{ [7] | random }}", "7"),
        ("{{ '<' | forceescape }}", "&lt;"),
        ("{{ {'a': 1} | xmlattr }}", " a=\"1\""),
    ] {
        let skill = format!(
            "name: f\nsteps:\n  - {{ name: a, command: printf, args: ['[%s]', {template:?}] }}\n"
        );
        place.write("f.yaml", &skill);
        let ran = place.aye(&["run", "f.yaml", "-q"]);
        if ran.stdout.trim_end_matches('\n') != format!("[{said}]") {
            wrong.push(format!("{template}: {}", ran.all()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn keys_that_say_nothing_to_aye_are_passed_over_at_the_top() {
    let place = Place::new();
    let plain = "name: s\nsteps: [{ name: one, command: echo }]\n";
    let mut wrong = Vec::new();
    for key in
        ["x-team: infra", "x-any: [{ a: 1 }]", "links: [https://a.b]", "author: ann", "version: 2"]
    {
        place.write("s.yaml", &format!("{key}\n{plain}"));
        let ran = place.aye(&["check", "s.yaml", "--strict"]);
        if ran.code != 0 {
            wrong.push(format!("{key}: {}", ran.all()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Others stay errors, and so do these anywhere else.
    place.write("s.yaml", &format!("owner: ann\n{plain}"));
    let ran = place.aye(&["check", "s.yaml"]);
    assert_says(&[(&ran.stdout, &["error[unknown-key]: unknown key `owner`"])]);
    place.write("s.yaml", &plain.replace("command: echo", "command: echo, x-team: infra"));
    let ran = place.aye(&["check", "s.yaml"]);
    assert_says(&[(&ran.stdout, &["error[unknown-key]: unknown key `x-team`"])]);
}

/// A comment silences the warning where it stands, and no other.
#[test]
fn a_warning_is_silenced_where_it_stands() {
    let place = Place::new();
    let skill = "\
name: round
initial: a
states:
  # aye: allow cycle
  a: { command: 'true', transitions: { success: b, failure: done } }
  b: { command: 'true', transitions: { success: done, failure: a } }
  lost: { command: 'true', transitions: { success: done } }
  done: { type: final }
";
    let warnings = |skill: &str| -> Vec<String> {
        place.write("round.yaml", skill);
        let said = place.aye(&["check", "round.yaml"]).ok().stdout;
        let lines = said.lines().filter(|line| line.starts_with("warning"));
        lines.map(str::to_owned).collect()
    };
    let lost = "warning[unreachable]: state `lost` cannot be reached";
    assert_eq!(warnings(skill), [lost]);
    let cycle = "warning[cycle]: cycle: a -> b -> a";
    let mut both = warnings(&skill.replace("  # aye: allow cycle\n", ""));
    both.sort();
    assert_eq!(both, [cycle, lost]);
}
