//! A run of an assistant that nobody answers holds no process, and the relayed
//! answer takes it up.

use serde_json::json;

use crate::cli::detach::driver;
use crate::cli::resting::{clocked, rests};

use super::client::{Client, Era, InboxView};

const GATE: &str = "
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 0 } }
  - { name: go, shell: touch went }";

#[test]
fn the_relayed_answer_takes_up_a_run_that_rests() {
    let desk = InboxView::with(&[("gate", GATE)]);
    let mut client = Client::of(clocked(&desk, &["mcp"]), Era::Legacy, json!({}), "test-client");
    let asks = client.run("gate");
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
    let run = asks.ok()["run"].as_str().unwrap().to_owned();
    let pid = driver(&desk, &run).expect("someone drives it");
    rests(&desk, &run, pid);
    let still = client.call("skill_status", json!({ "execution_id": asks.id() }));
    assert_eq!(still.status(), "awaiting_confirmation", "{}", still.text());
    assert!(still.ok().get("driven").is_none(), "{}", still.text());
    let said = json!({ "execution_id": asks.id(), "choice": "proceed" });
    let done = client.call("skill_continue", said);
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert!(desk.work().join("went").exists());
    // It is still the assistant's run: what it may do has not grown.
    let shown = desk.aye(&["show", &run, "--json"]).ok().json();
    assert_eq!(shown["started_by"], "assistant", "{shown}");
}
