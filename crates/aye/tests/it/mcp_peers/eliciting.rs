//! Forms that the client shows: accepted, declined, dismissed, never shown.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::peer::{Peer, with_each};
use super::room::{Room, run};
use super::service::Service;

/// Fills in the form: the option with this value, and nothing else.
fn filled(form: &Value, value: &str) -> Value {
    let schema = &form["requestedSchema"];
    let required =
        schema["required"].as_array().unwrap_or_else(|| panic!("nothing required: {form}"));
    assert_eq!(required.len(), 1, "{form}");
    let name = required[0].as_str().unwrap();
    let field = &schema["properties"][name];
    assert!(field["default"].is_null(), "a default could be taken for an answer: {form}");
    json!({ (name): value })
}

/// Begins the skill that asks, and waits for the form.
fn begin(peer: &mut Peer, target: &str) -> (u64, u64, Value) {
    let since = peer.seen.len();
    let args = json!({ "skill": "gate", "inputs": { "target": target } });
    let call = peer.start_call("skill_run", args);
    let (number, form) = peer.elicitation(since);
    let message = form["message"].as_str().unwrap();
    assert!(message.contains(&format!("Release to {target}?")), "{form}");
    (call, number, form)
}

fn accepts(peer: &mut Peer, room: &Room) {
    let (call, number, form) = begin(peer, "one");
    // The pause is there before the form is.
    assert_eq!(room.inbox().len(), 1);
    peer.answer(number, "accept", filled(&form, "proceed"));
    let done = peer.reply(call).stands("completed");
    assert_eq!(done.data["outputs"]["decision"], "proceed");
    assert!(room.read("acted").ends_with("proceed one\n"));
    assert_eq!(room.decisions(), [("proceed".to_owned(), "elicited".to_owned())]);
}

/// Accepting the form with the option that stops is a no.
fn accepts_a_no(peer: &mut Peer, room: &Room) {
    let (call, number, form) = begin(peer, "two");
    peer.answer(number, "accept", filled(&form, "stop"));
    peer.reply(call).stands("cancelled");
    assert_eq!(room.decisions(), [("stop".to_owned(), "elicited".to_owned())]);
    assert!(!room.read("acted").contains("two"));
}

/// An empty form, a wrong value, another type: none is an answer.
fn accepts_nonsense(peer: &mut Peer, room: &Room) {
    for nonsense in [json!({}), json!({ "choice": "yes please" }), json!({ "other": "proceed" })] {
        peer.answering(json!({ "how": "accept", "content": nonsense }));
        let call = peer
            .start_call("skill_run", json!({ "skill": "gate", "inputs": { "target": "three" } }));
        // An SDK may refuse to send it; the server is then told of an error.
        let outcome = peer.outcome(call);
        assert_eq!(room.inbox().len(), 1, "{nonsense}: it stays paused: {outcome:?}");
        assert!(!room.read("acted").contains("three"), "{nonsense} was taken for a yes");
        room.aye(&["cancel", "last"]).ok();
        room.ends("cancelled");
    }
    peer.answering(json!({ "how": "ask" }));
}

/// Nobody reads a form and declines it within a second: it was not shown.
fn declines_at_once(peer: &mut Peer, room: &Room) {
    peer.answering(json!({ "how": "decline" }));
    // On a busy machine "at once" may take longer than that; then it counts, and is tried once more.
    let paused = (0..20).find_map(|_| {
        let since = Instant::now();
        let reply = run(peer, "gate", json!({ "target": "four" }));
        if reply.status() == "awaiting_confirmation" {
            return Some(reply);
        }
        assert!(since.elapsed() >= Duration::from_secs(1), "it counted as a no: {reply:#?}");
        room.ends("cancelled");
        None
    });
    let paused = paused.expect("one of them was quick enough");
    assert_eq!(room.inbox().len(), 1);
    assert_eq!(room.decisions(), []);
    peer.answering(json!({ "how": "cancel" }));
    let status = peer.call("skill_status", json!({ "execution_id": paused.id() }));
    assert_eq!(status.status(), "awaiting_confirmation");
    // The assistant can still carry the word.
    let args = json!({ "execution_id": paused.id(), "choice": "stop" });
    peer.call("skill_continue", args).stands("cancelled");
    assert_eq!(room.decisions(), [("stop".to_owned(), "assistant".to_owned())]);
    peer.answering(json!({ "how": "ask" }));
}

/// A form that someone looked at and declined is a no.
fn declines_slowly(peer: &mut Peer, room: &Room) {
    peer.answering(json!({ "how": "decline", "after": 1300 }));
    let reply = run(peer, "gate", json!({ "target": "five" })).stands("cancelled");
    assert!(!reply.data.is_null());
    assert_eq!(room.decisions(), [("stop".to_owned(), "elicited".to_owned())]);
    assert!(!room.read("acted").contains("five"));
    peer.answering(json!({ "how": "ask" }));
}

/// Dismissing says nothing: the run stays paused, however long it took.
fn dismisses(peer: &mut Peer, room: &Room) {
    peer.answering(json!({ "how": "cancel", "after": 1300 }));
    run(peer, "gate", json!({ "target": "six" })).stands("awaiting_confirmation");
    assert_eq!(room.decisions(), []);
    room.person_says("stop");
    room.ends("cancelled");
    peer.answering(json!({ "how": "ask" }));
}

/// A person answers elsewhere while the form is open: first one wins.
fn answered_elsewhere(peer: &mut Peer, room: &Room) {
    let (call, number, form) = begin(peer, "seven");
    room.person_says("stop");
    room.ends("cancelled");
    peer.answer(number, "accept", filled(&form, "proceed"));
    let outcome = peer.outcome(call);
    assert_eq!(room.status(), "cancelled", "{outcome:?}");
    assert!(!room.read("acted").contains("seven"), "{outcome:?}");
    assert_eq!(room.decisions(), [("stop".to_owned(), "command".to_owned())]);
}

/// What wants advice goes to the assistant first; the form carries its words.
fn advises_first(peer: &mut Peer, room: &Room) {
    let asks = run(peer, "advised", json!({ "target": "eight" })).stands("awaiting_confirmation");
    assert_eq!(room.decisions(), []);
    let since = peer.seen.len();
    let args = json!({ "execution_id": asks.id(), "advice": "Nobody is on call today." });
    let call = peer.start_call("skill_continue", args);
    let (number, form) = peer.elicitation(since);
    let message = form["message"].as_str().unwrap();
    assert!(message.contains("Nobody is on call today."), "{form}");
    peer.answer(number, "accept", filled(&form, "proceed"));
    peer.reply(call).stands("completed");
    assert_eq!(room.decisions(), [("proceed".to_owned(), "elicited".to_owned())]);
    assert!(room.read("acted").contains("eight"));
}

fn all(peer: &mut Peer, room: &Room) {
    advises_first(peer, room);
    accepts(peer, room);
    accepts_a_no(peer, room);
    accepts_nonsense(peer, room);
    declines_at_once(peer, room);
    declines_slowly(peer, room);
    dismisses(peer, room);
    answered_elsewhere(peer, room);
}

#[test]
fn forms_in_both_eras_over_stdio() {
    with_each(|peer| {
        let room = Room::new();
        peer.connect(&room);
        all(peer, &room);
    });
}

#[test]
fn forms_in_both_eras_over_http() {
    with_each(|peer| {
        let room = Room::new();
        let service = Service::start(&room);
        peer.connect_http(&service.url, &service.token);
        all(peer, &room);
    });
}

/// A form that is answered too late, or never, does not hold the run: before
/// 2026 the call comes back with the pause, since then the client just never
/// calls again. Either way the question is still there to be answered.
#[test]
fn a_form_that_nobody_answers_leaves_the_pause() {
    with_each(|peer| {
        let room = Room::with("[mcp]\nform_timeout = \"1s\"\n");
        peer.connect(&room);
        let id = if peer.sdk.is_modern() {
            begin(peer, "nobody");
            let listed = peer.call("inbox", json!({}));
            let first = &listed.data["questions"][0];
            first["execution_id"].as_str().unwrap_or_else(|| panic!("{listed:#?}")).to_owned()
        } else {
            let late =
                json!({ "how": "accept", "content": { "choice": "proceed" }, "after": 2500 });
            peer.answering(late);
            run(peer, "gate", json!({ "target": "nobody" })).stands("awaiting_confirmation").id()
        };
        assert_eq!(room.inbox().len(), 1);
        assert_eq!(room.read("acted"), "");
        let args = json!({ "execution_id": id, "choice": "stop" });
        peer.call("skill_continue", args).stands("cancelled");
        assert_eq!(room.decisions(), [("stop".to_owned(), "assistant".to_owned())]);
    });
}
