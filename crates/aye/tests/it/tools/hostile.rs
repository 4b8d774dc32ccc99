//! Servers that do not play by the rules: Aye neither hangs nor crashes.

use std::time::{Duration, Instant};

use aye_core::error_code::ErrorCode;

use aye_runtime::tools::{ToolError, ToolEvent};
use serde_json::json;

use super::harness::ToolHarness;

/// Calls a tool of a server that is this shell script.
fn call(script: &str) -> (ToolError, Vec<ToolEvent>) {
    let text = format!(
        "[tools.bad]\nserver = [\"/bin/sh\", \"-c\", {script:?}]\nstart_timeout = \"2s\"\nlegacy = true\n"
    );
    let mut harness = ToolHarness::new(&text);
    let began = Instant::now();
    let error = harness.call("bad.tool", json!({})).expect_err("it gives nothing");
    let seen = std::mem::take(&mut harness.seen);
    drop(harness);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(error.code, ErrorCode::ToolServer, "{error:?}");
    (error, seen)
}

#[test]
fn one_that_ends_at_once() {
    let (error, _) = call("echo 'no such module' >&2; exit 3");
    assert_eq!(error.message, "the server `bad` does not answer: it ended with exit code 3");
    assert_eq!(error.hint.as_deref(), Some("its last output: no such module"));
}

#[test]
fn one_that_never_answers() {
    let (error, _) = call("exec sleep 1000");
    assert_eq!(error.message, "the server `bad` did not answer within 2s");
}

#[test]
fn one_that_writes_garbage() {
    let (error, seen) = call("while echo 'Welcome to bad 1.0!'; do :; done");
    assert!(error.message.contains("did not answer within 2s"), "{error:?}");
    let said = |event: &ToolEvent| matches!(event, ToolEvent::Log { line, .. } if line.contains("Welcome"));
    assert!(seen.iter().any(said));
    assert!(seen.len() < 100, "a flood is not repeated: {}", seen.len());
}

#[test]
fn one_that_writes_garbage_and_ends() {
    let (error, _) = call("echo 'Usage: bad [options]'");
    let hint = "it wrote to its standard output what is not a message: Usage: bad [options]";
    assert_eq!(error.hint.as_deref(), Some(hint));
}

#[test]
fn one_that_writes_bytes_that_are_no_text_and_json_that_is_no_message() {
    call(
        "printf '\\377\\376\\n[]\\n{}\\n{\"jsonrpc\":\"2.0\"}\\n{\"jsonrpc\":\"1.0\",\"id\":{}}\\n'; exec sleep 1000",
    );
}

#[test]
fn one_whose_line_never_ends() {
    // Its input stays open, or else writing to it would fail first.
    let (error, _) = call("printf '{'; exec tr '\\0' x 3<&0 </dev/zero");
    assert!(error.message.contains("it sent a message of more than 16 MiB"), "{error:?}");
}

#[test]
fn one_that_floods_its_standard_error() {
    let (error, seen) =
        call("tr '\\0' y </dev/zero | fold -w 70 >&2 & yes x >&2 & exec sleep 1000");
    assert!(error.message.contains("did not answer"), "{error:?}");
    let longest = seen.iter().map(|event| match event {
        ToolEvent::Log { line, .. } => line.len(),
        _ => 0,
    });
    assert!(longest.max().unwrap_or(0) <= 2000);
}

#[test]
fn one_that_answers_the_handshake_with_nonsense() {
    let script = "read -r line; printf '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"a\":1}}\\n'; exec sleep 1000";
    let (error, _) = call(script);
    let message = "the server `bad` does not answer: its answer to the handshake is not valid";
    assert_eq!(error.message, message);
}

#[test]
fn one_that_is_not_there() {
    let mut harness = ToolHarness::new("[tools.bad]\nserver = [\"./no-such-server\"]\n");
    let error = harness.call("bad.tool", json!({})).expect_err("it is not there");
    assert_eq!(error.code, ErrorCode::ToolServer);
    let message = "the server `bad` cannot be started: command `./no-such-server` not found";
    assert_eq!(error.message, message);
}

#[test]
fn one_that_misbehaves_only_when_called() {
    let mut harness = ToolHarness::own("");
    let huge = harness.call("own.huge", json!({})).expect_err("it is too much");
    assert!(huge.message.contains("it sent a message of more than 16 MiB"), "{huge:?}");
    let mut harness = ToolHarness::own("");
    let nonsense = harness.call("own.nonsense", json!({})).expect_err("it is not a result");
    assert_eq!(nonsense.code, ErrorCode::ToolServer, "{nonsense:?}");
    // Its output is closed while it lives on.
    let mute = harness.call("own.mute", json!({})).expect_err("nothing can come");
    assert_eq!(mute.code, ErrorCode::ToolServer, "{mute:?}");
}
