//! Long calls as tasks, for clients that declare them.

use serde_json::{Value, json};

use crate::cli::harness::until;

use super::client::{Client, Era, InboxView};

const LONG: &str = "
steps:
  - { name: wait, shell: 'until test -e go; do sleep 0.02; done' }
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, shell: touch went }";

fn desk() -> InboxView {
    let desk = InboxView::with(&[("long", LONG)]);
    desk.write("aye.toml", "[mcp]\npatience = \"1s\"\n");
    desk
}

fn with_tasks(forms: bool) -> Value {
    let mut can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    if forms {
        can["elicitation"] = json!({ "form": {} });
    }
    can
}

fn run(client: &mut Client) -> String {
    let call = json!({ "name": "skill_run", "arguments": { "skill": "long" } });
    let got = client.request("tools/call", call);
    assert_eq!(got["result"]["resultType"], "task", "{got}");
    assert_eq!(got["result"]["status"], "working", "{got}");
    got["result"]["taskId"].as_str().unwrap().to_owned()
}

fn get(client: &mut Client, task: &str) -> Value {
    client.request("tasks/get", json!({ "taskId": task }))["result"].clone()
}

#[track_caller]
fn becomes(client: &mut Client, task: &str, status: &str) -> Value {
    let mut last = Value::Null;
    until(status, || {
        last = get(client, task);
        last["status"] == status
    });
    last
}

#[test]
fn a_long_call_is_a_task_that_any_server_knows() {
    let desk = desk();
    let mut client = Client::that_can(&desk, Era::Modern, with_tasks(true));
    let task = run(&mut client);
    client.kill();
    let mut client = Client::that_can(&desk, Era::Modern, with_tasks(true));
    assert_eq!(get(&mut client, &task)["status"], "working");
    desk.write("go", "");
    let asks = becomes(&mut client, &task, "input_required");
    let (key, form) = asks["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(form["params"]["requestedSchema"]["required"], json!(["choice"]));
    let answer = json!({ "action": "accept", "content": { "choice": "proceed" } });
    let update = json!({ "taskId": task, "inputResponses": { key: answer } });
    let updated = client.request("tasks/update", update);
    assert!(updated.get("error").is_none(), "{updated}");
    let done = becomes(&mut client, &task, "completed");
    assert_eq!(done["result"]["structuredContent"]["status"], "completed", "{done}");
    assert!(desk.work().join("went").exists());
    assert_eq!(desk.decision()["prompter"], "elicited");
}

#[test]
fn a_task_whose_question_nobody_sees_ends_with_the_question() {
    for forms in [true, false] {
        let desk = desk();
        let mut client = Client::that_can(&desk, Era::Modern, with_tasks(forms));
        let task = run(&mut client);
        desk.write("go", "");
        if forms {
            let asks = becomes(&mut client, &task, "input_required");
            let key = asks["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
            let answers = json!({ key: { "action": "decline" } });
            client.request("tasks/update", json!({ "taskId": task, "inputResponses": answers }));
        }
        let done = becomes(&mut client, &task, "completed");
        let told = &done["result"]["structuredContent"];
        assert_eq!(told["status"], "awaiting_confirmation", "{done}");
        assert!(!desk.work().join("went").exists());
    }
}

#[test]
fn cancelling_a_task_stops_the_run() {
    let desk = desk();
    let mut client = Client::that_can(&desk, Era::Modern, with_tasks(false));
    let task = run(&mut client);
    client.request("tasks/cancel", json!({ "taskId": task }));
    becomes(&mut client, &task, "cancelled");
    assert_eq!(desk.status(), "cancelled");
    let unknown = client.request("tasks/get", json!({ "taskId": "nonsense" }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn a_client_without_tasks_gets_none() {
    let desk = desk();
    let mut client = Client::that_can(&desk, Era::Modern, json!({}));
    let runs = client.run("long");
    assert_eq!(runs.status(), "running");
    let got = client.request("tasks/get", json!({ "taskId": runs.id() }));
    assert!(got["error"]["code"].is_i64(), "{got}");
}

fn fill_in(client: &mut Client, task: &str, key: &str, choice: &str) -> Value {
    let answer = json!({ "action": "accept", "content": { "choice": choice } });
    client.request("tasks/update", json!({ "taskId": task, "inputResponses": { key: answer } }))
}

fn form_key(asks: &Value) -> String {
    asks["inputRequests"].as_object().unwrap().keys().next().unwrap().clone()
}

/// The execution id, which the model holds, is not the key of a form.
#[test]
fn a_form_that_was_never_sent_has_no_answer() {
    const FAILS: &str = "
steps:
  - { name: check, shell: 'exit 1', on_error: ask }
  - { name: delete, shell: touch deleted }";
    for era in [Era::Legacy, Era::Modern] {
        for (forms, settings) in [(false, ""), (true, "[mcp]\nforms = false\n"), (true, "")] {
            let about = format!("{era:?} {forms} {settings:?}");
            let desk = InboxView::with(&[("delete", FAILS)]);
            desk.write("aye.toml", settings);
            let failed = Client::that_can(&desk, era, with_tasks(false)).run("delete");
            let mut client = Client::that_can(&desk, era, with_tasks(forms));
            let id = failed.id();
            let got = fill_in(&mut client, &id, &id, "skip");
            assert_eq!(got["error"]["code"], -32602, "{about}: {got}");
            assert!(!desk.work().join("deleted").exists(), "{about}");
            // A changed script waits for a person as well.
            let script = json!({ "script": "touch deleted" });
            let change = json!({ "execution_id": id, "step": "check", "args": script });
            let mut plain = Client::that_can(&desk, era, with_tasks(false));
            let asks = plain.call("skill_retry_step", change);
            assert_eq!(asks.status(), "awaiting_confirmation", "{about}: {}", asks.text());
            let id = asks.id();
            let got = fill_in(&mut client, &id, &id, "proceed");
            assert_eq!(got["error"]["code"], -32602, "{about}: {got}");
            let told = plain.call("skill_status", json!({ "execution_id": id }));
            assert_eq!(told.status(), "awaiting_confirmation", "{about}: {}", told.text());
            assert!(!desk.work().join("deleted").exists(), "{about}");
        }
    }
}

#[test]
fn a_form_of_a_task_is_one_form_and_good_for_this_task_and_client_only() {
    let desk = desk();
    let mut client = Client::that_can(&desk, Era::Modern, with_tasks(true));
    let task = run(&mut client);
    let other = run(&mut client);
    desk.write("go", "");
    let asks = becomes(&mut client, &task, "input_required");
    let key = form_key(&asks);
    // However often a client asks, it is one form.
    assert_eq!(form_key(&get(&mut client, &task)), key);
    becomes(&mut client, &other, "input_required");
    let got = fill_in(&mut client, &other, &key, "proceed");
    assert_eq!(got["error"]["code"], -32602, "{got}");
    // It is the key of no call, and no execution id.
    let call = json!({
        "name": "skill_run", "arguments": { "skill": "long" }, "requestState": key,
        "inputResponses": { "answer": { "action": "accept", "content": { "choice": "proceed" } } },
    });
    let got = client.request("tools/call", call);
    assert_eq!(got["result"]["isError"], true, "{got}");
    client.call("skill_continue", json!({ "execution_id": key, "choice": "proceed" })).refused();
    // A client that shows no forms has none to give back.
    let mut blind = Client::that_can(&desk, Era::Modern, with_tasks(false));
    let got = fill_in(&mut blind, &task, &key, "proceed");
    assert_eq!(got["error"]["code"], -32602, "{got}");
    assert!(!desk.work().join("went").exists());
    // A form that was put away is not filled in later.
    let declined = json!({ "taskId": task, "inputResponses": { &key: { "action": "decline" } } });
    let got = client.request("tasks/update", declined);
    assert!(got.get("error").is_none(), "{got}");
    let got = fill_in(&mut client, &task, &key, "proceed");
    assert_eq!(got["error"]["code"], -32602, "{got}");
    assert!(!desk.work().join("went").exists());
}

/// What the assistant is to see first has no form: the task ends with it, and the form comes
/// with `skill_continue`.
#[test]
fn a_task_gives_failures_and_wanted_advice_to_the_assistant_first() {
    const WAIT: &str = "
steps:
  - { name: wait, shell: 'until test -e go; do sleep 0.02; done' }";
    let wanted = format!(
        "{WAIT}
  - {{ name: sure, confirm: {{ message: Go?, ai_assist: true, timeout: 1h }} }}"
    );
    let fails = format!("{WAIT}\n  - {{ name: check, shell: 'exit 1', on_error: ask }}");
    for (steps, status) in [(&wanted, "awaiting_confirmation"), (&fails, "error_recovery_needed")] {
        let desk = InboxView::with(&[("long", steps.as_str())]);
        desk.write("aye.toml", "[mcp]\npatience = \"1s\"\n");
        let mut client = Client::that_can(&desk, Era::Modern, with_tasks(true));
        let task = run(&mut client);
        desk.write("go", "");
        let mut told = Value::Null;
        until("the question", || {
            told = get(&mut client, &task);
            assert!(told.get("inputRequests").is_none(), "no form before it has looked: {told}");
            told["status"] == "completed"
        });
        let told = &told["result"]["structuredContent"];
        assert_eq!((&told["status"], &told["advice_wanted"]), (&json!(status), &json!(true)));
        let looked = json!({ "execution_id": told["execution_id"], "advice": "Look here." });
        let call = json!({ "name": "skill_continue", "arguments": looked });
        let form = client.request("tools/call", call)["result"].clone();
        let asked = &form["inputRequests"]["answer"]["params"]["message"];
        assert!(asked.as_str().is_some_and(|text| text.contains("| Look here.")), "{form}");
    }
}
