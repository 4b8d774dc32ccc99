//! What `aye.toml` says about named commands: which cannot be undone, and which
//! hand a value to a shell.

use insta::assert_snapshot;

use crate::cli::harness::Place;

const SETTINGS: &str = "
[tools.wipe]
command = ['./wipe', '{{ args.path }}']
args = { path = { required = true } }
destructive = true

[tools.look]
command = ['./wipe', '{{ args.path }}']
args = { path = { required = true } }
";

/// A place whose `wipe` fails until `ok` is there, and keeps what it was given.
fn place(skill: &str) -> Place {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.write("aye.toml", SETTINGS);
    place.write("skills/s.yaml", skill);
    let script = place.write("wipe", "#!/bin/sh\necho \"$1\" >> given\n[ -e ok ]\n");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).expect("a program");
    place
}

const GATED: &str = "
name: s
steps:
  - name: a
    tool: TOOL
    args: { path: /tmp/x }
    confirmation: { message: Sure?, remember: true, timeout: 0 }
";

#[test]
fn consent_to_a_destructive_tool_is_asked_for_each_time() {
    for (tool, code) in [("wipe", 6), ("look", 0)] {
        let place = place(&GATED.replace("TOOL", tool));
        place.write("ok", "");
        assert_eq!(place.aye(&["run", "s", "--no-input"]).code, 6);
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let question = inbox[0]["question"].as_str().expect("a question").to_owned();
        place.aye(&["answer", &question, "yes", "--remember", "step"]).ok();
        let again = place.aye(&["run", "s", "--no-input"]);
        assert_eq!(again.code, code, "{tool}: {}", again.all());
    }
}

/// Someone takes `destructive` out of the settings while a run waits.
#[test]
fn a_run_keeps_what_the_settings_said_when_it_began() {
    let place = place(&GATED.replace("TOOL", "wipe"));
    assert_eq!(place.aye(&["run", "s", "--no-input"]).code, 6);
    let question = place.aye(&["inbox", "--json"]).ok().json()[0]["question"].clone();
    place.write("aye.toml", &SETTINGS.replace("destructive = true", ""));
    let question = question.as_str().expect("a question");
    let answered = place.aye(&["answer", question, "yes", "--remember", "step"]);
    assert!(answered.stderr.contains("the answer counts, but"), "{}", answered.all());
}

/// A fix that a person agreed to changes nothing of it unseen: also in a loop
/// and in a skill that is called.
#[test]
fn a_fix_for_a_destructive_tool_waits_for_a_person() {
    let step = "{ name: a, tool: TOOL, args: { path: /tmp/x }, on_error: fail }";
    let plain = format!("name: s\nsteps:\n  - {step}\n");
    let each = "name: s\nsteps:\n  - name: each\n    foreach: [1]\n    as: n\n    \
                steps: [{ name: a, tool: TOOL, args: { path: /tmp/x }, on_error: fail }]\n";
    let called = "name: s\nsteps: [{ name: call, skill: inner }]\n";
    for (skill, inner) in [(plain.as_str(), ""), (each, ""), (called, plain.as_str())] {
        for (tool, tried) in [("wipe", 1), ("look", 2)] {
            let place = place(&skill.replace("TOOL", tool));
            if !inner.is_empty() {
                let inner = inner.replace("name: s", "name: inner").replace("TOOL", tool);
                place.write("skills/inner.yaml", &inner);
            }
            let learn = ["memory", "learn", "--error", "exit code 1", "--tool", tool];
            place.aye(&[&learn[..], &["--set", "path=/other"]].concat()).ok();
            let ran = place.aye(&["run", "s", "--no-input"]);
            let given = place.read("given").lines().count();
            assert_eq!(given, tried, "{tool} in {skill}: {}", ran.all());
            if tool == "wipe" {
                assert_eq!(ran.code, 6, "{}", ran.all());
                let asked = place.aye(&["inbox", "--json"]).ok().json().to_string();
                assert!(asked.contains("No person has seen this change"), "{asked}");
            }
        }
    }
}

#[test]
fn it_is_shown_as_a_destructive_step_is() {
    let place = place(&GATED.replace("TOOL", "wipe"));
    for args in [&["run", "s", "--dry-run"][..], &["list", "s"], &["graph", "s"]] {
        let shown = place.aye(args);
        assert!(shown.all().contains("destructive"), "{args:?}: {}", shown.all());
    }
    let checked = place.aye(&["check"]).ok();
    assert_snapshot!(checked.stdout, @r"
    warning[remember-refused]: the answer to step `a` is not remembered
      --> skills/s.yaml:5:11
       |
     5 |     tool: wipe
       |           ^^^^ `aye.toml` says that it is destructive
       |
    hint: remove `remember`; it has to be asked each time

    ✓ 1 valid skill in 1 file: 1 warning
    ");
}

#[test]
fn check_says_where_a_tool_hands_an_argument_to_a_shell() {
    let place = place("name: s\nsteps: [{ name: a, shell: 'true' }]\n");
    let settings = "
[tools.safe]
command = ['sh', '-c', 'echo \"$1\"', 'sh', '{{ args.text }}']
args = { text = {} }

[tools.deploy]
command = ['sudo', 'sh', '-c', 'git checkout {{ args.branch }} && ./deploy {{ args.count }}']
args = { branch = {}, count = { type = 'integer' } }

[tools.remote]
command = ['ssh', 'host', 'restart {{ args.service }}']
args = { service = {} }
";
    place.write("aye.toml", settings);
    assert_snapshot!(place.aye(&["check"]).all(), @r#"
    --- stdout
    warning[shell-argument]: tool `deploy` hands `branch` to `sh`, which may run it
      --> aye.toml:7:11
       |
     7 | command = ['sudo', 'sh', '-c', 'git checkout {{ args.branch }} && ./deploy {{ args.count }}']
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ a value can be code here
       |
    hint: a value is safe as a word after the script: `["sh", "-c", "… \"$1\"", "sh", "{{ args.NAME }}"]`; or limit it with `enum`

    warning[shell-argument]: tool `remote` hands `service` to `ssh`, which may run it
       --> aye.toml:11:11
        |
     11 | command = ['ssh', 'host', 'restart {{ args.service }}']
        |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ a value can be code here
        |
    hint: limit the argument with `enum`, or with a `match` of letters and digits

    ✓ 1 valid skill in 1 file: 2 warnings
    --- exit 0
    "#);
    assert_eq!(place.aye(&["check", "--strict"]).code, 2);
    let found = place.aye(&["check", "--json"]).ok().json();
    assert_eq!(found[0]["code"], "shell-argument");
    assert_eq!(found[0]["file"], "aye.toml");
}
