//! Everything that the server says, in a repository and a journal whose every
//! text is hostile: nothing that comes out steers a terminal or hides.

use std::collections::BTreeSet;
use std::ffi::OsString;

use aye_core::diagnostic::is_hidden;
use serde_json::{Value, json};

use super::client::{Client, Era};
use crate::cli::printing::{HOSTILE, Repository};

/// What is wrong with a message: every text and every name of a field counts.
fn faults(value: &Value, at: &str, found: &mut Vec<String>) {
    let look = |text: &str| {
        let bad = text.contains(|c: char| c != '\n' && is_hidden(c));
        bad.then(|| format!("a hidden character at {at}: {text:?}"))
    };
    match value {
        Value::String(text) => found.extend(look(text)),
        Value::Array(items) => items.iter().for_each(|item| faults(item, at, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                found.extend(look(name));
                faults(value, &format!("{at}/{name}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What the model reads: no line of it begins as the text of others wants.
fn forged(message: &Value) -> Option<String> {
    let parts = message["result"]["content"].as_array().into_iter().flatten();
    let texts = parts
        .chain([&message["params"]])
        .filter_map(|part| part["text"].as_str().or_else(|| part["message"].as_str()));
    let mut lines = texts.flat_map(str::lines);
    lines.find(|line| line.starts_with("FORGED")).map(str::to_owned)
}

/// How each tool is called, with what is there and what is not; `id` is a run's.
fn calls(tool: &str, id: &str) -> Option<Vec<Value>> {
    let h = HOSTILE;
    let mut calls = match tool {
        "skill_list" | "inbox" | "memory_stats" => vec![json!({})],
        "skill_describe" => {
            ["good", "asking", "failing", "raw", h].map(|skill| json!({ "skill": skill })).to_vec()
        }
        "skill_run" => vec![
            json!({ "skill": "good", "inputs": { "who": h } }),
            json!({ "skill": "good", "inputs": { "who": h }, "dry_run": true }),
            json!({ "skill": "good", "inputs": { h: h } }),
            json!({ "skill": "good", "environment": h }),
            json!({ "skill": "failing" }),
            json!({ "skill": "raw" }),
            json!({ "skill": h }),
        ],
        "skill_status" => vec![json!({ "execution_id": id }), json!({ "execution_id": h })],
        "skill_continue" => vec![
            json!({ "execution_id": id, "choice": h, "reason": h }),
            json!({ "execution_id": h, "choice": h }),
        ],
        "skill_retry_step" => vec![
            json!({ "execution_id": id, "step": h, "reason": h }),
            json!({ "execution_id": id, "step": "gate", "args": { h: h }, "mode": h }),
        ],
        "skill_advise" => vec![
            json!({ "execution_id": id, "advice": h }),
            json!({ "execution_id": id, "advice": h, "suggestion": h }),
        ],
        "skill_change" => vec![
            json!({ "skill": "asking", "old": "asking", "new": h, "about": h }),
            json!({ "skill": h, "old": h, "new": h, "about": h }),
        ],
        "tool_try" => vec![json!({ "tool": h, "args": { h: h } })],
        "run_list" => vec![json!({}), json!({ "skill": h, "status": h })],
        "skill_cancel" => vec![json!({ "execution_id": h, "reason": h })],
        "skill_logs" | "debug_tool" => vec![
            json!({ "execution_id": id }),
            json!({ "execution_id": id, "step": h }),
            json!({ "execution_id": h }),
        ],
        "check_known_issues" => {
            vec![json!({ "tool": h, "error": h }), json!({ "tool": "sh", "error": "some error" })]
        }
        "learn_tool_fix" => vec![
            json!({ "tool": h, "error": h, "args": { h: h }, "about": h }),
            json!({ "tool": "sh", "error": h, "args": { "x": h }, "about": h, "skill": h, "step": h }),
        ],
        "memory_read" => vec![json!({ "id": h })],
        "memory_query" => vec![
            json!({ "kind": "issues" }),
            json!({ "kind": "fixes" }),
            json!({ "kind": h }),
            json!({ "kind": "issues", "text": h }),
        ],
        _ => return None,
    };
    calls.push(json!({ h: h }));
    Some(calls)
}

fn names(client: &mut Client, method: &str, list: &str, field: &str) -> Vec<String> {
    let listed = client.request(method, json!({}));
    let all = listed["result"][list].as_array().unwrap_or_else(|| panic!("{listed}"));
    all.iter().map(|one| one[field].as_str().unwrap().to_owned()).collect()
}

fn everything(client: &mut Client, repository: &Repository) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut note = |what: &str, got: &Value| {
        if got.to_string().contains(r"\\u{202e}") {
            reached.insert(what.to_owned());
        }
    };
    let asks = client
        .request("tools/call", json!({ "name": "skill_run", "arguments": { "skill": "asking" } }));
    note("a question", &asks);
    let inbox = client.call("inbox", json!({}));
    let id = inbox.ok()["questions"][0]["execution_id"].as_str().unwrap().to_owned();
    // The texts of the tables are hostile from here on; those of the events were.
    repository.forge(&[]);
    for tool in names(client, "tools/list", "tools", "name") {
        let calls = calls(&tool, &id).unwrap_or_else(|| panic!("`{tool}` is not called: add it"));
        for arguments in calls {
            let got = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
            note(&tool, &got);
        }
    }
    client.request("tools/call", json!({ "name": HOSTILE, "arguments": {} }));
    let mut addresses = names(client, "resources/list", "resources", "uri");
    assert!(addresses.iter().any(|uri| uri.starts_with("aye://runs/")), "{addresses:?}");
    addresses.extend(["aye://skills/%1b%5b2J", "aye://runs/x", HOSTILE].map(str::to_owned));
    addresses.push(format!("aye://skills/{HOSTILE}"));
    for uri in addresses {
        let got = client.request("resources/read", json!({ "uri": uri }));
        note("resources/read", &got);
        client.request("resources/subscribe", json!({ "uri": uri }));
        client.request("resources/unsubscribe", json!({ "uri": uri }));
    }
    names(client, "resources/templates/list", "resourceTemplates", "name");
    let mut prompts = names(client, "prompts/list", "prompts", "name");
    prompts.push(HOSTILE.to_owned());
    for name in prompts {
        let given = json!({ "skill": HOSTILE, "goal": HOSTILE, "execution_id": HOSTILE });
        let got = client.request("prompts/get", json!({ "name": name, "arguments": given }));
        note("prompts/get", &got);
        client.request("prompts/get", json!({ "name": name, "arguments": { HOSTILE: HOSTILE } }));
        for (argument, value) in [("skill", ""), ("execution_id", ""), (HOSTILE, HOSTILE)] {
            let about = json!({ "type": "ref/prompt", "name": name });
            let argument = json!({ "name": argument, "value": value });
            client.request("completion/complete", json!({ "ref": about, "argument": argument }));
        }
    }
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": HOSTILE, "inputResponses": { HOSTILE: HOSTILE } });
        client.request(method, params);
        let params = json!({ "taskId": id, "inputResponses": { HOSTILE: HOSTILE } });
        if method != "tasks/cancel" {
            client.request(method, params);
        }
    }
    client.request(HOSTILE, json!({ HOSTILE: HOSTILE }));
    client.request("tools/call", json!({ "name": 7, HOSTILE: HOSTILE }));
    reached
}

#[test]
fn no_message_holds_what_steers_a_terminal() {
    let can = json!({
        "elicitation": { "form": {} },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    for era in [Era::Legacy, Era::Modern] {
        let repository = Repository::new();
        repository.learn();
        let command = repository.command(&[OsString::from("mcp")]);
        let mut client = Client::of(command, era, can.clone(), HOSTILE);
        client.answers = vec![json!({ "action": "cancel" }); 100];
        let reached = everything(&mut client, &repository);
        repository.cancel_all();
        let mut wrong = Vec::new();
        for line in &client.heard {
            let message: Value = serde_json::from_str(line).expect("every line is a message");
            faults(&message, "", &mut wrong);
            wrong.extend(forged(&message).map(|line| format!("a line of its own: {line:?}")));
        }
        assert!(wrong.is_empty(), "{era:?}: {} faults:\n{}", wrong.len(), wrong.join("\n"));
        // The texts did come that far, and were written out.
        for what in [
            "a question",
            "skill_list",
            "skill_describe",
            "skill_run",
            "skill_status",
            "inbox",
            "memory_query",
            "check_known_issues",
            "skill_logs",
            "debug_tool",
            "resources/read",
            "prompts/get",
        ] {
            assert!(reached.contains(what), "{era:?}: {what} said nothing hostile: {reached:?}");
        }
    }
}
