//! Forms that a client shows: both eras, and clients that do not show them.

use serde_json::{Value, json};

use super::client::{Client, Era, Got, InboxView};

const GATE: &str = "
steps:
  - { name: sure, confirm: { message: 'Go now?', timeout: 1h } }
  - { name: go, shell: touch went }
  - { name: which, choose: { message: 'Which?', options: [red, green], timeout: 1h }, output: colour }
  - { name: paint, shell: 'touch {{ colour }}' }";

const HUMAN: &str = "
steps:
  - { name: sure, confirm: { message: 'Go now?', by: human, timeout: 1h } }
  - { name: go, shell: touch went }";

/// What a form offers beside the answers.
const LOOK: &str = "let the assistant look";

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn accept(choice: &str) -> Value {
    json!({ "action": "accept", "content": { "choice": choice } })
}

#[test]
fn a_person_is_asked_directly() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::that_can(&desk, Era::Legacy, forms());
    client.answers = vec![accept("proceed"), accept("green")];
    let done = client.run("go");
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert!(desk.work().join("green").exists());
    let form = &client.forms[0];
    let message = form["message"].as_str().unwrap();
    assert!(message.contains("Go now?"), "{form}");
    // A question without a title gets none.
    assert!(message.starts_with("go · sure\n"), "{message}");
    let schema = &form["requestedSchema"];
    assert_eq!(schema["required"], json!(["choice"]));
    assert_eq!(schema["properties"]["choice"]["enum"], json!(["proceed", "cancel", LOOK]));
    assert!(schema["properties"]["choice"].get("default").is_none(), "{schema}");
    assert_eq!(desk.decision()["prompter"], "elicited");
}

#[test]
fn what_nobody_saw_is_no_answer() {
    for answer in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "choice": "" } }),
        accept("maybe"),
    ] {
        let desk = InboxView::with(&[("go", GATE)]);
        let mut client = Client::that_can(&desk, Era::Legacy, forms());
        client.answers = vec![answer.clone()];
        let asks = client.run("go");
        assert_eq!(asks.status(), "awaiting_confirmation", "{answer}: {}", asks.text());
        assert!(asks.ok()["note"].is_string(), "{answer}: {}", asks.text());
        assert!(!desk.work().join("went").exists());
        // It can be relayed all the same.
        client.answers = vec![accept("red")];
        let said = json!({ "execution_id": asks.id(), "choice": "proceed" });
        assert_eq!(client.call("skill_continue", said).status(), "completed");
    }
}

#[test]
fn a_form_that_is_never_answered_falls_back_to_the_pause() {
    let desk = InboxView::with(&[("go", GATE)]);
    desk.write("aye.toml", "[mcp]\nform_timeout = \"1s\"\n");
    let mut client = Client::that_can(&desk, Era::Legacy, forms());
    let asks = client.run("go");
    assert_eq!(asks.status(), "awaiting_confirmation");
    assert!(asks.ok()["note"].as_str().unwrap().contains("not answered in time"));
    assert_eq!(client.forms.len(), 1);
}

#[test]
fn a_project_may_do_without_forms() {
    let desk = InboxView::with(&[("go", GATE)]);
    desk.write("aye.toml", "[mcp]\nforms = false\n");
    let mut client = Client::that_can(&desk, Era::Legacy, forms());
    assert_eq!(client.run("go").status(), "awaiting_confirmation");
    assert!(client.forms.is_empty());
}

/// Calls again with a form filled in, as a modern client does.
fn again(client: &mut Client, got: &Value, answer: &Value) -> Value {
    client.request(
        "tools/call",
        json!({
            "name": "skill_run", "arguments": { "skill": "go" },
            "requestState": got["result"]["requestState"],
            "inputResponses": { "answer": answer },
        }),
    )
}

fn first(client: &mut Client) -> Value {
    let got = client
        .request("tools/call", json!({ "name": "skill_run", "arguments": { "skill": "go" } }));
    assert_eq!(got["result"]["resultType"], "input_required", "{got}");
    let form = &got["result"]["inputRequests"]["answer"];
    assert_eq!(form["method"], "elicitation/create", "{got}");
    assert_eq!(form["params"]["requestedSchema"]["required"], json!(["choice"]));
    got
}

#[test]
fn a_modern_client_calls_again_with_the_answer() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::that_can(&desk, Era::Modern, forms());
    let asked = first(&mut client);
    let next = again(&mut client, &asked, &accept("proceed"));
    assert_eq!(next["result"]["resultType"], "input_required", "{next}");
    assert!(desk.work().join("went").exists());
    // What was used up cannot be used again, and begins nothing.
    let replayed = again(&mut client, &asked, &accept("proceed"));
    assert_eq!(replayed["result"]["isError"], true, "{replayed}");
    let done = again(&mut client, &next, &accept("red"));
    assert_eq!(done["result"]["structuredContent"]["status"], "completed", "{done}");
    assert_eq!(desk.decision()["prompter"], "elicited");
    assert_eq!(desk.aye(&["runs", "--json"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn a_form_is_good_for_the_call_it_came_with() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::that_can(&desk, Era::Modern, forms());
    let asked = first(&mut client);
    for (tool, arguments) in [
        ("skill_run", json!({ "skill": "go", "environment": "production" })),
        ("skill_status", json!({ "skill": "go" })),
        ("skill_list", json!({})),
    ] {
        let other = client.request(
            "tools/call",
            json!({
                "name": tool, "arguments": arguments,
                "requestState": asked["result"]["requestState"],
                "inputResponses": { "answer": accept("proceed") },
            }),
        );
        assert_eq!(other["result"]["isError"], true, "{tool}: {other}");
        assert!(!desk.work().join("went").exists());
    }
    assert_eq!(desk.aye(&["runs", "--json"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn a_modern_client_that_shows_nothing_gets_the_pause() {
    for answer in [json!({ "action": "decline" }), json!({ "action": "cancel" }), Value::Null] {
        let desk = InboxView::with(&[("go", GATE)]);
        let mut client = Client::that_can(&desk, Era::Modern, forms());
        let asked = first(&mut client);
        let got = again(&mut client, &asked, &answer);
        let got = Got { whole: got["result"].clone() };
        assert_eq!(got.status(), "awaiting_confirmation", "{answer}: {}", got.text());
        assert!(!desk.work().join("went").exists());
        assert_eq!(desk.aye(&["runs", "--json"]).json().as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_form_counts_as_a_person_only_where_the_user_says_so() {
    let desk = InboxView::with(&[("go", HUMAN)]);
    desk.write("../.config/aye/config.toml", "[mcp]\nelicited_is_person = true\n");
    let mut client = Client::that_can(&desk, Era::Legacy, forms());
    client.answers = vec![accept("proceed")];
    assert_eq!(client.run("go").status(), "completed");
    assert_eq!(desk.decision()["prompter"], "elicited");
    // A relayed word is still none.
    client.answers = vec![json!({ "action": "cancel" })];
    let asks = client.run("go");
    let said = json!({ "execution_id": asks.id(), "choice": "proceed" });
    client.call("skill_continue", said).refused();
}

/// The person remembers an answer in the form itself, about a failure too.
#[test]
fn a_form_that_counts_as_a_person_has_an_answer_remembered() {
    const FAILS: &str = "
steps:
  - name: push
    command: sh
    args: [-c, 'echo \"remote rejected the push\" >&2; exit 3']
    on_error: { ask: { remember: true } }
  - { name: sure, confirm: { message: 'Go now?', remember: true, timeout: 1h } }";
    let scopes = |form: &Value| form["requestedSchema"]["properties"]["remember"]["enum"].clone();
    let remember = |choice: &str, scope: &str| {
        let content = json!({ "choice": choice, "remember": scope });
        json!({ "action": "accept", "content": content })
    };
    // Where a form is not a person's word, it does not offer that, and takes none.
    let desk = InboxView::with(&[("go", FAILS)]);
    let mut client = Client::that_can(&desk, Era::Legacy, forms());
    let failed = client.run("go");
    let look = json!({ "execution_id": failed.id(), "advice": "skip it" });
    client.answers = vec![remember("skip", "step"), remember("proceed", "step")];
    client.call("skill_continue", look);
    assert!(!client.forms.is_empty() && client.forms.iter().all(|form| scopes(form).is_null()));
    let known = desk.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    assert_eq!(known["preferences"], json!([]), "{known}");

    let desk = InboxView::with(&[("go", FAILS)]);
    desk.write("../.config/aye/config.toml", "[mcp]\nelicited_is_person = true\n");
    let mut client = Client::that_can(&desk, Era::Legacy, forms());
    let failed = client.run("go");
    let look = json!({ "execution_id": failed.id(), "advice": "skip it" });
    client.answers = vec![remember("skip", "error"), remember("proceed", "skill")];
    let done = client.call("skill_continue", look);
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert_eq!(scopes(&client.forms[0]), json!(["error", "step", "skill", "always"]));
    assert_eq!(scopes(&client.forms[1]), json!(["step", "skill", "always"]));
    let covers = &client.forms[0]["requestedSchema"]["properties"]["remember"]["description"];
    assert!(covers.as_str().unwrap().contains("step: any error of this step"), "{covers}");
    let known = desk.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    let mut kept: Vec<&str> = known["preferences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["scope"].as_str().unwrap())
        .collect();
    kept.sort_unstable();
    assert_eq!(kept, ["error", "skill"], "{known}");
    // The next run asks nobody.
    let asked = client.forms.len();
    assert_eq!(client.run("go").status(), "completed");
    assert_eq!(client.forms.len(), asked, "{:?}", client.forms);
}

#[test]
fn what_a_server_of_a_step_asks_is_relayed_like_any_question() {
    let desk = InboxView::with(&[("go", "\nsteps:\n  - { name: call, tool: own.ask }")]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tools/asking.sh");
    let server = format!("['/bin/sh', '{script}', '2025', 'form.json', 'notes']");
    desk.write("aye.toml", &format!("[tools.own]\nserver = {server}\n"));
    let schema = json!({ "type": "object", "properties": { "ok": { "type": "boolean" } } });
    let form = json!({ "mode": "form", "message": "Sure?", "requestedSchema": schema });
    desk.write("form.json", &form.to_string());
    desk.aye(&["tools", "trust", "--yes"]).ok();
    let mut client = Client::new(&desk);
    let asks = client.run("go");
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
    assert!(asks.text().contains("The server `own` asks"), "{}", asks.text());
    let said = json!({ "execution_id": asks.id(), "choice": "no", "reason": "they said no" });
    let done = client.call("skill_continue", said);
    assert_eq!(done.status(), "completed", "{}", done.text());
    let told = desk.read("notes");
    assert!(told.contains(r#"{"action":"accept","content":{"ok":false}}"#), "{told}");
}

/// The key of a form does not outlive what made it one.
#[test]
fn a_client_that_shows_no_forms_has_none_to_give_back() {
    let desk = InboxView::with(&[("go", GATE)]);
    let asked = first(&mut Client::that_can(&desk, Era::Modern, forms()));
    let mut blind = Client::that_can(&desk, Era::Modern, json!({}));
    let got = again(&mut blind, &asked, &accept("proceed"));
    assert_eq!(got["result"]["isError"], true, "{got}");
    desk.write("aye.toml", "[mcp]\nforms = false\n");
    let mut client = Client::that_can(&desk, Era::Modern, forms());
    let got = again(&mut client, &asked, &accept("proceed"));
    assert_eq!(got["result"]["isError"], true, "{got}");
    assert!(!desk.work().join("went").exists());
}

/// The form of a failure comes once the assistant has looked, with its advice.
#[test]
fn the_form_of_a_failure_comes_with_skill_continue() {
    let failing = "
steps:
  - { name: check, shell: 'echo no tag >&2; exit 3', on_error: ask }
  - { name: after, shell: touch went }";
    for era in [Era::Legacy, Era::Modern] {
        let desk = InboxView::with(&[("go", failing)]);
        let mut client = Client::that_can(&desk, era, forms());
        client.answers = vec![accept("skip")];
        let failed = client.run("go");
        assert_eq!(failed.status(), "error_recovery_needed", "{}", failed.text());
        assert!(client.forms.is_empty(), "the assistant looks first");
        let arguments = json!({ "execution_id": failed.id(), "advice": "It can be left out." });
        let call = json!({ "name": "skill_continue", "arguments": arguments });
        let got = client.request("tools/call", call.clone());
        let (form, done) = match era {
            Era::Legacy => (client.forms[0].clone(), got),
            Era::Modern => {
                assert_eq!(got["result"]["resultType"], "input_required", "{got}");
                let form = got["result"]["inputRequests"]["answer"]["params"].clone();
                let mut again = call;
                again["requestState"] = got["result"]["requestState"].clone();
                again["inputResponses"] = json!({ "answer": accept("skip") });
                (form, client.request("tools/call", again))
            }
        };
        let message = form["message"].as_str().unwrap();
        assert!(
            message.contains("no tag") && message.contains("| It can be left out."),
            "{message}"
        );
        assert_eq!(done["result"]["structuredContent"]["status"], "completed", "{done}");
        assert!(desk.work().join("went").exists());
    }
}

/// A person who wants to hear the assistant first, with a client of 2026-07-28.
#[test]
fn a_modern_client_can_let_the_assistant_look() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::that_can(&desk, Era::Modern, forms());
    let asked = first(&mut client);
    let got = Got { whole: again(&mut client, &asked, &accept(LOOK))["result"].clone() };
    assert_eq!(got.status(), "awaiting_confirmation", "{}", got.text());
    assert!(
        got.ok()["note"].as_str().unwrap().contains("wants to hear you first"),
        "{}",
        got.text()
    );
    assert!(!desk.work().join("went").exists());
    let arguments = json!({ "execution_id": got.id(), "advice": "Go." });
    let form =
        client.request("tools/call", json!({ "name": "skill_continue", "arguments": arguments }));
    let params = &form["result"]["inputRequests"]["answer"]["params"];
    assert!(params["message"].as_str().unwrap().contains("| Go."), "{form}");
    let offered = &params["requestedSchema"]["properties"]["choice"]["enum"];
    assert_eq!(*offered, json!(["proceed", "cancel"]));
}

/// What a yes starts is said once, and a question for a text offers the assistant too.
#[test]
fn a_form_says_nothing_twice_and_a_text_can_wait_for_advice() {
    let skill = "
steps:
  - { name: sure, confirm: { message: 'Go now?', timeout: 1h } }
  - { name: act, command: echo, args: [once] }
  - { name: who, input: { message: Who?, timeout: 1h }, output: name }
  - { name: greet, shell: 'echo {{ name }} > greeted' }";
    let desk = InboxView::with(&[("go", skill)]);
    let mut client = Client::that_can(&desk, Era::Legacy, forms());
    client.answers = vec![accept("proceed"), accept(LOOK), accept("Ana")];
    let asks = client.run("go");
    let gate = client.forms[0]["message"].as_str().unwrap();
    assert_eq!(gate.matches("echo once").count(), 1, "{gate}");
    assert!(gate.contains("A yes covers:"), "{gate}");
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
    let field = &client.forms[1]["requestedSchema"]["properties"]["choice"];
    assert!(field["description"].as_str().unwrap().contains(LOOK), "{field}");
    assert!(asks.ok()["note"].as_str().unwrap().contains("wants to hear you first"));
    let looked = json!({ "execution_id": asks.id(), "advice": "Ana has time." });
    let done = client.call("skill_continue", looked);
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert!(client.forms[2]["requestedSchema"]["properties"]["choice"]["description"].is_null());
    assert_eq!(desk.read("greeted"), "Ana\n");
}

/// Who answers in a form reads what else decides, and what a yes is not for.
#[test]
fn a_form_lists_what_a_yes_covers_and_what_it_does_not() {
    let skill = "
steps:
  - name: act
    command: sh
    args: [deploy.sh]
    stdin: drop database customers
    confirmation: { message: 'Refresh the cache?', timeout: 1h }";
    let desk = InboxView::with(&[("go", skill)]);
    desk.write("deploy.sh", "cat > read.txt\n");
    let mut client = Client::that_can(&desk, Era::Legacy, forms());
    client.answers = vec![accept("proceed")];
    let done = client.run("go");
    assert_eq!(done.status(), "completed", "{}", done.text());
    let form = client.forms[0]["message"].as_str().unwrap();
    assert!(form.contains("| stdin: drop database customers\n"), "{form}");
    let not = "A yes does not cover:\n| files that `deploy.sh` reads, imports or starts\n";
    assert!(form.contains(not), "{form}");
}
