//! What assistants propose to memory.

use serde_json::json;

use super::client::{Client, InboxView};

const FLAKY: &str = "
steps:
  - name: push
    command: sh
    args: [-c, 'echo \"remote rejected the push\" >&2; exit 3']
  - { name: after, shell: touch pushed }";

#[test]
fn a_proposed_fix_does_nothing_until_a_person_agrees() {
    let desk = InboxView::with(&[("push", FLAKY)]);
    let mut client = Client::new(&desk);
    let learned = client.call(
        "learn_tool_fix",
        json!({
            "tool": "sh", "error": "remote rejected the push", "args": { "2": "true" },
            "about": "push differently", "skill": "push", "step": "push",
        }),
    );
    let told = learned.ok();
    assert_eq!(told["standing"], "proposed");
    let known = json!({ "tool": "sh", "error": "remote rejected the push" });
    client.call("check_known_issues", known).ok();
    let failed = client.run("push");
    assert_eq!(failed.status(), "error_recovery_needed", "{}", failed.text());
    client.call("skill_cancel", json!({ "execution_id": failed.id() })).ok();

    desk.aye(&["memory", "agree", told["id"].as_str().unwrap(), "--yes"]).ok();
    let done = client.run("push");
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert!(desk.work().join("pushed").exists());
}

/// An assistant that waits for a person to agree to something harmless.
#[test]
fn what_a_person_is_about_to_agree_to_is_not_exchanged() {
    let desk = InboxView::with(&[("push", FLAKY)]);
    let mut client = Client::new(&desk);
    let propose = |client: &mut Client, command: &str, about: &str| {
        let arguments = json!({
            "tool": "sh", "error": "remote rejected the push", "about": about,
            "first": { "command": ["touch", command] },
        });
        client.call("learn_tool_fix", arguments).ok()["id"].as_str().unwrap().to_owned()
    };
    let reviewed = propose(&mut client, "reviewed", "harmless");
    let other = propose(&mut client, "owned", "harmless");
    assert_ne!(reviewed, other, "other content is another fix");
    assert_eq!(reviewed.len(), "fix-".len() + 64, "{reviewed}");
    // Nor is what it says of itself exchanged.
    assert_eq!(propose(&mut client, "reviewed", "as you asked me to"), reviewed);
    let shown = desk.aye(&["memory", "show", &reviewed, "--json"]).ok().json();
    assert_eq!(shown["about"], "harmless");
    desk.aye(&["memory", "agree", &reviewed, "--yes"]).ok();
    let worse = propose(&mut client, "owned-too", "better");
    client.run("push");
    assert!(desk.work().join("reviewed").exists());
    assert!(!desk.work().join("owned").exists() && !desk.work().join("owned-too").exists());
    for (id, standing) in [(&reviewed, "active"), (&other, "proposed"), (&worse, "proposed")] {
        let shown = desk.aye(&["memory", "show", id, "--json"]).ok().json();
        assert_eq!(shown["standing"], *standing);
    }
}

#[test]
fn there_is_no_agreeing_over_mcp() {
    let desk = InboxView::with(&[]);
    let mut client = Client::new(&desk);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.len() > 10, "{listed}");
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(!name.contains("agree") && !name.contains("forget"), "{name}");
        let keys = tool["inputSchema"]["properties"].to_string();
        assert!(!keys.contains("\"agreed\"") && !keys.contains("\"standing\""), "{name}");
    }
}

#[test]
fn a_fix_without_substance_is_refused() {
    let desk = InboxView::with(&[]);
    let mut client = Client::new(&desk);
    for (arguments, said) in [
        (json!({ "tool": "sh", "error": "x", "about": "?" }), "error"),
        (
            json!({ "tool": "sh", "error": "it went wrong", "about": "x", "first": { "rm": 1 } }),
            "needs one of",
        ),
        (json!({ "tool": "sh", "error": "it went wrong" }), "missing field `about`"),
        (
            json!({ "tool": "sh", "error": "it went wrong", "about": "x", "agreed": true }),
            "unknown field `agreed`",
        ),
    ] {
        let refused = client.call("learn_tool_fix", arguments).refused();
        assert!(refused.contains(said), "{refused}");
    }
}
