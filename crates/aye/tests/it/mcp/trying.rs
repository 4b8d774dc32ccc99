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

/// A server whose tools say of themselves that they only look.
fn with_server() -> InboxView {
    let skill = "
steps:
  - { name: fine, tool: own.fine, output: seen }
  - { name: count, tool: own.fine, args: { count: many }, on_error: ask }";
    let desk = InboxView::untrusted(&[("go", skill)]);
    let server = include_str!("../tools/server.sh").replace(
        "\"name\":\"%s\",",
        "\"name\":\"%s\",\"description\":\"Counts sheep\",\"annotations\":{\"readOnlyHint\":true},",
    );
    desk.write("server.sh", &server);
    desk
}

const SERVER: &str = "[tools.own]\nserver = ['/bin/sh', 'server.sh', 'notes']\nlegacy = true\n";

#[test]
fn what_a_server_says_of_its_own_tool_grants_nothing() {
    let desk = with_server();
    desk.write("aye.toml", SERVER);
    desk.aye(&["trust", "--yes"]).ok();
    let listed = desk.aye(&["tools", "list", "--json"]).ok().json();
    assert_eq!(listed["servers"][0]["tools"][0]["read_only"], true, "{listed}");
    let mut client = Client::new(&desk);
    let why = client.call("tool_try", json!({ "tool": "own.fine" })).refused();
    assert!(why.contains("no settings mark `own.fine` as `read_only`"), "{why}");
    assert!(why.contains("the server's own claim does not count"), "{why}");
    assert_eq!(desk.aye(&["runs", "--json"]).stdout.trim(), "[]");
}

#[test]
fn a_servers_tool_is_told_as_its_server_describes_it() {
    for (file, defined) in [
        ("aye.toml", "[tools.own] in aye.toml"),
        ("../.config/aye/config.toml", "[tools.own] in the user's own config.toml"),
    ] {
        let desk = with_server();
        let script = desk.work().join("server.sh");
        let server = SERVER.replace("'server.sh'", &format!("'{}'", script.display()));
        desk.write(file, &server);
        desk.aye(&["trust", "--yes"]).ok();
        let mut client = Client::new(&desk);
        let failed = client.run("go");
        assert_eq!(failed.status(), "error_recovery_needed", "{}", failed.text());
        let tool = failed.ok()["tool"].clone();
        assert_eq!(tool["defined"], defined, "{tool}");
        assert_eq!(tool["description"], "Counts sheep", "{tool}");
        assert_eq!(tool["schema"]["properties"]["count"]["type"], "integer", "{tool}");
        assert!(tool["program"].to_string().contains("server.sh"), "{tool}");
        assert!(failed.text().contains("Counts sheep"), "{}", failed.text());
        let debugged = client.call("debug_tool", json!({ "execution_id": failed.id() })).ok();
        assert_eq!(debugged["tool"]["description"], "Counts sheep", "{debugged}");
        assert!(debugged["tool"]["code"].as_str().unwrap().contains("out of cheese"), "{debugged}");
        // What the tool returned before is in the logs.
        let logs =
            client.call("skill_logs", json!({ "execution_id": failed.id(), "step": "fine" }));
        assert_eq!(logs.ok()["logs"][0]["result"], "Status: fine", "{}", logs.text());
        assert!(logs.text().contains("returned: \"Status: fine\""), "{}", logs.text());
    }
}

/// The mark of your own settings counts, over MCP as anywhere.
#[test]
fn a_tool_of_your_own_settings_is_tried_over_mcp() {
    let desk = InboxView::untrusted(&[]);
    desk.write("../.config/aye/config.toml", SETTINGS);
    desk.aye(&["trust", "--yes"]).ok();
    let mut client = Client::new(&desk);
    let done = client.call("tool_try", json!({ "tool": "look", "args": { "what": "mine" } }));
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert!(done.ok()["outputs"]["result"].to_string().contains("seen mine"), "{}", done.text());
    let why = client.call("tool_try", json!({ "tool": "write" })).refused();
    assert!(why.contains("no settings mark `write` as `read_only`"), "{why}");
    assert!(!desk.work().join("written").exists());
}
