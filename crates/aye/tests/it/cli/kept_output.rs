//! `stdout: discard`, `stderr: discard` and `log: false`.

use super::harness::Place;

const SKILL: &str = "name: s
steps:
- {name: quiet, shell: echo out; echo err >&2, stdout: discard}
- {name: calm, shell: echo out; echo err >&2, stderr: discard}
- {name: loose, shell: echo loose, log: false}
- {name: uses, shell: 'echo \"<{{ quiet }}> <{{ calm }}> <{{ loose }}>\"'}
";

#[test]
fn what_is_discarded_is_nowhere_and_what_has_no_log_is_shown_and_used() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    let ran = place.aye(&["run", "s.yaml"]).ok();
    assert_eq!(ran.stdout, "calm | out\nloose | loose\nuses | <> <out> <loose>\n", "{}", ran.all());
    assert!(ran.stderr.contains("quiet | err"), "{}", ran.all());
    assert!(!ran.stderr.contains("calm | err"), "{}", ran.all());
    let logs = std::fs::read_dir(place.home().join("logs").join(place.last())).expect("logs");
    let mut names: Vec<String> = logs
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["0001-quiet.err", "0002-calm.out", "0004-uses.out"]);
}

#[test]
fn the_record_says_what_was_not_kept_and_audit_that_it_is_not_sealed() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    place.aye(&["run", "s.yaml"]).ok();
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let line = |step: &str| {
        let found = shown.lines().find(|line| line.contains(step));
        found.unwrap_or_else(|| panic!("no {step} in {shown}")).to_owned()
    };
    assert!(line("quiet").contains("standard output discarded"), "{shown}");
    assert!(line("calm").contains("standard error discarded"), "{shown}");
    assert!(line("loose").contains("log not kept"), "{shown}");
    assert!(!line("uses").contains("kept"), "{shown}");
    let logs = place.aye(&["logs", "last"]).ok().all();
    assert!(logs.contains("== loose\nits output was not kept: `log: false`\n"), "{logs}");
    assert_eq!(logs.matches("was not kept").count(), 1, "{logs}");
    let audited = place.aye(&["audit"]).ok().stdout;
    assert!(audited.contains("(1 more not sealed): nothing was changed"), "{audited}");
}

#[test]
fn a_state_can_say_the_same() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nstates:\n  a: {shell: echo out, stdout: discard, transitions: {success: b}}\n  \
         b: {shell: echo loose, log: false, transitions: {success: done}}\n  done: {type: final}\n",
    );
    let ran = place.aye(&["run", "s.yaml"]).ok();
    assert_eq!(ran.stdout, "b | loose\n", "{}", ran.all());
    assert!(!place.home().join("logs").join(place.last()).exists(), "nothing was logged");
}

#[test]
fn the_log_of_a_step_that_has_none_is_not_silence() {
    let place = Place::new();
    place.write("s.yaml", &format!("{SKILL}- {{name: mute, shell: 'true'}}\n"));
    place.aye(&["run", "s.yaml", "-q"]).ok();
    for step in ["loose", "mute"] {
        let ran = place.aye(&["logs", "last", step]).ok();
        assert_eq!(ran.stdout, "");
        let said = format!("step `{step}` has no log: it wrote nothing, or its output is not kept");
        assert!(ran.stderr.contains(&said), "{}", ran.all());
    }
    assert_eq!(place.aye(&["logs", "last", "calm"]).ok().stderr, "");
}
