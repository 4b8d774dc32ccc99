//! What an assistant is told of what may follow a pause: every call that is named can be made
//! as it is, and what can no longer be done is not offered.

use serde_json::json;

use super::client::{Client, Got, InboxView};
use super::telling::RICH;

/// Every call of `next`, made as it is given, on a question of its own.
fn calls_of(client: &mut Client, ask: &mut dyn FnMut(&mut Client) -> Got) {
    let count = ask(client).ok()["next"].as_array().unwrap().len();
    for at in 0..count {
        let asks = ask(client);
        let call = asks.ok()["next"][at].clone();
        let Some(tool) = call["tool"].as_str() else { continue };
        let got = client.call(tool, call["arguments"].clone());
        assert_ne!(got.whole["isError"], true, "{call}: {}", got.text());
        assert!(!call.to_string().contains('<'), "{call}: nothing is left to be filled in");
    }
}

#[test]
fn what_may_follow_can_be_called_as_it_is_given() {
    let failing = "
steps:
  - { name: check, shell: 'exit 1', on_error: ask }";
    let block = "
steps:
  - { name: plan, compute: 'result = [][0]', on_error: ask }";
    let text = "
steps:
  - { name: who, input: { message: Who?, timeout: 1h } }";
    let strict = "
steps:
  - { name: sure, confirm: { message: Sure?, by: human, timeout: 1h } }";
    let skills = [
        ("release", RICH),
        ("failing", failing),
        ("block", block),
        ("text", text),
        ("strict", strict),
        ("ends", "steps:\n  - { name: bad, shell: 'exit 3' }"),
    ];
    let desk = InboxView::with(&skills);
    let mut client = Client::new(&desk);
    for (skill, _) in skills {
        // `skill_status` with `wait` would wait for a person who is not there.
        calls_of(&mut client, &mut |client| {
            let mut got = client.run(skill);
            for call in got.whole["structuredContent"]["next"].as_array_mut().unwrap() {
                if call["arguments"]["wait"].is_u64() {
                    call["arguments"]["wait"] = json!(0);
                }
            }
            got
        });
    }
    let planned = client.call("skill_run", json!({ "skill": "release", "dry_run": true }));
    let next = planned.ok()["next"][0].clone();
    let asks = client.call("skill_run", next["arguments"].clone());
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
}

#[test]
fn after_the_last_change_the_refusal_says_so() {
    let skill = "
steps:
  - { name: look, tool: look, args: { what: a }, on_error: ask }";
    let desk = InboxView::untrusted(&[("go", skill)]);
    desk.write(
        "aye.toml",
        "[tools.look]\ncommand = [\"false\", \"{{ args.what }}\"]\nargs = { what = { type = \"string\" } }\n",
    );
    desk.aye(&["trust", "--yes"]).ok();
    let mut client = Client::new(&desk);
    let mut failed = client.run("go");
    for left in (0..=3).rev() {
        assert_eq!(failed.ok()["edits_left"], left, "{}", failed.text());
        let changed = json!({
            "execution_id": failed.id(), "step": "look", "args": { "what": format!("b{left}") },
        });
        let got = client.call("skill_retry_step", changed);
        if left == 0 {
            let why = got.refused();
            assert!(why.contains("was changed 3 times: it takes no more changes"), "{why}");
            assert!(why.contains("without `args`"), "{why}");
        } else {
            failed = got;
        }
    }
    let last = failed.ok()["next"].to_string();
    assert!(last.contains("it takes no more changes"), "{last}");
}

#[test]
fn what_was_taken_when_a_pause_expired_is_told() {
    let skill = "
steps:
  - { name: sure, confirm: { message: Go?, timeout: 2s, default: cancel } }";
    let desk = InboxView::with(&[("go", skill)]);
    let mut client = Client::new(&desk);
    let asks = client.run("go");
    let over = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 45 }));
    assert_eq!(over.status(), "cancelled", "{}", over.text());
    let said = "`sure`: nobody answered in time; `cancel` was taken";
    assert_eq!(over.ok()["decisions"], json!([said]), "{}", over.text());
    assert!(over.text().contains(&format!("decided (data): {said}")), "{}", over.text());
    let asks = client.run("go");
    let id = asks.ok()["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &id, "proceed"]).ok();
    let over = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 45 }));
    assert!(over.text().contains("answered `proceed`"), "{}", over.text());
}

#[test]
fn an_id_whose_time_is_up_says_so() {
    let gate = "
steps:
  - { name: sure, confirm: { message: Go?, timeout: 2s, default: cancel } }";
    let desk = InboxView::with(&[("gate", gate)]);
    let mut client = Client::new(&desk);
    let asks = client.run("gate");
    assert_eq!(asks.ok()["on_expiry"], "`cancel` is taken");
    let over = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 45 }));
    assert_eq!(over.status(), "cancelled", "{}", over.text());
    let taken = "`sure`: nobody answered in time; `cancel` was taken";
    assert_eq!(over.ok()["decisions"], json!([taken]));
    assert!(over.text().contains(taken), "{}", over.text());
    let late = json!({ "execution_id": asks.id(), "choice": "proceed" });
    let why = client.call("skill_continue", late).refused();
    assert!(why.contains(" has expired: an execution id can be used once"), "{why}");
}

#[test]
fn an_id_that_has_expired_is_not_called_relayable() {
    let ask = "
steps:
  - { name: sure, confirm: { message: Go?, timeout: 1h } }";
    let desk = InboxView::with(&[("go", ask)]);
    desk.write("aye.toml", "[mcp]\nexpires = \"1s\"\n");
    desk.aye(&["trust", "--yes"]).ok();
    let mut client = Client::new(&desk);
    let asks = client.run("go");
    let run = asks.ok()["run"].as_str().unwrap().to_owned();
    let mut last = asks;
    crate::cli::harness::until("the id expires", || {
        let listed = client.call("run_list", json!({})).ok();
        let id = listed["runs"][0]["execution_id"].clone();
        last = client.call("skill_status", json!({ "execution_id": id }));
        last.ok()["relayable"] == false
    });
    assert_eq!(last.ok()["run"], run.as_str());
    let who = last.ok()["answered_by"].as_str().unwrap().to_owned();
    assert_eq!(who, "a person, not through you: the time of this id is up");
    assert!(!last.text().contains("you may relay"), "{}", last.text());
    assert!(!last.ok()["next"].to_string().contains("skill_continue"), "{}", last.text());
}

/// Once advice was given, nothing asks for it again.
#[test]
fn advice_is_asked_for_once() {
    let desk = InboxView::with(&[("release", RICH)]);
    let mut client = Client::new(&desk);
    let asks = client.run("release");
    assert!(asks.text().contains("add `advice`"), "{}", asks.text());
    let args = json!({ "execution_id": asks.id(), "advice": "It is fine." });
    let advised = client.call("skill_advise", args);
    assert!(!advised.text().contains("add `advice`"), "{}", advised.text());
    assert!(advised.text().contains("with the advice beside the question"), "{}", advised.text());
}
