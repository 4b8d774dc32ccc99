//! Shell steps of a run: where the values go and where they do not.

use aye_core::machine::Start;

use aye_core::secrets::Secrets;
use aye_core::skill::{Action, Step};
use serde_json::json;

use crate::build::{Run, confirm, gated, start, step, steps, t};

fn shell(script: &str) -> Step {
    step("a", Action::Shell { script: t(script) })
}

fn started(step: Step, x: &str) -> Run {
    let mut secrets = Secrets::default();
    secrets.insert("token", "hunter2'quoted");
    let inputs = [("x".to_owned(), json!(x)), ("token".to_owned(), json!("hunter2'quoted"))].into();
    Run::start_as(steps([step]), Start { inputs, secrets, ..start() })
}

#[test]
fn values_go_into_the_environment_and_secrets_not_into_arguments() {
    let step = Step {
        env: [("AYE_V1".to_owned(), Some(t("mine"))), ("B".to_owned(), None)].into(),
        ..shell("login {{ inputs.x }} --token \"{{ inputs.token }}\"")
    };
    let run = started(step, "a b");
    let process = run.process();
    assert_eq!(process.argv, ["sh", "-c", r#"login "${AYE_V1}" --token "${AYE_V2}""#]);
    assert_eq!(process.env["AYE_V1"].as_deref(), Some("a b"), "the file's own is overwritten");
    assert_eq!(process.env["AYE_V2"].as_deref(), Some("hunter2'quoted"));
    assert_eq!(process.env["B"], None);
    let journal = run.json();
    assert!(!journal.contains("hunter2"), "{journal}");
    assert!(journal.contains(r#"login 'a b' --token \"***\""#), "{journal}");
}

#[test]
fn the_gate_is_bound_to_the_values() {
    let gate = |x: &str| {
        let run = started(gated(shell("deploy {{ inputs.x }}"), confirm("Deploy?")), x);
        (run.question().digest.clone(), run.question().follows.clone())
    };
    let (one, line) = gate("one");
    assert_eq!(line.as_deref(), Some("deploy one"));
    assert_eq!(one, gate("one").0);
    assert_ne!(one, gate("two").0);
    // Alike when pasted, not alike as words.
    assert_ne!(gate("one; two").1.as_deref(), Some("deploy one; two"));
}

#[test]
fn a_refused_value_fails_the_step_before_it_runs() {
    let run = started(shell("echo $(( {{ inputs.x }} ))"), "a[$(id)]");
    let journal = run.json();
    assert!(journal.contains("INJECTION_DETECTED"), "{journal}");
    assert!(!journal.contains("step_started"), "{journal}");
}
