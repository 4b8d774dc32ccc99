//! ntfy, as its documentation describes it: published as JSON to the root of the
//! server, deleted with `DELETE /TOPIC/SEQUENCE`.

use super::receiver::Receiver;
use super::{messages, place_with};
use crate::cli::harness::until;

#[test]
fn a_question_is_published_and_deleted_when_it_is_answered() {
    let server = Receiver::new();
    let place = place_with(&format!(
        "[notify.phone]\nkind = \"ntfy\"\nurl = \"{}\"\ntopic = \"my-topic_1\"\n\
         token = \"tk_123\"\nlink = \"https://aye.example\"\n",
        server.url()
    ));
    place.aye(&["run", "gate", "--detach"]).ok();
    let sent = server.until(1);
    assert_eq!((sent[0].method.as_str(), sent[0].path.as_str()), ("POST", "/"));
    assert_eq!(sent[0].header("authorization"), Some("Bearer tk_123"));
    let (body, run) = (sent[0].json(), place.last());
    assert_eq!(body["topic"], "my-topic_1");
    assert_eq!(body["title"], "gate: Really");
    assert_eq!(body["priority"], 4);
    assert_eq!(body["click"], format!("https://aye.example/#/questions/{run}-1"));
    let actions = body["actions"].as_array().unwrap();
    let http: Vec<&str> = actions
        .iter()
        .filter(|action| action["action"] == "http")
        .map(|action| {
            assert_eq!(action["method"], "POST");
            assert_eq!(action["url"], "https://aye.example/api/v1/answer-token");
            let body: serde_json::Value =
                serde_json::from_str(action["body"].as_str().unwrap()).unwrap();
            assert_eq!(body["token"].as_str().unwrap().len(), 64);
            action["label"].as_str().unwrap()
        })
        .collect();
    assert_eq!(http.len(), 2, "{actions:?}");
    assert_eq!(actions[2]["action"], "view");
    until("sent", || messages(&place)[0]["state"] == "sent");
    place.aye(&["answer", &format!("{run}-1"), "proceed"]).ok();
    let sent = server.until(2);
    let sequence = body["sequence_id"].as_str().unwrap();
    assert_eq!(sent[1].method, "DELETE");
    assert_eq!(sent[1].path, format!("/my-topic_1/{sequence}"));
    until("retracted", || messages(&place)[0]["state"] == "retracted");
}

#[test]
fn a_text_that_had_to_be_cut_cannot_be_agreed_to_from_the_message() {
    let server = Receiver::new();
    let place = place_with(&format!(
        "[notify.phone]\nkind = \"ntfy\"\nurl = \"{}\"\ntopic = \"t\"\nlink = \"https://aye.example\"\n",
        server.url()
    ));
    let long = "x".repeat(6_000);
    place.write(
        "skills/gate.yaml",
        &format!("name: gate\nsteps:\n  - {{ name: sure, confirm: {{ message: '{long} and rm -rf' }} }}\n"),
    );
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let body = server.until(1)[0].json();
    let text = body["message"].as_str().unwrap();
    assert!(text.len() <= 4_000 && text.ends_with("the rest is on the card"), "{text}");
    let labels: Vec<&str> = body["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["Cancel", "Open"], "only what declines, and the card");
}
