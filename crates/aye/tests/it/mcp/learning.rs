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
    // The error as Aye shows it, with its own words around it, is the same error.
    let shown = failed.whole["structuredContent"]["error"].as_str().unwrap();
    assert!(shown.contains("output: remote rejected"), "{shown}");
    let again = json!({
        "tool": "sh", "error": shown, "args": { "2": "true" },
        "about": "push differently", "skill": "push", "step": "push",
    });
    assert_eq!(client.call("learn_tool_fix", again).ok()["id"], told["id"]);
    // There is nothing to agree to in words.
    let words = json!({ "tool": "sh", "error": "the branch is unknown", "about": "make it" });
    let words = client.call("learn_tool_fix", words);
    assert_eq!(words.ok()["standing"], "prose");
    assert!(!words.text().contains("memory agree"), "{}", words.text());

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

#[test]
fn what_is_known_about_a_family_is_found_without_an_error() {
    let desk = InboxView::with(&[]);
    let issues = "issues:\n\
        \x20 - {pattern: manifest unknown, tools: [bonfire], meaning: the tag is too short}\n\
        \x20 - {pattern: namespace gone, tools: [bonfire_reserve], fix: reserve another}\n\
        \x20 - {pattern: rejected, tools: [git], meaning: someone was faster}\n";
    desk.write("aye.toml", "");
    desk.write(".aye/memory/learned/patterns.yaml", issues);
    desk.aye(&["trust", "--yes"]).ok();
    let mut client = Client::new(&desk);
    let told = client.call("check_known_issues", json!({ "tool": "bonfire", "error": "" })).ok();
    let told = told.to_string();
    assert!(told.contains("manifest unknown") && told.contains("namespace gone"), "{told}");
    assert!(!told.contains("rejected"), "{told}");
    // So are fixes and patterns of use.
    let learn = ["memory", "learn", "--tool", "bonfire_deploy", "--error", "token expired"];
    desk.aye(&[&learn[..], &["--fix", "log in", "--", "bonfire", "login"]].concat()).ok();
    let now = jiff::Timestamp::now();
    let usage = format!(
        "patterns:\n  - {{id: use-00000001, tool: bonfire_deploy, mistake: format, error: invalid tag given, prevention: give 40 digits, sightings: 12, first_seen: {now}, last_seen: {now}}}\n"
    );
    std::fs::create_dir_all(desk.home().join("memory/learned")).unwrap();
    std::fs::write(desk.home().join("memory/learned/usage.yaml"), usage).unwrap();
    let told = client.call("check_known_issues", json!({ "tool": "bonfire", "error": "" }));
    let data = told.ok();
    assert_eq!(data["fixes"][0]["match"]["error"], "token expired", "{data}");
    assert_eq!(data["usage"][0]["id"], "use-00000001", "{data}");
    assert!(told.text().contains("to prevent it, give 40 digits"), "{}", told.text());
}

/// The surest fifteen of what usually fails, when an assistant connects.
#[test]
fn an_assistant_is_given_the_fifteen_surest_patterns_of_use() {
    let desk = InboxView::with(&[]);
    let now = jiff::Timestamp::now();
    let mut text = "patterns:\n".to_owned();
    for number in 0..20 {
        text.push_str(&format!(
            "  - {{id: use-{number:08}, tool: tool{number}, mistake: format, error: invalid flag given, prevention: 'give it as --tag{number}=N', sightings: {}, first_seen: {now}, last_seen: {now}}}\n",
            10 + 2 * number
        ));
    }
    std::fs::create_dir_all(desk.home().join("memory/learned")).unwrap();
    std::fs::write(desk.home().join("memory/learned/usage.yaml"), text).unwrap();
    let client = Client::new(&desk);
    let told = client.heard.join("\n");
    let named = (0..20).filter(|number| told.contains(&format!("tool{number}:"))).count();
    assert_eq!(named, 15, "{told}");
    assert!(told.contains("tool19:") && !told.contains("tool0:"), "{told}");
    assert!(told.contains("to prevent it, give it as --tag19=N"), "{told}");
}

#[test]
fn an_assistant_says_how_the_person_can_have_an_answer_remembered() {
    let ask = "on_error: { ask: { remember: true } }";
    let steps = FLAKY.replacen("    command: sh", &format!("    {ask}\n    command: sh"), 1);
    let desk = InboxView::with(&[("push", &steps)]);
    let mut client = Client::new(&desk);
    let failed = client.run("push");
    let told = failed.ok();
    let scopes = told["remember"]["scopes"].as_object().unwrap_or_else(|| panic!("{told}"));
    assert_eq!(scopes.keys().collect::<Vec<_>>(), ["error", "step", "skill", "always"]);
    assert!(scopes["error"].as_str().unwrap().starts_with("this error of this step"), "{told}");
    let question = told["question"].as_str().unwrap().to_owned();
    let person = format!("aye answer {question} VALUE --remember SCOPE");
    assert_eq!(told["remember"]["person"], person.as_str());
    // It cannot do that itself: nothing is answered.
    let wrong = json!({ "execution_id": failed.id(), "choice": "abort", "remember": "error" });
    client.call("skill_continue", wrong).refused();
    desk.aye(&["answer", &question, "skip", "--remember", "error"]).ok();
    let known = desk.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    assert_eq!(known["preferences"][0]["scope"], "error", "{known}");
}
