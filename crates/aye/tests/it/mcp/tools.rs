//! The tools as clients see them.

use serde_json::{Value, json};

use super::client::{Client, Era, InboxView};

const GATE: &str = "
description: Deploys
inputs:
  - { name: branch, type: string, default: main }
steps:
  - { name: look, shell: echo seen, output: looked }
  - name: sure
    confirm: { message: 'Deploy {{ inputs.branch }}, {{ looked }}?', ai_assist: true, timeout: 1h }
  - { name: deploy, shell: touch deployed }
outputs:
  - { name: said, value: 'deployed {{ inputs.branch }}' }";

#[test]
fn every_tool_says_what_it_takes_gives_and_does() {
    let desk = InboxView::with(&[]);
    for era in [Era::Legacy, Era::Modern] {
        let mut client = Client::that_can(&desk, era, json!({}));
        let list = client.request("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 19, "{list}");
        // An estimate on the safe side: of 11,000 characters o200k makes 2,570 tokens, cl100k
        // 2,495, Anthropic's published tokenizer 2,624. `mcp_peers::tokens` counts with them.
        let size = list["result"]["tools"].to_string().len();
        assert!(size * 10 / 37 <= 3000, "{size} characters are more than 3,000 tokens");
        for tool in tools {
            let name = tool["name"].as_str().unwrap();
            assert!(tool["description"].as_str().unwrap().len() >= 20, "{name}");
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{name} {schema}");
                assert!(!tool[schema].to_string().contains("null"), "{name} {schema}");
            }
            let hints = &tool["annotations"];
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(hints[hint].is_boolean(), "{name} {hint}");
            }
            let acts = ["skill_run", "skill_continue", "skill_retry_step", "skill_cancel"];
            let adds = ["learn_tool_fix", "skill_advise", "skill_change", "tool_try"];
            let expected = (acts.contains(&name), !acts.contains(&name) && !adds.contains(&name));
            let found = (hints["destructiveHint"] == true, hints["readOnlyHint"] == true);
            assert_eq!(found, expected, "{name}");
        }
    }
}

/// As much of JSON Schema as the server's own schemas use.
fn fits(value: &Value, schema: &Value, at: &str) {
    let is = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        None => true,
        other => panic!("{at}: a type that is not expected: {other:?}"),
    };
    assert!(is, "{at}: {value} is no {}", schema["type"]);
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{at}: {name} is missing in {value}");
    }
    if let (Some(all), Some(map)) = (schema["properties"].as_object(), value.as_object()) {
        for (name, value) in map {
            if let Some(schema) = all.get(name) {
                fits(value, schema, &format!("{at}.{name}"));
            }
        }
    }
    for item in value.as_array().into_iter().flatten() {
        fits(item, &schema["items"], &format!("{at}[]"));
    }
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{at}: {value}");
    }
}

#[test]
fn what_tools_give_is_what_they_say_they_give() {
    let desk = InboxView::with(&[
        ("gate", GATE),
        ("bad", "steps:\n  - { name: boom, command: sh, args: [-c, 'echo no >&2; exit 3'] }"),
    ]);
    let mut client = Client::new(&desk);
    let list = client.request("tools/list", json!({}));
    let schema = |name: &str| {
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.into_iter().find(|tool| tool["name"] == name).unwrap()["outputSchema"].clone()
    };
    let mut check = |name: &str, arguments: Value| {
        let got = client.call(name, arguments);
        assert!(!got.text().is_empty(), "{name} says nothing");
        fits(&got.ok(), &schema(name), name);
        got
    };
    check("skill_list", json!({}));
    check("skill_describe", json!({ "skill": "gate" }));
    let planned = check("skill_run", json!({ "skill": "gate", "dry_run": true }));
    assert_eq!(planned.status(), "planned");
    let asks = check("skill_run", json!({ "skill": "gate", "environment": "stage" }));
    let id = json!({ "execution_id": asks.id() });
    for tool in ["skill_status", "skill_logs", "debug_tool"] {
        check(tool, id.clone());
    }
    check("inbox", json!({}));
    check("run_list", json!({}));
    check("skill_advise", json!({ "execution_id": asks.id(), "advice": "go" }));
    let done = check("skill_continue", json!({ "execution_id": asks.id(), "choice": "proceed" }));
    assert_eq!(done.ok()["outputs"]["said"], "deployed main");
    let failed = check("skill_run", json!({ "skill": "bad" }));
    check("skill_retry_step", json!({ "execution_id": failed.id(), "step": "boom" }));
    check("skill_cancel", json!({ "execution_id": failed.id(), "reason": "enough" }));
    let learned = check(
        "learn_tool_fix",
        json!({ "tool": "sh", "error": "no such flag", "args": { "2": "true" }, "about": "x" }),
    );
    check("check_known_issues", json!({ "tool": "sh", "error": "no such flag" }));
    check("memory_read", json!({ "id": learned.ok()["id"] }));
    for kind in ["issues", "fixes", "preferences", "usage", "failures"] {
        check("memory_query", json!({ "kind": kind }));
    }
    check("memory_stats", json!({}));
}

#[test]
fn what_cannot_be_understood_is_an_error_the_model_reads() {
    let desk = InboxView::with(&[("gate", GATE), ("broken", "stepz: []")]);
    let mut client = Client::new(&desk);
    let unknown = client.request("tools/call", json!({ "name": "approve", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for (tool, arguments, said) in [
        ("skill_run", json!({}), "missing field `skill`"),
        ("skill_run", json!({ "skill": "gate", "yes": true }), "unknown field `yes`"),
        ("skill_run", json!({ "skill": "gat" }), "did you mean `gate`"),
        ("skill_run", json!({ "skill": "gate", "inputs": { "brnch": 1 } }), "brnch"),
        ("skill_run", json!({ "skill": "broken" }), "stepz"),
        ("skill_describe", json!({ "skill": "../../etc/passwd" }), "no skill"),
        ("memory_read", json!({ "id": "fix-0" }), "memory has no `fix-0`"),
    ] {
        let refused = client.call(tool, arguments).refused();
        assert!(refused.contains(said), "{tool}: {refused}");
    }
    assert_eq!(desk.aye(&["runs", "--json"]).stdout.trim(), "[]");
}

#[test]
fn steps_that_need_a_terminal_are_refused_before_anything_runs() {
    let desk = InboxView::with(&[
        ("inner", "steps:\n  - { name: edit, command: vi, interactive: true }"),
        (
            "outer",
            "steps:\n  - { name: first, shell: touch ran }\n  - { name: call, skill: inner }",
        ),
        (
            "each",
            "steps:\n  - name: all\n    foreach: [1]\n    steps:\n      - { name: edit, command: vi, interactive: true }",
        ),
    ]);
    let mut client = Client::new(&desk);
    for skill in ["inner", "outer", "each"] {
        let refused = client.run(skill).refused();
        assert!(refused.contains("`edit` is interactive"), "{skill}: {refused}");
        assert!(refused.contains(&format!("aye run {skill}")), "{skill}: {refused}");
    }
    assert!(!desk.work().join("ran").exists());
}
