//! What assistants propose to memory.

use serde_json::json;

use super::client::{Client, Desk};

const FLAKY: &str = "
steps:
  - name: push
    command: sh
    args: [-c, 'echo \"remote rejected the push\" >&2; exit 3']
  - { name: after, shell: touch pushed }";

#[test]
fn a_proposed_fix_does_nothing_until_a_person_agrees() {
    let desk = Desk::with(&[("push", FLAKY)]);
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

    desk.aye(&["memory", "agree", told["id"].as_str().unwrap()]).ok();
    let done = client.run("push");
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert!(desk.work().join("pushed").exists());
}

#[test]
fn a_fix_without_substance_is_refused() {
    let desk = Desk::with(&[]);
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
