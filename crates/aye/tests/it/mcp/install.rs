//! `aye mcp install` and `aye doctor`.

use serde_json::{Value, json};

use super::client::{Client, Era, InboxView};

#[test]
fn the_change_is_shown_and_the_rest_stays() {
    let desk = InboxView::with(&[]);
    desk.write(
        ".mcp.json",
        "{\n    \"mcpServers\": {\n        \"git\": { \"command\": \"g\" }\n    }\n}\n",
    );
    let before = desk.read(".mcp.json");
    let asked = desk.aye(&["mcp", "install", "claude"]);
    assert_eq!(asked.code, 6, "{}", asked.all());
    assert!(asked.stderr.contains("+         \"aye\": {"), "{}", asked.all());
    assert_eq!(desk.read(".mcp.json"), before);

    desk.aye(&["mcp", "install", "claude", "--yes"]).ok();
    let now: Value = serde_json::from_str(&desk.read(".mcp.json")).unwrap();
    assert_eq!(now["mcpServers"]["git"]["command"], "g");
    assert_eq!(now["mcpServers"]["aye"]["args"], json!(["mcp"]));
    let again = desk.aye(&["mcp", "install", "claude"]).ok();
    assert!(again.stdout.contains("names the server already"), "{}", again.all());
}

#[test]
fn each_client_has_its_own_file() {
    let desk = InboxView::with(&[]);
    for (client, file, key) in [
        ("claude", ".mcp.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
    ] {
        desk.aye(&["mcp", "install", client, "-y"]).ok();
        let made: Value = serde_json::from_str(&desk.read(file)).unwrap();
        // What is written there can be started and speaks the protocol.
        let program = made[key]["aye"]["command"].as_str().unwrap();
        assert!(std::path::Path::new(program).is_file(), "{program}");
    }
    desk.write(".vscode/mcp.json", "// mine\n{}");
    let ran = desk.aye(&["mcp", "install", "vscode", "-y"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert_eq!(desk.read(".vscode/mcp.json"), "// mine\n{}");
}

#[test]
fn the_doctor_tells_what_clients_can_do() {
    let desk = InboxView::with(&[]);
    let before = desk.aye(&["doctor", "--json"]).ok().json();
    assert_eq!(before["clients"], json!([]));
    let can = json!({ "elicitation": { "form": {} } });
    for era in [Era::Legacy, Era::Modern] {
        let mut client = Client::that_can(&desk, era, can.clone());
        client.call("skill_list", json!({})).ok();
        let after = desk.aye(&["doctor", "--json"]).ok().json();
        let seen = &after["clients"][0];
        assert_eq!((&seen["name"], &seen["forms"]), (&json!("test-client"), &json!(true)));
        let version = if era == Era::Modern { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(seen["protocol"], version);
    }
    let shown = desk.aye(&["doctor"]).ok();
    assert!(shown.stdout.contains("test-client 1 speaks 2026-07-28"), "{}", shown.all());
    for what in ["home", "journal", "git", "terminal", "desktop dialog", "editor", "tools"] {
        assert!(shown.stdout.contains(what), "{what}: {}", shown.all());
    }
}

#[test]
fn the_doctor_finds_what_is_broken() {
    let desk = InboxView::with(&[]);
    let mut command = desk.command(&["doctor"]);
    command.env("EDITOR", "no-such-editor --wait");
    let ran = crate::cli::harness::Ran::of(command.output().unwrap(), &desk);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stdout.contains("`no-such-editor` of `EDITOR` is not there"), "{}", ran.all());
}

/// What it reports it has tried.
#[test]
fn the_doctor_tries_what_it_reports() {
    let desk = InboxView::with(&[]);
    let check = |what: &str, env: &[(&str, &str)]| {
        let mut command = desk.command(&["doctor", "--json"]);
        let ran = command.envs(env.iter().copied()).output().unwrap();
        let ran = crate::cli::harness::Ran::of(ran, &desk);
        let checks = ran.json()["checks"].as_array().unwrap().clone();
        let found = checks.into_iter().find(|check| check["what"] == what).unwrap();
        (found["health"].as_str().unwrap().to_owned(), found["about"].to_string(), ran.code)
    };
    let (health, about, _) = check("git", &[]);
    assert_eq!(health, "good");
    assert!(about.contains("git version"), "{about}");
    // A program that is there and does not run.
    let git = desk.write("bin/git", "#!/no/such/shell\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&git, mode).unwrap();
    let path = git.parent().unwrap().to_str().unwrap().to_owned();
    let (health, about, code) = check("git", &[("PATH", &path)]);
    assert_eq!((health.as_str(), code), ("broken", 1), "{about}");
    // A server that was agreed to and ends at once.
    desk.write("aye.toml", "[tools.gone]\nserver = [\"false\"]\n");
    let (health, _, _) = check("tools", &[]);
    assert_eq!(health, "missing", "nothing is started that nobody agreed to");
    desk.aye(&["trust", "--yes"]).ok();
    desk.aye(&["tools", "trust", "--yes"]);
    let (health, about, code) = check("tools", &[]);
    assert_eq!((health.as_str(), code), ("broken", 1), "{about}");
    assert!(about.contains("`gone` does not start"), "{about}");
    // Nothing stays behind.
    let left = std::fs::read_dir(desk.home()).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("doctor")), "{left:?}");
}
