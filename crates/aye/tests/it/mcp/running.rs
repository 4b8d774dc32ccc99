//! Runs over the protocol: started, paused, continued, tried again, stopped.

use serde_json::json;

use crate::cli::harness::until;

use super::client::{Client, Era, InboxView};

const GATE: &str = "
inputs:
  - { name: branch, type: string, default: main }
steps:
  - { name: look, shell: 'echo seen', output: looked }
  - { name: hidden, shell: 'echo nobody asked', output: other }
  - name: sure
    confirm:
      title: Deployment
      message: 'Deploy {{ inputs.branch }}, {{ looked }}?'
      ai_assist: true
      timeout: 1h
      options:
        - { label: Go, value: go, description: Deploys it }
        - { label: Stop, value: stop, action: cancel }
  - { name: deploy, shell: touch deployed }";

#[test]
fn a_run_pauses_tells_what_it_asks_and_goes_on() {
    let desk = InboxView::with(&[("gate", GATE)]);
    for era in [Era::Legacy, Era::Modern] {
        let mut client = Client::that_can(&desk, era, json!({}));
        let asks = client.run("gate");
        let told = asks.ok();
        assert_eq!(told["status"], "awaiting_confirmation");
        assert_eq!((&told["skill"], &told["step"]), (&json!("gate"), &json!("sure")));
        assert_eq!(told["message"], "Deploy main, seen?");
        assert_eq!(told["options"][0]["value"], "go");
        assert_eq!(told["options"][1]["action"], "cancel");
        // What the question names, and nothing else.
        assert_eq!(told["variables"], json!({ "inputs.branch": "main", "looked": "seen" }));
        assert_eq!(told["recent_steps"].as_array().unwrap().len(), 2);
        assert_eq!(
            told["defined"],
            json!({ "file": "skills/gate.yaml", "line": 8, "end_line": 16 })
        );
        assert_eq!(told["advice_wanted"], true);
        let next = &told["next"][0];
        assert_eq!(next["tool"], "skill_continue");
        assert_eq!(next["arguments"]["execution_id"], told["execution_id"]);
        assert!(asks.text().contains(&asks.id()), "{}", asks.text());
        assert!(told["expires_at"].as_str().unwrap().ends_with('Z'));
        assert!(client.progress.contains(&"step look started".to_owned()), "{:?}", client.progress);
        client.progress.clear();

        let word = json!({ "execution_id": asks.id(), "choice": "go", "reason": "she said so" });
        assert_eq!(client.call("skill_continue", word).status(), "completed");
        let told = client.progress.join("\n");
        assert!(told.contains("step deploy completed") && !told.contains("look"), "{told}");
        assert!(desk.work().join("deployed").exists());
        let decision = desk.decision();
        assert_eq!(decision["prompter"], "assistant", "{decision}");
        assert_eq!(decision["reason"], "she said so");
        assert!(decision["by"].as_str().unwrap().starts_with("test-client for "), "{decision}");
        std::fs::remove_file(desk.work().join("deployed")).unwrap();
        assert_eq!(client.close(), Some(0));
    }
}

#[test]
fn saying_no_is_relayed_too() {
    let desk = InboxView::with(&[("gate", GATE)]);
    let mut client = Client::new(&desk);
    let asks = client.run("gate");
    let said = json!({ "execution_id": asks.id(), "choice": "stop" });
    assert_eq!(client.call("skill_continue", said).status(), "cancelled");
    assert!(!desk.work().join("deployed").exists());
}

#[test]
fn a_failing_step_asks_and_is_tried_again_with_changes() {
    let desk = InboxView::with(&[(
        "push",
        "
steps:
  - { name: push, command: sh, args: [-c, 'echo denied >&2; exit 3'] }
  - { name: after, shell: touch pushed }",
    )]);
    desk.write(
        ".aye/memory/learned/patterns.yaml",
        "issues:\n  - { pattern: denied, tools: [sh], meaning: no right, fix: ask for one }\n",
    );
    let mut client = Client::new(&desk);
    let asks = client.run("push");
    let told = asks.ok();
    assert_eq!(told["status"], "error_recovery_needed");
    assert!(told["error"].as_str().unwrap().contains("denied"), "{told}");
    assert_eq!(told["args"], json!({ "0": "sh", "1": "-c", "2": "echo denied >&2; exit 3" }));
    let issue = told["known_issues"][0]["text"].as_str().unwrap();
    assert!(issue.contains("ask for one"), "{issue}");
    assert!(asks.text().contains("memory (data, not instructions)"), "{}", asks.text());

    let source = client.call("debug_tool", json!({ "execution_id": asks.id() })).ok();
    assert_eq!((&source["file"], &source["line"]), (&json!("skills/push.yaml"), &json!(4)));
    assert!(source["source"].as_str().unwrap().contains("name: push"), "{source}");
    let logs = client.call("skill_logs", json!({ "execution_id": asks.id() })).ok();
    assert_eq!(logs["logs"][0]["lines"], json!(["denied"]));

    // Not another step, and not with what cannot be changed.
    let elsewhere =
        json!({ "execution_id": asks.id(), "step": "after", "args": { "script": "x" } });
    assert!(client.call("skill_retry_step", elsewhere).refused().contains("step `after`"));
    let odd = json!({ "execution_id": asks.id(), "step": "push", "args": { "flag": "x" } });
    assert!(client.call("skill_retry_step", odd).refused().contains("not an argument of `push`"));

    let fixed = json!({ "execution_id": asks.id(), "step": "push", "args": { "2": "echo ok" } });
    // What an assistant writes is not run before a person has seen it.
    let asked = client.call("skill_retry_step", fixed);
    assert_eq!(asked.status(), "awaiting_confirmation", "{}", asked.text());
    assert_eq!(asked.ok()["relayable"], false, "{}", asked.text());
    assert!(!desk.work().join("pushed").exists());
    person(&desk, "proceed");
    let wait = json!({ "execution_id": asked.id(), "wait": 45 });
    assert_eq!(client.call("skill_status", wait).status(), "completed");
    assert!(desk.work().join("pushed").exists());
}

/// Anyone who looks into the inbox answers what is there.
fn person(desk: &InboxView, choice: &str) {
    let inbox = desk.aye(&["inbox", "--json"]).ok().json();
    desk.aye(&["answer", inbox[0]["question"].as_str().unwrap(), choice]).ok();
}

#[test]
fn changed_arguments_void_what_was_approved() {
    let desk = InboxView::with(&[(
        "push",
        "
steps:
  - name: push
    command: sh
    args: [-c, 'exit 3']
    confirmation: { message: 'Push?', timeout: 1h }",
    )]);
    let mut client = Client::new(&desk);
    let asks = client.run("push");
    let failed =
        client.call("skill_continue", json!({ "execution_id": asks.id(), "choice": "proceed" }));
    assert_eq!(failed.status(), "error_recovery_needed", "{}", failed.text());
    // It was anybody's word before; what becomes of a gated step takes a person's.
    let changed = json!({ "execution_id": failed.id(), "step": "push", "args": { "2": "exit 0" } });
    client.call("skill_retry_step", changed).refused();
    let question = failed.ok()["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &question, "edit", "--set", "2=exit 0"]).ok();
    let wait = json!({ "execution_id": failed.id(), "wait": 45 });
    let again = client.call("skill_status", wait);
    assert_eq!(again.status(), "awaiting_confirmation", "{}", again.text());
    assert!(again.ok()["command"].as_str().unwrap().contains("exit 0"), "{}", again.text());
    let said = json!({ "execution_id": again.id(), "choice": "proceed" });
    assert_eq!(client.call("skill_continue", said).status(), "completed");
}

#[test]
fn a_block_that_fails_is_told_apart() {
    let desk = InboxView::with(&[(
        "block",
        "
steps:
  - { name: first, compute: 'result = 1', output: one }
  - { name: sum, compute: 'result = {\"a\": one}[\"b\"]' }",
    )]);
    let mut client = Client::new(&desk);
    let asks = client.run("block");
    let told = asks.ok();
    assert_eq!(told["status"], "compute_error");
    assert!(told["error"].as_str().unwrap().contains("KeyError"), "{told}");
    assert_eq!(told["variables"], json!({ "one": 1 }));
    let fixed =
        json!({ "execution_id": asks.id(), "step": "sum", "args": { "code": "result = 2" } });
    let asked = client.call("skill_retry_step", fixed);
    assert_eq!(asked.status(), "awaiting_confirmation", "{}", asked.text());
    person(&desk, "proceed");
    let wait = json!({ "execution_id": asked.id(), "wait": 45 });
    assert_eq!(client.call("skill_status", wait).status(), "completed");
}

#[test]
fn a_long_run_goes_on_in_the_background() {
    let desk = InboxView::with(&[(
        "long",
        "steps:\n  - { name: wait, shell: 'until test -e go; do sleep 0.02; done; echo went' }",
    )]);
    desk.write("aye.toml", "[mcp]\npatience = \"1s\"\n");
    let mut client = Client::new(&desk);
    let runs = client.run("long");
    assert_eq!(runs.status(), "running");
    assert_eq!(runs.ok()["next"][0]["tool"], "skill_status");
    let id = json!({ "execution_id": runs.id() });
    assert_eq!(client.call("skill_status", id).status(), "running");
    desk.write("go", "");
    let mut last = runs;
    until("completed", || {
        let id = json!({ "execution_id": last.id(), "wait": 30 });
        last = client.call("skill_status", id);
        last.status() == "completed"
    });
}

#[test]
fn cancelling_the_request_stops_the_run_in_order() {
    let desk = InboxView::with(&[(
        "long",
        "
initial: work
states:
  work:
    shell: 'touch begun; sleep 1000'
    transitions: { success: done, cancelled: tidy }
  tidy: { shell: touch tidied, transitions: { success: done } }
  done: { type: final }",
    )]);
    let mut client = Client::new(&desk);
    let id =
        client.post("tools/call", json!({ "name": "skill_run", "arguments": { "skill": "long" } }));
    until("it has begun", || desk.work().join("begun").exists());
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
    }));
    until("it has ended", || desk.status() == "cancelled");
    assert!(desk.work().join("tidied").exists());
}

#[test]
fn stopping_a_run_is_a_call() {
    let desk = InboxView::with(&[("gate", GATE)]);
    let mut client = Client::new(&desk);
    let asks = client.run("gate");
    let stop = json!({ "execution_id": asks.id(), "reason": "changed my mind" });
    let stopped = client.call("skill_cancel", stop.clone());
    assert_eq!(stopped.status(), "cancelled");
    assert!(stopped.ok()["message"].as_str().unwrap().contains("changed my mind"));
    assert!(client.call("skill_cancel", stop).ok()["note"].as_str().unwrap().contains("already"));
}

#[test]
fn questions_inside_a_list_are_answered_one_after_the_other() {
    let desk = InboxView::with(&[(
        "each",
        "
steps:
  - name: hosts
    foreach: [a, b]
    as: host
    parallel: 2
    steps:
      - { name: ok, confirm: { message: 'Restart {{ host }}?', timeout: 1h } }
      - { name: restart, shell: 'touch {{ host }}' }",
    )]);
    let mut client = Client::new(&desk);
    let mut asks = client.run("each");
    let mut messages = Vec::new();
    for _ in 0..2 {
        let told = asks.ok();
        messages.push(told["message"].as_str().unwrap().to_owned());
        assert_eq!(told["defined"]["line"], 9, "{told}");
        let said = json!({ "execution_id": asks.id(), "choice": "proceed" });
        asks = client.call("skill_continue", said);
    }
    assert_eq!(asks.status(), "completed");
    messages.sort();
    assert_eq!(messages, ["Restart a?", "Restart b?"]);
    assert!(desk.work().join("a").exists() && desk.work().join("b").exists());
}

#[test]
fn what_is_no_message_does_not_end_the_server() {
    let desk = InboxView::with(&[("gate", GATE)]);
    let mut client = Client::new(&desk);
    for noise in
        ["", "nonsense", "{", "[]", "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\",\"id\":\"x\"}"]
    {
        client.send_line(noise);
    }
    assert_eq!(client.run("gate").status(), "awaiting_confirmation");
}

#[test]
fn another_project_can_be_served() {
    let desk = InboxView::with(&[]);
    desk.write(
        "elsewhere/skills/here.yaml",
        "name: here\nsteps:\n  - { name: a, shell: touch made }\n",
    );
    desk.write("elsewhere/aye.toml", "");
    desk.aye(&["trust", "elsewhere", "--yes"]).ok();
    let can = json!({});
    let mut client = Client::called(&desk, &["mcp", "--workspace", "elsewhere"], Era::Legacy, can);
    assert_eq!(client.run("here").status(), "completed");
    assert!(desk.work().join("elsewhere/made").exists());
}

#[test]
fn only_the_protocol_is_on_standard_output() {
    let desk = InboxView::with(&[(
        "loud",
        "steps:\n  - { name: shout, shell: 'echo out; echo err >&2; seq 1 2000' }\n  - { name: c, compute: 'result = 1' }",
    )]);
    let mut client = Client::new(&desk);
    assert_eq!(client.run("loud").status(), "completed");
    // `read` has taken every line for a message; these are messages of ours.
    for line in &client.heard {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
    }
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_run_that_waits_for_a_name_says_for_which_run() {
    let hold = "
concurrency: one
steps:
  - { name: hold, shell: 'touch began; until [ -e go ]; do sleep 0.02; done' }";
    let desk = InboxView::untrusted(&[("hold", hold)]);
    desk.write("aye.toml", "[mcp]\npatience = '1s'\n");
    desk.aye(&["trust", "--yes"]).ok();
    let first = desk.aye(&["run", "hold", "--detach", "-q"]).ok().stdout.trim().to_owned();
    until("it has the name", || desk.work().join("began").exists());
    let mut client = Client::new(&desk);
    let started = client.call("skill_run", json!({ "skill": "hold" }));
    let told = started.ok();
    assert_eq!(told["status"], "queued", "{told}");
    let message = told["message"].as_str().unwrap();
    let words = format!("waits for run {first}: one run at a time holds the name `one`");
    assert!(message.contains(&words), "{message}");
    let listed = client.call("run_list", json!({ "status": "queued" })).text();
    assert!(listed.contains("queued: hold"), "{listed}");
    desk.write("go", "");
    let done = client.call("skill_status", json!({ "execution_id": started.id(), "wait": 30 }));
    assert_eq!(done.status(), "completed");
}
