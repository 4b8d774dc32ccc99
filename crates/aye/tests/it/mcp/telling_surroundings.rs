//! What an assistant is told of the run around a question: values, results, steps and guards.

use serde_json::json;

use super::client::{Client, InboxView};
use super::telling::RICH;

#[test]
fn results_of_blocks_and_tools_are_in_the_logs() {
    let desk = InboxView::with(&[("release", RICH)]);
    let mut client = Client::new(&desk);
    let asks = client.run("release");
    let logs = client.call("skill_logs", json!({ "execution_id": asks.id(), "step": "plan" }));
    assert_eq!(logs.ok()["logs"][0]["result"], json!({ "sha": "abc", "n": 7 }), "{}", logs.text());
    let text = logs.text();
    assert!(text.contains("returned: {") && text.contains("\"sha\":\"abc\""), "{text}");
}

#[test]
fn guards_are_named_in_descriptions_and_in_pauses() {
    let skill = "
steps:
  - name: sure
    confirm: { message: Go?, timeout: 1h, approvals: 2, type_to_confirm: go }
";
    let desk = InboxView::with(&[("go", skill)]);
    let mut client = Client::new(&desk);
    let described = client.call("skill_describe", json!({ "skill": "go" }));
    let asks = client.run("go");
    assert_eq!((&asks.ok()["approvals"], &asks.ok()["type_to_confirm"]), (&json!(2), &json!(true)));
    for text in [described.text(), asks.text()] {
        assert!(text.contains("approvals") && text.contains("type_to_confirm"), "{text}");
    }
}

/// A value of the run around a list that a step inside it uses.
#[test]
fn values_of_the_run_around_a_list_are_told() {
    let skill = "
steps:
  - { name: build, shell: echo built 7, output: built }
  - name: each
    foreach: [one]
    steps:
      - { name: ship, command: sh, args: [-c, 'echo {{ built }} {{ item }}; exit 1'], on_error: ask }";
    let desk = InboxView::with(&[("go", skill)]);
    let mut client = Client::new(&desk);
    let failed = client.run("go");
    assert_eq!(failed.status(), "error_recovery_needed", "{}", failed.text());
    let known = failed.ok()["variables"].clone();
    assert_eq!((&known["built"], &known["item"]), (&json!("built 7"), &json!("one")), "{known}");
}

#[test]
fn a_code_that_is_needed_is_named_in_the_description_and_in_the_pause() {
    let skill = "
steps:
  - name: sure
    confirm: { message: Go?, timeout: 1h, reauth: true }";
    let desk = InboxView::with(&[("go", skill)]);
    let mut client = Client::new(&desk);
    let described = client.call("skill_describe", json!({ "skill": "go" }));
    assert_eq!(described.ok()["steps"][0]["asks"]["reauth"], true, "{}", described.text());
    let asks = client.run("go");
    assert_eq!(asks.ok()["reauth"], true, "{}", asks.text());
    assert_eq!(asks.ok()["relayable"], false);
    for text in [described.text(), asks.text()] {
        assert!(text.contains("reauth"), "{text}");
    }
}

/// A question inside a list or a sub-skill is told with the last steps of the runs around it.
#[test]
fn the_last_steps_of_the_runs_around_are_told() {
    let inner = "
steps:
  - { name: look, shell: echo looked }
  - { name: sure, confirm: { message: Go?, timeout: 1h } }";
    let calls = "
steps:
  - { name: build, shell: echo built 7, output: built }
  - { name: call, skill: inner }";
    let each = "
steps:
  - { name: build, shell: echo built 7, output: built }
  - name: each
    foreach: [one]
    steps:
      - { name: sure, confirm: { message: 'Go {{ item }}?', timeout: 1h } }";
    let desk = InboxView::with(&[("inner", inner), ("calls", calls), ("each", each)]);
    let mut client = Client::new(&desk);
    for (skill, steps) in [("calls", &["build", "call", "look"][..]), ("each", &["build", "each"])]
    {
        let asks = client.run(skill);
        let told = asks.ok()["recent_steps"].as_array().unwrap().clone();
        let names: Vec<&str> = told.iter().map(|step| step["step"].as_str().unwrap()).collect();
        assert_eq!(names, steps, "{skill}: {told:?}");
        assert_eq!(told[0]["result"], "built 7", "{skill}: {told:?}");
        assert_eq!(told[0]["in"], "the run around", "{skill}: {told:?}");
        assert!(asks.text().contains("built 7"), "{}", asks.text());
    }
}

/// Of two steps whose results have one name, each is told with its own, if that is known.
#[test]
fn a_result_is_told_with_the_step_that_gave_it() {
    let twice = "
steps:
  - { name: one, shell: echo first, output: x }
  - { name: two, shell: echo second, output: x }
  - { name: sure, confirm: { message: Go?, timeout: 1h } }";
    let desk = InboxView::with(&[("twice", twice)]);
    let steps = Client::new(&desk).run("twice").ok()["recent_steps"].clone();
    assert_eq!((&steps[0]["step"], steps[0].get("result")), (&json!("one"), None), "{steps}");
    assert_eq!((&steps[1]["step"], &steps[1]["result"]), (&json!("two"), &json!("second")));
}

/// The values of defaults, of texts to type, of conditions and of guards.
#[test]
fn every_value_that_a_question_or_a_failing_step_uses_is_told() {
    const BUILD: &str = "\nsteps:\n  - { name: build, shell: echo built 7, output: built }\n";
    let with = |step: &str| format!("{BUILD}  - {step}");
    let skills = [
        ("default", with("{ name: who, input: { message: Who?, default: '{{ built }}' } }")),
        ("typed", with("{ name: who, confirm: { message: Go?, type_to_confirm: '{{ built }}' } }")),
        ("when", with("{ name: no, shell: 'exit 1', condition: \"'7' in built\", on_error: ask }")),
        (
            "guard",
            with("{ name: no, shell: 'exit 1', validate: [{ condition: built }], on_error: ask }"),
        ),
        (
            "message",
            with(
                "{ name: no, shell: 'exit 1', validate: [{ expect_success: true, error_message: '{{ built }}' }], on_error: ask }",
            ),
        ),
    ];
    let texts: Vec<(&str, &str)> = skills.iter().map(|(name, text)| (*name, &**text)).collect();
    let desk = InboxView::with(&texts);
    let mut client = Client::new(&desk);
    for (skill, _) in texts {
        let asks = client.run(skill);
        assert_eq!(asks.ok()["variables"]["built"], "built 7", "{skill}: {}", asks.text());
    }
}
