//! Calls of our own server: what is sent, and what is not.

use std::time::Duration;

use aye_core::error_code::ErrorCode;

use aye_runtime::tools::{Known, ToolEvent};
use serde_json::json;

use crate::cli::harness::until;

use super::harness::{ToolHarness, own_server};

#[test]
fn nothing_is_started_before_the_first_call() {
    let mut harness = ToolHarness::own("[tools.run]\ncommand = [\"true\"]\n");
    let server = Known::Server { server: "own".to_owned(), tool: "fine".to_owned() };
    assert_eq!(harness.tools.knows("own.fine"), server);
    assert_eq!(harness.tools.knows("run"), Known::Command);
    assert_eq!(harness.tools.knows("fine"), Known::Perhaps);
    let meant = Known::Unknown { hint: Some("did you mean `own.fine`?".to_owned()) };
    assert_eq!(harness.tools.knows("owm.fine"), meant);
    assert!(matches!(harness.tools.knows("own"), Known::Unknown { .. }));
    assert!(harness.tools.fd().is_none() && harness.tools.next().is_none());
    assert_eq!(harness.notes(), "");
}

#[test]
fn a_call_that_does_not_fit_never_reaches_the_server() {
    let mut harness = ToolHarness::own("");
    let wrong = harness.call("own.fine", json!({ "count": "many", "cuont": 1 }));
    let wrong = wrong.expect_err("it is not a number");
    assert_eq!(wrong.code, ErrorCode::ToolArguments);
    assert_eq!(
        wrong.message,
        "the arguments do not fit `own.fine`: `count` must be a whole number, not text; \
         `cuont` is not an argument of it"
    );
    assert_eq!(wrong.hint.as_deref(), Some("did you mean `count`?"));
    assert!(!harness.notes().contains("tools/call"), "{}", harness.notes());
    // Text that is exactly a number becomes one.
    harness.call("own.fine", json!({ "count": "5" })).expect("it fits");
    assert!(harness.notes().contains("\"count\":5"), "{}", harness.notes());
}

#[test]
fn the_server_is_told_when_nobody_waits_any_more() {
    let mut harness = ToolHarness::own("");
    let call = harness.start("own.never", json!({}), None);
    until("the call", || harness.notes().contains("tools/call"));
    harness.tools.cancel(call);
    assert_eq!(harness.end(call).expect_err("it was cancelled").code, ErrorCode::Cancelled);
    until("the cancellation", || harness.notes().contains("notifications/cancelled"));
    let call = harness.start("own.never", json!({}), Some(Duration::from_millis(100)));
    assert_eq!(harness.end(call).expect_err("its time was up").code, ErrorCode::Timeout);
    until("the second", || harness.notes().matches("notifications/cancelled").count() == 2);
    assert_eq!(harness.call("own.fine", json!({})).expect("it continues").text, "Status: fine");
}

#[test]
fn a_server_that_asks_is_declined() {
    let mut harness = ToolHarness::own("");
    let asked = harness.call("own.ask", json!({})).expect("it takes the no");
    assert_eq!(asked.text, "asked");
    assert!(harness.notes().contains("\"action\":\"decline\""), "{}", harness.notes());
    let said = harness.seen.iter().any(
        |event| matches!(event, ToolEvent::Declined { why, .. } if why == "nobody can be asked here"),
    );
    assert!(said, "{:?}", harness.seen);
}

#[test]
fn several_calls_at_once_end_each_for_itself() {
    let mut harness = ToolHarness::own("");
    let first = harness.start("own.never", json!({}), Some(Duration::from_secs(3)));
    let second = harness.start("own.fine", json!({}), None);
    assert_eq!(harness.end(second).expect("it does not wait").text, "Status: fine");
    assert_eq!(harness.end(first).expect_err("its time was up").code, ErrorCode::Timeout);
}

#[test]
fn a_server_of_2026_that_asks_back_is_declined_and_any_json_is_data() {
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools/modern.sh");
    let mut harness =
        ToolHarness::new(&format!("[tools.new]\nserver = [\"/bin/sh\", {script:?}]\n"));
    let data = harness.call("new.list", json!({})).expect("a list is data");
    assert_eq!(data.value, json!([1, null, { "a": 2 }]));
    let spoken = harness.seen.iter().find_map(|event| match event {
        ToolEvent::Started { protocol, .. } => Some(protocol.clone()),
        _ => None,
    });
    assert_eq!(spoken.as_deref(), Some("2026-07-28"));
    let asked = harness.call("new.ask", json!({})).expect_err("it does not take the no");
    assert_eq!(asked.code, ErrorCode::ToolFailed);
    assert_eq!(asked.message, "`new.ask` asked 10 times and gave no result");
    let no = |event: &&ToolEvent| matches!(event, ToolEvent::Declined { .. });
    assert_eq!(harness.seen.iter().filter(no).count(), 10);
}

#[test]
fn a_server_that_is_slow_or_silent_about_what_it_does_not_know_is_one_of_2025() {
    let refusal = r#"{"jsonrpc":"2.0","id":1000000000,"error":{"code":-32601,"message":"what?"}}"#;
    for (seconds, late) in [(0, ""), (3, refusal)] {
        let directory = tempfile::TempDir::with_prefix("aye-tools-").expect("a directory");
        let own = own_server(directory.path());
        let words = own.lines().nth(1).expect("the command").trim_start_matches("server = [");
        let words = words.trim_end_matches(']').replace(", ", " ");
        let script = directory.path().join("late");
        let text = format!("sleep {seconds}\necho '{late}'\nexec {words}\n");
        std::fs::write(&script, text).expect("written");
        // The first question has two seconds.
        let mut harness = ToolHarness::at(
            directory,
            &format!("[tools.own]\nserver = [\"/bin/sh\", {script:?}]\nstart_timeout = \"8s\"\n"),
        );
        harness.call("own.fine", json!({})).expect("it is only slow");
        assert!(harness.notes().contains("server/discover"), "{}", harness.notes());
        assert!(harness.notes().contains("\"initialize\""), "{}", harness.notes());
    }
}
