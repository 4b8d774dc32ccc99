//! Servers that end, and what is left of them.

use std::time::{Duration, Instant};

use aye_core::error_code::ErrorCode;

use aye_runtime::tools::ToolEvent;
use serde_json::json;

use crate::cli::harness::{Place, until};

use super::harness::{ToolHarness, is_alive, kill, own_server};

#[test]
fn a_server_that_was_killed_is_started_again_once() {
    let mut harness = ToolHarness::own("");
    harness.call("own.fine", json!({})).expect("it runs");
    let first = harness.pid();
    kill(first);
    until("its end", || !is_alive(first));
    harness.call("own.fine", json!({})).expect("it was started again");
    let again = |event: &ToolEvent| match event {
        ToolEvent::Restarted { server, why } => Some((server.clone(), why.clone())),
        _ => None,
    };
    let told = harness.seen.iter().find_map(again).expect("it was said");
    assert_eq!(told, ("own".to_owned(), "it was ended by SIGKILL".to_owned()));
    let second = harness.pid();
    assert_ne!(first, second);
    kill(second);
    until("its end", || !is_alive(second));
    let gone = harness.call("own.fine", json!({})).expect_err("once is enough");
    assert_eq!(gone.code, ErrorCode::ToolServer);
    assert!(gone.message.contains("ended twice and is not started again"), "{gone}");
}

#[test]
fn a_call_during_which_the_server_ends_is_not_made_again() {
    let mut harness = ToolHarness::own("");
    let died = harness.call("own.die", json!({})).expect_err("it died of it");
    assert_eq!(died.code, ErrorCode::ToolServer);
    let message = "the server `own` ended during the call: it ended with exit code 7";
    assert_eq!(died.message, message);
    assert_eq!(died.hint.as_deref(), Some("its last output: out of cheese"));
    assert_eq!(harness.notes().matches("tools/call").count(), 1, "{}", harness.notes());
    harness.call("own.fine", json!({})).expect("the next call starts it again");
}

#[test]
fn nothing_of_a_server_is_left_when_the_tools_are_dropped() {
    // It ignores the end of its input and every polite word, and so does its child.
    let directory = tempfile::TempDir::with_prefix("aye-tools-").expect("a directory");
    let script = directory.path().join("stubborn");
    let pids = directory.path().join("pids");
    let own = own_server(directory.path());
    let text = format!(
        "trap '' TERM HUP INT\necho $$ >>{p}\nsh -c 'trap \"\" TERM; echo $$ >>{p}; sleep 1000' &\n\
         {server}\nwhile :; do sleep 1; done\n",
        p = pids.display(),
        server = own
            .lines()
            .nth(1)
            .expect("the command")
            .trim_start_matches("server = [")
            .trim_end_matches(']')
            .replace(", ", " "),
    );
    std::fs::write(&script, text).expect("written");
    let toml = format!("[tools.own]\nserver = [\"/bin/sh\", {script:?}]\nlegacy = true\n");
    let mut harness = ToolHarness::at(directory, &toml);
    harness.call("own.fine", json!({})).expect("it runs");
    until("both processes", || {
        std::fs::read_to_string(&pids).is_ok_and(|text| text.lines().count() == 2)
    });
    let text = std::fs::read_to_string(&pids).expect("the numbers");
    let began = Instant::now();
    drop(harness);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    for pid in text.lines().map(|line| line.parse().expect("a number")) {
        until("its end", || !is_alive(pid));
    }
}

#[test]
fn nothing_of_a_server_is_left_when_aye_is_killed() {
    let place = Place::new();
    let work = place.work();
    place.write("aye.toml", &format!("{}legacy = true\n", own_server(&work)));
    place.aye(&["tools", "trust", "own", "--yes"]).ok();
    let mut child = place.start(&["tools", "call", "own.never"]);
    until("the call", || place.read("notes").contains("tools/call"));
    let pid: i32 = place.read("notes.pid").trim().parse().expect("a number");
    assert!(is_alive(pid));
    // Both the guard, which we started, and the engine below it.
    let guard = i32::try_from(child.id()).expect("a pid");
    let below = std::fs::read_to_string(format!("/proc/{guard}/task/{guard}/children"));
    let engine: i32 = below.expect("children").trim().parse().expect("one engine");
    kill(engine);
    child.wait().expect("it ended");
    until("the end of the server", || !is_alive(pid));
}
