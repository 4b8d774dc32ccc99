//! An assistant tries tools that the settings mark as ones that only look.

use serde_json::json;

use super::client::{Client, InboxView};

const SETTINGS: &str = "
[tools.look]
command = [\"echo\", \"seen\", \"{{ args.what }}\"]
args = { what = { type = \"string\" } }
read_only = true

[tools.write]
command = [\"touch\", \"written\"]
";

fn desk() -> InboxView {
    let desk = InboxView::untrusted(&[]);
    desk.write("aye.toml", SETTINGS);
    desk
}

#[test]
fn a_tool_that_only_looks_is_tried_in_a_run_of_its_own() {
    let desk = desk();
    desk.aye(&["trust", "--yes"]).ok();
    let mut client = Client::new(&desk);
    let what = "{{ 7 * 6 }} {% x %}";
    let done = client.call("tool_try", json!({ "tool": "look", "args": { "what": what } }));
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert!(done.ok()["outputs"]["result"].to_string().contains(what), "{}", done.text());
    let runs = desk.aye(&["runs", "--json"]).ok().json();
    assert_eq!(runs[0]["skill"], "try-look", "{runs}");
    let shown = desk.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["started_by"], "assistant", "{shown}");
    let logs = client.call("skill_logs", json!({ "execution_id": done.id() }));
    assert!(logs.text().contains("seen"), "{}", logs.text());
}

#[test]
fn what_nobody_marked_and_what_nobody_trusts_is_not_tried() {
    let desk = desk();
    let mut client = Client::new(&desk);
    let why = client.call("tool_try", json!({ "tool": "look", "args": { "what": "x" } })).refused();
    assert!(why.contains("trust"), "{why}");
    desk.aye(&["trust", "--yes"]).ok();
    let mut client = Client::new(&desk);
    let why = client.call("tool_try", json!({ "tool": "write" })).refused();
    assert!(why.contains("no settings mark `write` as `read_only`"), "{why}");
    assert!(why.contains("read_only = true"), "{why}");
    let why = client.call("tool_try", json!({ "tool": "nothing" })).refused();
    assert!(why.contains("there is no tool `nothing`"), "{why}");
    assert!(!desk.work().join("written").exists());
    assert_eq!(desk.aye(&["runs", "--json"]).stdout.trim(), "[]");
    // The mark that someone adds later was not agreed to.
    let marked = SETTINGS.replace("\"written\"]", "\"written\"]\nread_only = true");
    desk.write("aye.toml", &marked);
    let mut client = Client::new(&desk);
    let why = client.call("tool_try", json!({ "tool": "write" })).refused();
    assert!(why.contains("as `read_only`"), "{why}");
    assert!(!desk.work().join("written").exists());
}
