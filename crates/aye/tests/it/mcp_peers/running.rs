//! Runs, pauses, and going on with them, with every peer.

use serde_json::json;

use super::peer::{Peer, with_each};
use super::room::{Room, run};
use super::service::Service;

const TOOLS: [&str; 17] = [
    "skill_list",
    "skill_describe",
    "skill_run",
    "skill_status",
    "skill_continue",
    "skill_advise",
    "skill_retry_step",
    "skill_cancel",
    "skill_logs",
    "run_list",
    "inbox",
    "check_known_issues",
    "learn_tool_fix",
    "memory_read",
    "memory_query",
    "memory_stats",
    "debug_tool",
];

/// Every tool is there, with a description, honest annotations and schemas.
fn finds_the_tools(peer: &mut Peer) {
    let listed = peer.ask(json!({ "do": "tools" }));
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in TOOLS {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    for tool in tools {
        assert!(tool["description"].as_str().is_some_and(|text| text.len() >= 20), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        for hint in ["readOnlyHint", "destructiveHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint} of {tool}");
        }
    }
    let read_only = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["annotations"]["readOnlyHint"] == true
    };
    assert!(read_only("skill_list") && read_only("skill_status") && read_only("inbox"));
    assert!(!read_only("skill_run") && !read_only("skill_continue") && !read_only("skill_cancel"));
}

fn runs_to_the_end(peer: &mut Peer, room: &Room) {
    let listed = peer.call("skill_list", json!({}));
    let skills = listed.data["skills"].as_array().unwrap_or_else(|| panic!("{listed:?}"));
    let names: Vec<_> = skills.iter().map(|skill| skill["skill"].clone()).collect();
    for name in ["plain", "gate", "flaky"] {
        assert!(names.contains(&json!(name)), "{names:?}");
    }

    let call =
        peer.start_call("skill_run", json!({ "skill": "plain", "inputs": { "who": "Ada" } }));
    let reply = peer.reply(call).stands("completed");
    assert!(!reply.is_error);
    assert_eq!(reply.data["outputs"]["greeting"], "hello Ada", "{reply:#?}");
    assert_eq!(room.read("noted"), "Ada\n");
    assert_eq!(room.status(), "completed");
    let status = peer.call("skill_status", json!({ "execution_id": reply.id() }));
    assert_eq!(status.status(), "completed");

    // What is wrong with a call is said in its result, and nothing is begun.
    let before = room.aye(&["runs", "--json"]).ok().json();
    let unknown = run(peer, "plian", json!({})).refused();
    assert!(unknown.text.contains("plain"), "a near name is named: {unknown:?}");
    run(peer, "plain", json!({ "whom": "Ada" })).refused();
    let dry = peer.call("skill_run", json!({ "skill": "plain", "dry_run": true }));
    assert!(!dry.is_error, "{dry:?}");
    assert_eq!(room.aye(&["runs", "--json"]).ok().json(), before);
    assert_eq!(room.read("noted"), "Ada\n");
}

/// A client that cannot ask gets everything it needs to talk it over.
fn pauses_and_goes_on(peer: &mut Peer, room: &Room) {
    let paused = run(peer, "gate", json!({ "target": "production" }));
    let paused = paused.stands("awaiting_confirmation");
    let data = &paused.data;
    assert_eq!(data["skill"], "gate", "{data:#}");
    assert_eq!(data["step"], "ask");
    assert_eq!(data["message"], "Release to production? It is ready for production.");
    let values: Vec<_> =
        data["options"].as_array().unwrap().iter().map(|one| one["value"].clone()).collect();
    assert_eq!(values, [json!("proceed"), json!("stop")]);
    assert_eq!(data["variables"]["inputs.target"], "production");
    assert_eq!(data["recent_steps"][0]["step"], "prepare");
    assert!(data["expires_at"].is_string(), "{data:#}");
    assert!(data["defined"]["file"].as_str().unwrap().ends_with("gate.yaml"), "{data:#}");
    assert_eq!(data["next"][0]["tool"], "skill_continue", "{data:#}");
    assert_eq!(data["next"][0]["arguments"]["execution_id"], paused.id());
    assert!(data.to_string().len() <= 4096);
    assert!(paused.text.contains(&paused.id()), "a model that reads text can continue: {paused:?}");

    // It is in the journal before anybody is told, and asking again changes nothing.
    assert_eq!(room.inbox().len(), 1);
    let again = peer.call("skill_status", json!({ "execution_id": paused.id() }));
    assert_eq!(again.stands("awaiting_confirmation").id(), paused.id());
    let listed = peer.call("inbox", json!({}));
    assert!(listed.data.to_string().contains("Release to production?"), "{listed:?}");

    let choice = |choice: &str| json!({ "execution_id": paused.id(), "choice": choice, "reason": "Ada says so" });
    peer.call("skill_continue", choice("prceed")).refused();
    assert_eq!(room.inbox().len(), 1, "what was never offered is not an answer");
    let done = peer.call("skill_continue", choice("proceed")).stands("completed");
    assert_eq!(done.data["outputs"]["decision"], "proceed", "{done:#?}");
    assert_eq!(room.read("acted"), "proceed production\n");
    assert_eq!(room.decisions(), [("proceed".to_owned(), "assistant".to_owned())]);

    // An id can be used once.
    let twice = peer.call("skill_continue", choice("proceed")).refused();
    assert!(twice.text.contains("already"), "{twice:?}");
    assert_eq!(room.read("acted"), "proceed production\n");
}

fn says_no(peer: &mut Peer, room: &Room) {
    let paused = run(peer, "gate", json!({ "target": "nowhere" }));
    let args = json!({ "execution_id": paused.id(), "choice": "stop" });
    peer.call("skill_continue", args).stands("cancelled");
    assert!(!room.read("acted").contains("nowhere"));
    assert_eq!(room.status(), "cancelled");
}

fn cancels(peer: &mut Peer, room: &Room) {
    let paused = run(peer, "gate", json!({ "target": "nowhere" }));
    let args = json!({ "execution_id": paused.id(), "reason": "not today" });
    peer.call("skill_cancel", args);
    room.ends("cancelled");
    let late = json!({ "execution_id": paused.id(), "choice": "proceed" });
    peer.call("skill_continue", late).refused();
    assert!(!room.read("acted").contains("nowhere"));
}

#[test]
fn every_sdk_runs_pauses_and_goes_on_over_stdio() {
    with_each(|peer| {
        let room = Room::new();
        peer.connect_with(&room, json!({ "elicitation": false }));
        finds_the_tools(peer);
        runs_to_the_end(peer, &room);
        pauses_and_goes_on(peer, &room);
        says_no(peer, &room);
        cancels(peer, &room);
    });
}

#[test]
fn every_sdk_runs_pauses_and_goes_on_over_http() {
    with_each(|peer| {
        let room = Room::with("[mcp]\nforms = false\n");
        let service = Service::start(&room);
        peer.connect_http(&service.url, &service.token);
        finds_the_tools(peer);
        runs_to_the_end(peer, &room);
        pauses_and_goes_on(peer, &room);
        says_no(peer, &room);
    });
}

#[test]
fn http_wants_the_token() {
    with_each(|peer| {
        let room = Room::new();
        let service = Service::start(&room);
        for token in ["", "0000000000000000000000000000000000000000000000000000000000000000"] {
            let id = peer.send(json!({
                "do": "connect", "http": { "url": service.url, "token": token },
            }));
            peer.outcome(id).expect_err("without the token nobody is served");
        }
        peer.connect_http(&service.url, &service.token);
    });
}
