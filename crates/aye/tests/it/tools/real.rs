//! Servers that other people wrote, in both eras of the protocol.

use std::time::Duration;

use aye_core::error_code::ErrorCode;

use aye_runtime::tools::ToolEvent;
use serde_json::{Value, json};

use super::harness::{ToolHarness, list, node_server, python_server};

/// A harness with one server called `it`, and the protocol it spoke.
fn harness(argv: &[String], legacy: bool, more: &[&str]) -> ToolHarness {
    let mut argv = argv.to_vec();
    argv.extend(more.iter().map(|word| (*word).to_owned()));
    // The era is asked for within a quarter of the time, also on a busy machine.
    let time = "start_timeout = \"6m\"\n";
    ToolHarness::new(&format!("[tools.it]\nserver = {}\nlegacy = {legacy}\n{time}", list(&argv)))
}

fn protocol(harness: &ToolHarness) -> &str {
    let started = harness.seen.iter().find_map(|event| match event {
        ToolEvent::Started { protocol, .. } => Some(protocol.as_str()),
        _ => None,
    });
    started.expect("it was started")
}

#[test]
fn everything_speaks_of_2025_with_and_without_the_probe() {
    let argv = node_server("server-everything");
    for legacy in [false, true] {
        let mut harness = harness(&argv, legacy, &[]);
        let echo = harness.call("it.echo", json!({ "message": "hi" })).expect("it echoes");
        assert_eq!(echo.value, json!("Echo: hi"));
        assert_eq!(echo.parsed, Some(super::harness::object(json!({ "echo": "hi" }))));
        assert_eq!(protocol(&harness), "2025-11-25");
        // A name that only one server has needs no server.
        let sum = harness.call("get-sum", json!({ "a": "2", "b": 3 })).expect("it adds");
        assert_eq!(sum.text, "The sum of 2 and 3 is 5.");
        let data = harness.call("it.get-structured-content", json!({ "location": "Chicago" }));
        let data = data.expect("it gives data");
        assert!(data.value["temperature"].is_number(), "{data:?}");
        assert_eq!(data.parsed, None);
        let roots = harness.call("it.get-roots-list", json!({})).expect("it knows the workspace");
        let workspace = harness.directory.path().canonicalize().expect("it is there");
        assert!(roots.text.contains(workspace.to_str().expect("text")), "{}", roots.text);
    }
}

#[test]
fn a_server_sees_what_it_is_meant_to_see() {
    let argv = node_server("server-everything");
    let text = format!(
        "[tools.it]\nserver = {}\nenv = {{ MODE = \"quiet\" }}\npass_env = [\"MEANT_FOR_TOOLS\"]\n",
        list(&argv)
    );
    let mut harness = ToolHarness::new(&text);
    let seen = harness.call("it.get-env", json!({})).expect("it tells");
    let seen: Value = serde_json::from_str(&seen.text).expect("it is JSON");
    assert_eq!(seen["MODE"], "quiet");
    assert_eq!(seen["MEANT_FOR_TOOLS"], "yes");
    assert!(seen["PATH"].is_string());
    assert_eq!(seen["TOKEN_OF_THE_RUN"], Value::Null, "no secret of the run");
    let ours = std::env::vars().map(|(name, _)| name).filter(|name| name.contains("RUST"));
    for name in ours {
        assert_eq!(seen[&name], Value::Null, "nothing else of ours: {name}");
    }
}

#[test]
fn progress_is_told_while_a_call_goes_on() {
    let argv = node_server("server-everything");
    let mut harness = harness(&argv, false, &[]);
    let args = json!({ "duration": 1, "steps": 4 });
    harness.call("it.trigger-long-running-operation", args).expect("it ends");
    let shares: Vec<f64> = harness
        .seen
        .iter()
        .filter_map(|event| match event {
            ToolEvent::Progress { call: 1, fraction, .. } => *fraction,
            _ => None,
        })
        .collect();
    assert!(shares.len() >= 2, "{shares:?}");
    assert!(shares.is_sorted() && shares.contains(&0.5), "{shares:?}");
}

#[test]
fn a_call_that_takes_too_long_or_is_cancelled_ends_and_the_server_goes_on() {
    let argv = node_server("server-everything");
    let mut harness = harness(&argv, false, &[]);
    let long = json!({ "duration": 600, "steps": 2000 });
    harness.call("it.echo", json!({ "message": "warm" })).expect("it starts");
    let name = "it.trigger-long-running-operation";
    let call = harness.start(name, long.clone(), Some(Duration::from_millis(700)));
    let late = harness.end(call).expect_err("it takes longer");
    assert_eq!(
        (late.code, late.message.as_str()),
        (ErrorCode::Timeout, &*format!("`{name}` took longer than 700ms"))
    );

    let call = harness.start(name, long, None);
    harness.until(|event| {
        matches!(event, ToolEvent::Progress { call: it, .. } if *it == call).then_some(())
    });
    harness.tools.cancel(call);
    assert_eq!(harness.end(call).expect_err("it was cancelled").code, ErrorCode::Cancelled);
    let after = harness.call("it.echo", json!({ "message": "still here" })).expect("it continues");
    assert_eq!(after.text, "Echo: still here");
    assert!(!harness.seen.iter().any(|event| matches!(event, ToolEvent::Restarted { .. })));
}

#[test]
fn files_are_read_and_written_in_the_workspace_alone() {
    let argv = node_server("server-filesystem");
    for legacy in [false, true] {
        let mut harness = harness(&argv, legacy, &["."]);
        let path = harness.directory.path().canonicalize().expect("it is there").join("note.txt");
        let args = json!({ "path": path, "content": "hello" });
        harness.call("it.write_file", args).expect("it writes");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "hello");
        let read = harness.call("it.read_text_file", json!({ "path": path })).expect("it reads");
        assert!(read.text.contains("hello"), "{read:?}");
        let away = harness.call("it.read_text_file", json!({ "path": "/etc/passwd" }));
        let away = away.expect_err("it is outside");
        assert_eq!(away.code, ErrorCode::ToolFailed);
        assert!(away.message.contains("Access denied"), "{}", away.message);
        assert_eq!(protocol(&harness), "2025-11-25");
    }
}

/// Each version of the Python servers, with and without the probe, and what
/// they then speak.
const ERAS: [(&str, bool, &str); 4] = [
    ("2025", false, "2025-11-25"),
    ("2025", true, "2025-11-25"),
    ("2026", false, "2026-07-28"),
    ("2026", true, "2025-11-25"),
];

#[test]
fn the_time_server_speaks_both_eras() {
    for (era, legacy, spoken) in ERAS {
        let argv = python_server("mcp-server-time", era);
        let mut harness = harness(&argv, legacy, &[]);
        let now = harness.call("it.get_current_time", json!({ "timezone": "Europe/Berlin" }));
        let now = now.expect("it knows the time");
        assert!(now.text.contains("Europe/Berlin"), "{now:?}");
        assert_eq!(protocol(&harness), spoken);
        let nowhere = harness.call("it.get_current_time", json!({ "timezone": "Mars/Olympus" }));
        let nowhere = nowhere.expect_err("there is no such place");
        assert_eq!(nowhere.code, ErrorCode::ToolFailed);
        assert!(nowhere.message.contains("Mars/Olympus"), "{}", nowhere.message);
        let wrong = harness.call("it.get_current_time", json!({ "timezone": 5, "time_zone": "x" }));
        let wrong = wrong.expect_err("it is not text");
        assert_eq!(wrong.code, ErrorCode::ToolArguments);
        assert!(wrong.message.contains("`timezone` must be text, not a number"), "{wrong}");
    }
}

#[test]
fn the_git_server_speaks_both_eras() {
    for (era, legacy, spoken) in ERAS {
        let argv = python_server("mcp-server-git", era);
        let mut harness = harness(&argv, legacy, &[]);
        let workspace = harness.directory.path().to_owned();
        let made = std::process::Command::new("git").arg("init").current_dir(&workspace).output();
        assert!(made.expect("git is there").status.success());
        let status = harness.call("it.git_status", json!({ "repo_path": workspace }));
        assert!(status.expect("it looks").text.contains("aye.toml"));
        assert_eq!(protocol(&harness), spoken);
        let wrong = harness.call("it.git_statsu", json!({})).expect_err("it has no such tool");
        assert_eq!(wrong.code, ErrorCode::ToolNotFound);
        assert_eq!(wrong.hint.as_deref(), Some("did you mean `it.git_status`?"));
    }
}

#[test]
fn a_name_that_two_servers_have_needs_the_server() {
    let [old, new] = ["2025", "2026"].map(|era| python_server("mcp-server-time", era));
    let text = format!("[tools.a]\nserver = {}\n[tools.b]\nserver = {}\n", list(&old), list(&new));
    let mut harness = ToolHarness::new(&text);
    let which = harness.call("get_current_time", json!({})).expect_err("both have it");
    assert_eq!(which.code, ErrorCode::ToolNotFound, "{which:?}");
    let hint = "write `a.get_current_time` or `b.get_current_time`";
    assert_eq!(which.hint.as_deref(), Some(hint));
    let near = harness.call("get_curent_time", json!({})).expect_err("nobody has it");
    assert_eq!(near.hint.as_deref(), Some("did you mean `a.get_current_time`?"));
}
