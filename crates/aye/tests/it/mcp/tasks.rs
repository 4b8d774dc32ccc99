//! Long calls as tasks, for clients that declare them.

use serde_json::{Value, json};

use crate::cli::harness::until;

use super::client::{Client, Desk, Era};

const LONG: &str = "
steps:
  - { name: wait, shell: 'until test -e go; do sleep 0.02; done' }
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, shell: touch went }";

fn desk() -> Desk {
    let desk = Desk::with(&[("long", LONG)]);
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
    assert_eq!(desk.decision()["through"], "elicited");
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
