//! What a model's context costs, counted with tokenizers that other people published.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::mcp::client::{Client, Era, InboxView};
use crate::needs;

use super::peer::node;

/// o200k and cl100k (OpenAI), and the one that Anthropic published for Claude 2.
const TOKENIZERS: usize = 3;

/// The tokens of each text, with each tokenizer.
pub(super) fn count(texts: &[String]) -> Vec<[usize; TOKENIZERS]> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/tokens.mjs");
    let mut child = Command::new(node())
        .arg(script)
        .env_clear()
        .env("PEER_PACKAGES", needs::installed("tokenizers"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(json!(texts).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_list_of_tools_takes_at_most_three_thousand() {
    let desk = InboxView::with(&[]);
    let list = |era| {
        let mut client = Client::that_can(&desk, era, json!({}));
        client.request("tools/list", json!({}))["result"]["tools"].to_string()
    };
    let lists = [list(Era::Legacy), list(Era::Modern)];
    for counted in count(&lists) {
        assert!(counted.iter().all(|tokens| (1..=3000).contains(tokens)), "{counted:?}");
    }
}
