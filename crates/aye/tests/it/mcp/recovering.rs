//! What an assistant may say about a step that failed: to try it again, and
//! little else. The gate of a step holds for what becomes of it, too.

use serde_json::{Value, json};

use super::client::{Client, Era, Got, InboxView};

const CHECKED: &str = "
steps:
  - { name: check, shell: 'echo x >> checked; exit 1', on_error: ask }
  - { name: delete, shell: touch deleted }";

fn said(got: &Got, choice: &str) -> Value {
    json!({ "execution_id": got.id(), "choice": choice, "reason": "the user said so" })
}

fn changed(got: &Got, step: &str, args: &Value) -> Value {
    json!({ "execution_id": got.id(), "step": step, "args": args })
}

#[test]
fn an_assistant_cannot_pass_over_a_step_that_failed() {
    let desk = InboxView::with(&[("delete", CHECKED)]);
    let mut client = Client::new(&desk);
    let failed = client.run("delete");
    assert_eq!(failed.status(), "error_recovery_needed", "{}", failed.text());
    for choice in ["done", "skip"] {
        let why = client.call("skill_continue", said(&failed, choice)).refused();
        assert!(why.contains("has to be chosen by a person"), "{why}");
        assert!(!desk.work().join("deleted").exists(), "{choice}");
    }
    let next = failed.ok()["next"].as_array().unwrap().clone();
    let choices: Vec<&str> =
        next.iter().filter_map(|call| call["arguments"]["choice"].as_str()).collect();
    assert_eq!(choices, ["abort"], "retrying is a call of its own");
    assert!(next.iter().any(|call| call["tool"] == "skill_retry_step"), "{next:?}");
    // To try it again is harmless.
    let again = client.call("skill_continue", said(&failed, "retry"));
    assert_eq!(again.status(), "error_recovery_needed", "{}", again.text());
    assert_eq!(desk.read("checked"), "x\nx\n");
    // A form was shown to someone.
    let can = json!({ "elicitation": { "form": {} } });
    let mut client = Client::that_can(&desk, Era::Legacy, can);
    client.answers = vec![json!({ "action": "accept", "content": { "choice": "skip" } })];
    let failed = client.run("delete");
    assert_eq!(failed.status(), "error_recovery_needed", "{}", failed.text());
    assert!(client.forms.is_empty(), "the assistant looks first");
    let looked = json!({ "execution_id": failed.id(), "advice": "it is not needed" });
    let done = client.call("skill_continue", looked);
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert!(client.forms[0]["message"].as_str().unwrap().contains("| it is not needed"));
}

#[test]
fn recovery_keeps_the_gate() {
    let can = json!({ "elicitation": { "form": {} } });
    for (guard, choice) in [
        ("confirmation: { message: Sure?, timeout: 0, by: human }", "proceed"),
        ("confirmation: { message: Sure?, timeout: 0 }", "proceed"),
        ("destructive: true", ""),
    ] {
        let skill = format!(
            "steps:\n  - {{ name: act, command: sh, args: [-c, 'echo x >> acted; exit 1'], \
             on_error: ask, {guard} }}\n  - {{ name: delete, shell: touch deleted }}"
        );
        let desk = InboxView::with(&[("act", skill.as_str())]);
        let mut client = Client::that_can(&desk, Era::Legacy, can.clone());
        // The form of the gate is put away; the person answers elsewhere.
        client.answers = vec![json!({ "action": "cancel" }); usize::from(!choice.is_empty())];
        let mut asks = client.run("act");
        if !choice.is_empty() {
            let question = asks.ok()["question"].as_str().unwrap().to_owned();
            desk.aye(&["answer", &question, choice]).ok();
            let id = json!({ "execution_id": asks.id(), "wait": 30 });
            asks = client.call("skill_status", id);
        }
        assert_eq!(asks.status(), "error_recovery_needed", "{guard}: {}", asks.text());
        client.answers = vec![json!({ "action": "accept", "content": { "choice": "skip" } })];
        for choice in ["retry", "done", "skip", "abort"] {
            client.call("skill_continue", said(&asks, choice)).refused();
        }
        client.call("skill_retry_step", changed(&asks, "act", &json!({}))).refused();
        client.call("skill_retry_step", changed(&asks, "act", &json!({ "0": "true" }))).refused();
        let told = client.call("skill_status", json!({ "execution_id": asks.id() }));
        assert_eq!(told.status(), "error_recovery_needed", "{guard}: {}", told.text());
        assert_eq!(told.ok()["relayable"], false, "{guard}");
        assert_eq!(desk.read("acted"), "x\n", "{guard}");
        assert!(!desk.work().join("deleted").exists(), "{guard}");
        let question = asks.ok()["question"].as_str().unwrap().to_owned();
        desk.aye(&["answer", &question, "skip"]).ok();
    }
}

/// A block of its own, an input of a sub-skill: all but the arguments of a tool.
#[test]
fn changed_code_waits_until_a_person_has_seen_it() {
    let desk = InboxView::with(&[(
        "count",
        "
steps:
  - { name: count, compute: 'result = 1 / 0', on_error: ask }
  - { name: use, shell: 'echo {{ count }} > used' }",
    )]);
    let mut client = Client::new(&desk);
    let failed = client.run("count");
    let code = json!({ "code": "result = 42" });
    let asks = client.call("skill_retry_step", changed(&failed, "count", &code));
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
    let message = asks.ok()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("result = 42"), "the difference is shown: {message}");
    let why = client.call("skill_continue", said(&asks, "proceed")).refused();
    assert!(why.contains("has to be chosen by a person"), "{why}");
    assert!(!desk.work().join("used").exists());
    let question = asks.ok()["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &question, "proceed"]).ok();
    let done = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 30 }));
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert_eq!(desk.read("used"), "42\n");
}

/// Where a skill lets an assistant write a block, it sees no more than before.
#[test]
fn a_changed_block_sees_nothing_new() {
    let desk = InboxView::with(&[(
        "look",
        "
steps:
  - name: look
    files: read
    assistant: may_edit
    compute: |
      known = open('known.txt').read()
      result = env.HOME + [][0]
    on_error: ask",
    )]);
    desk.write("known.txt", "known");
    desk.write("secret.txt", "hunter2");
    for (code, wrong) in [
        ("result = open('secret.txt').read()", "may not read `secret.txt`"),
        ("result = open('secret' + '.txt').read()", "may not read `secret.txt`"),
        ("import os\nresult = os.listdir('.')", "may not read `.`"),
        ("result = env.PATH", "the environment has no `PATH`"),
        ("import os\nresult = os.environ['AYE_HOME']", "the environment has no `AYE_HOME`"),
        ("import os\nresult = os.getenv('PATH') + ''", ""),
    ] {
        let mut client = Client::new(&desk);
        let failed = client.run("look");
        let again =
            client.call("skill_retry_step", changed(&failed, "look", &json!({ "code": code })));
        assert_eq!(again.status(), "compute_error", "{code}: {}", again.text());
        assert!(again.text().contains(wrong), "{code}: {}", again.text());
        assert!(!again.text().contains("hunter2"), "{code}: {}", again.text());
    }
    // What it named before it may still use.
    let mut client = Client::new(&desk);
    let failed = client.run("look");
    let code = json!({ "code": "result = open('known.txt').read() + env.HOME[:0]" });
    let done = client.call("skill_retry_step", changed(&failed, "look", &code));
    assert_eq!(done.status(), "completed", "{}", done.text());
}

/// A person agreed to `deploy v1`: at a question before it, at the gate of the
/// sub-skill or the list around it, in a sub-skill before it.
#[test]
fn what_a_person_agreed_to_is_not_changed_unseen() {
    const DEPLOY: &str = "{ name: d, tool: deploy, args: { tag: v1 }, on_error: ask }";
    let gate = "{ message: Deploy v1?, timeout: 0, by: human }";
    let ask = format!("{{ name: ask, confirm: {gate} }}");
    let skills = [
        ("inner", format!("steps:\n  - {DEPLOY}")),
        ("consent", format!("steps:\n  - {ask}")),
        ("asked", format!("steps:\n  - {ask}\n  - {DEPLOY}")),
        ("around", format!("steps:\n  - {{ name: sub, skill: inner, confirmation: {gate} }}")),
        (
            "each",
            format!("steps:\n  - {ask}\n  - {{ name: all, foreach: [1], steps: [{DEPLOY}] }}"),
        ),
        ("before", format!("steps:\n  - {{ name: may, skill: consent }}\n  - {DEPLOY}")),
    ];
    let skills: Vec<(&str, &str)> =
        skills.iter().map(|(name, steps)| (*name, steps.as_str())).collect();
    let desk = InboxView::with(&skills);
    desk.write(
        "aye.toml",
        "[tools.deploy]\ncommand = ['sh', '-c', 'echo $0 >> deployed; exit 1', '{{ args.tag }}']\n\
         args = { tag = { type = 'string', required = true } }\n",
    );
    desk.aye(&["trust", "--yes"]).ok();
    let can = json!({ "elicitation": { "form": {} } });
    let mut deployed = String::new();
    for skill in ["asked", "around", "each", "before"] {
        let mut client = Client::that_can(&desk, Era::Legacy, can.clone());
        let asks = client.run(skill);
        assert_eq!(asks.status(), "awaiting_confirmation", "{skill}: {}", asks.text());
        let question = asks.ok()["question"].as_str().unwrap().to_owned();
        desk.aye(&["answer", &question, "proceed"]).ok();
        let id = json!({ "execution_id": asks.id(), "wait": 30 });
        let failed = client.call("skill_status", id.clone());
        assert_eq!(failed.status(), "error_recovery_needed", "{skill}: {}", failed.text());
        deployed.push_str("v1\n");
        let evil = json!({ "tag": "evil" });
        let step = failed.ok()["step"].as_str().unwrap().to_owned();
        client.answers = vec![json!({ "action": "accept", "content": { "choice": "proceed" } })];
        let asks = client.call("skill_retry_step", changed(&failed, &step, &evil));
        assert_eq!(asks.status(), "awaiting_confirmation", "{skill}: {}", asks.text());
        let message = asks.ok()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("tag: v1 -> evil"), "{skill}: {message}");
        client.call("skill_continue", said(&asks, "proceed")).refused();
        assert_eq!(desk.read("deployed"), deployed, "{skill}");
        // A person may.
        let question = asks.ok()["question"].as_str().unwrap().to_owned();
        desk.aye(&["answer", &question, "proceed"]).ok();
        let failed = client.call("skill_status", id);
        assert_eq!(failed.status(), "error_recovery_needed", "{skill}: {}", failed.text());
        deployed.push_str("evil\n");
        assert_eq!(desk.read("deployed"), deployed, "{skill}");
    }
}
