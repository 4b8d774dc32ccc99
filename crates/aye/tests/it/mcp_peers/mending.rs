//! A step fails: the assistant looks, tries again with other arguments, learns.

use serde_json::json;

use super::peer::{Peer, with_each};
use super::room::{Room, run};

fn fails_and_tells_why(peer: &mut Peer, room: &Room) -> String {
    room.write(
        ".aye/memory/learned/patterns.yaml",
        "issues:\n  - { pattern: manifest unknown, meaning: the tag is too short, fix: use the full tag }\n",
    );
    let failed = run(peer, "flaky", json!({})).stands("error_recovery_needed");
    let data = &failed.data;
    assert_eq!(data["step"], "pull", "{data:#}");
    assert!(data["error"].as_str().unwrap().contains("manifest unknown: no tag short"), "{data:#}");
    assert!(data["known_issues"].to_string().contains("too short"), "{data:#}");
    let next = data["next"].to_string();
    assert!(next.contains("skill_retry_step") && next.contains("debug_tool"), "{next}");
    let debug = peer.call("debug_tool", json!({ "execution_id": failed.id() }));
    assert!(debug.data.to_string().contains("./pull"), "{debug:#?}");
    let known = json!({ "tool": "pull", "error": "manifest unknown: no tag x" });
    let known = peer.call("check_known_issues", known);
    assert!(known.data.to_string().contains("too short"), "{known:#?}");
    failed.id()
}

fn retries_with_edits(peer: &mut Peer, room: &Room) {
    let id = fails_and_tells_why(peer, room);
    let args =
        json!({ "execution_id": id, "step": "pull", "args": { "1": "full" }, "mode": "merge" });
    // What an assistant writes is not run before a person has seen it.
    let asked = peer.call("skill_retry_step", args).stands("awaiting_confirmation");
    assert_eq!(asked.data["relayable"], false, "{asked:#?}");
    assert_eq!(room.read("tried"), "short\n");
    let own = json!({ "execution_id": asked.id(), "choice": "proceed" });
    peer.call("skill_continue", own).refused();
    room.person_says("proceed");
    let wait = json!({ "execution_id": asked.id(), "wait": 45 });
    let done = peer.call("skill_status", wait).stands("completed");
    assert_eq!(room.read("tried"), "short\nfull\n", "{done:?}");
    assert_eq!(room.read("used"), "image of full\n");
    let (_, through) = &room.decisions()[0];
    assert_eq!(through, "assistant");
}

/// A retry that fails again asks again, with another id; the old one is used up.
fn retries_in_vain(peer: &mut Peer, room: &Room) {
    let failed = run(peer, "flaky", json!({})).stands("error_recovery_needed");
    let wrong = json!({ "execution_id": failed.id(), "step": "use", "args": {}, "mode": "merge" });
    peer.call("skill_retry_step", wrong).refused();
    let args = json!({
        "execution_id": failed.id(), "step": "pull", "args": { "1": "longer" }, "mode": "merge",
    });
    let asked = peer.call("skill_retry_step", args.clone()).stands("awaiting_confirmation");
    room.person_says("proceed");
    let wait = json!({ "execution_id": asked.id(), "wait": 45 });
    let again = peer.call("skill_status", wait).stands("error_recovery_needed");
    assert_ne!(again.id(), failed.id());
    assert!(room.read("tried").ends_with("short\nlonger\n"), "{}", room.read("tried"));
    peer.call("skill_retry_step", args).refused();
    peer.call("skill_cancel", json!({ "execution_id": again.id() }));
    room.ends("cancelled");
}

/// What an assistant learns is a proposal: nothing uses it until a person agrees.
fn learns(peer: &mut Peer, room: &Room) {
    let fix = json!({
        "tool": "pull", "error": "manifest unknown: no tag short", "args": { "1": "full" },
        "about": "the full tag is always there",
    });
    let learned = peer.call("learn_tool_fix", fix);
    assert!(!learned.is_error, "{learned:#?}");
    let fixes = room.aye(&["memory", "list", "--json"]).ok().json()["fixes"].clone();
    let fix = fixes.as_array().unwrap().first().unwrap_or_else(|| panic!("{learned:#?}")).clone();
    assert!(fix.to_string().contains("proposed"), "{fix:#}");
    assert!(fix.to_string().contains("assistant"), "{fix:#}");

    let before = room.read("tried");
    let failed = run(peer, "flaky", json!({})).stands("error_recovery_needed");
    assert_eq!(room.read("tried"), format!("{before}short\n"), "a proposal is not used");
    peer.call("skill_cancel", json!({ "execution_id": failed.id() }));
    room.ends("cancelled");

    room.aye(&["memory", "agree", fix["id"].as_str().unwrap(), "--yes"]).ok();
    let before = room.read("tried");
    run(peer, "flaky", json!({})).stands("completed");
    assert_eq!(room.read("tried"), format!("{before}short\nfull\n"));
    for (tool, args) in [
        ("memory_stats", json!({})),
        ("memory_query", json!({ "kind": "fixes", "text": "manifest" })),
    ] {
        let told = peer.call(tool, args);
        assert!(!told.is_error && told.data.is_object(), "{told:#?}");
    }
}

#[test]
fn failures_are_mended_and_learned_from() {
    with_each(|peer| {
        let room = Room::new();
        peer.connect_with(&room, json!({ "elicitation": false }));
        retries_with_edits(peer, &room);
        retries_in_vain(peer, &room);
        learns(peer, &room);
    });
}
