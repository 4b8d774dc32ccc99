//! What a yes covers of a skill that a step runs: the run of it that continues, and the one that
//! was agreed to and had not begun when Aye was killed.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::harness::Place;

fn questions(place: &Place) -> Vec<Value> {
    place.aye(&["inbox", "--json"]).ok().json().as_array().unwrap().clone()
}

fn yes(place: &Place) {
    let open = questions(place);
    assert_eq!(open.len(), 1, "{open:?}");
    place.aye(&["answer", open[0]["question"].as_str().unwrap(), "proceed"]).ok();
}

const CALL: &str = "name: s
steps:
  - name: call
    skill: child.yaml
    inputs: { target: '{{ env.TARGET }}' }
    confirmation: { message: 'Call it?', timeout: 0 }
    on_error: fail
";

fn child(word: &str) -> String {
    format!(
        "name: child
inputs: [{{ name: target }}]
steps:
  - {{ name: first, shell: 'echo first >> ran.txt' }}
  - name: act
    shell: 'echo {word} {{{{ inputs.target }}}} >> ran.txt; test -e fixed'
"
    )
}

/// What failed inside is tried again as it began, whatever the file and the environment are now:
/// nothing else was agreed to, and what is done is not done again.
#[test]
fn a_skill_that_is_tried_again_runs_as_it_was_agreed_to() {
    let place = Place::new();
    place.write("child.yaml", &child("old"));
    place.write("s.yaml", CALL);
    let aye = |target: &str, args: &[&str]| {
        let mut command = place.command(args);
        command.env("TARGET", target);
        super::harness::Ran::of(command.output().unwrap(), &place)
    };
    assert_eq!(aye("stage", &["run", "s.yaml"]).code, 6);
    yes(&place);
    assert_eq!(aye("stage", &["resume", "last"]).code, 1);
    place.write("child.yaml", &child("new"));
    place.write("fixed", "");
    let again = aye("production", &["retry", "last"]);
    assert_eq!(again.code, 0, "{}", again.all());
    assert_eq!(questions(&place), Vec::<Value>::new());
    assert_eq!(place.read("ran.txt"), "first\nold stage\nold stage\n");
    place.aye(&["audit"]).ok();
}

/// Aye is killed between the start of the step and the beginning of the run inside it.
#[test]
fn a_skill_that_has_not_begun_is_compared_with_what_was_agreed_to() {
    let place = Place::new();
    // It is asked for the secret when the step has started and the run inside has not begun.
    let script =
        "#!/bin/sh\n[ -e deadly ] && { rm deadly; kill -9 $PPID; sleep 5; }\necho hunter2-x\n";
    let path = place.write("secret", script);
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    let skill = |word: &str| {
        let pin = "{ name: pin, type: secret, required: true, from: { command: [./secret] } }";
        format!(
            "name: child\ninputs: [{pin}]\nsteps:\n  - {{ name: act, shell: 'echo {word} >> ran.txt' }}\n"
        )
    };
    place.write("child.yaml", &skill("old"));
    let call = "name: s\nsteps:\n  - name: call\n    skill: child.yaml\n    confirmation: { message: \
                'Call it?', timeout: 0 }\n    on_error: fail\n";
    place.write("s.yaml", call);
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    yes(&place);
    place.write("deadly", "");
    let killed = place.aye(&["resume", "last"]);
    assert_ne!(killed.code, 0, "{}", killed.all());
    assert!(!place.work().join("deadly").exists(), "{}", killed.all());
    place.write("child.yaml", &skill("new"));
    let resumed = place.aye(&["resume", "last"]);
    assert!(resumed.all().contains("is not what was agreed to"), "{}", resumed.all());
    assert!(!place.work().join("ran.txt").exists());
    // Tried again, it is asked about with the difference.
    let retried = place.aye(&["retry", "last"]);
    assert_eq!(retried.code, 6, "{}", retried.all());
    assert!(retried.all().contains("skill"), "{}", retried.all());
    yes(&place);
    let resumed = place.aye(&["resume", "last"]);
    assert_eq!(resumed.code, 0, "{}", resumed.all());
    assert_eq!(place.read("ran.txt"), "new\n");
    place.aye(&["audit"]).ok();
}
