//! Answering from a message: what a button can do, and what it cannot.

use serde_json::Value;

use super::messages;
use super::receiver::Receiver;
use crate::cli::harness::{Place, until};
use crate::serve::client::{Answer, Served};

/// A place with a server, a skill, and a phone that gets buttons.
struct Phone {
    served: Served,
    phone: Receiver,
}

impl Phone {
    fn with(steps: &str) -> Self {
        Self::with_settings(steps, "")
    }

    fn with_settings(steps: &str, more: &str) -> Self {
        let (place, phone) = (Place::new(), Receiver::new());
        place.write("skills/gate.yaml", &format!("name: gate\n{steps}\n"));
        super::configure(
            &place,
            &format!(
                "[notify.phone]\nkind = \"ntfy\"\nurl = \"{}\"\ntopic = \"t\"\nperson = \"ann\"\n{more}\n",
                phone.url()
            ),
        );
        place.aye(&["trust", "--yes"]).ok();
        Self { served: Served::at(place), phone }
    }

    /// Starts the skill; the buttons of its question, label and token.
    fn asked(&self) -> Vec<(String, String)> {
        self.served.aye(&["run", "gate", "--detach"]).ok();
        let body = self.phone.until(1)[0].json();
        buttons(&body)
    }

    fn press(&self, token: &str) -> Answer {
        let kind = [("Content-Type", "application/json")];
        let body = serde_json::json!({ "token": token }).to_string();
        self.served.raw("POST", "/api/v1/answer-token", &kind, &body)
    }
}

fn buttons(body: &Value) -> Vec<(String, String)> {
    let actions = body["actions"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    actions
        .filter(|action| action["action"] == "http")
        .map(|action| {
            let body: Value = serde_json::from_str(&text(&action["body"])).unwrap();
            (text(&action["label"]), text(&body["token"]))
        })
        .collect()
}

const GATE: &str = "steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, shell: touch went }";

#[test]
fn a_button_answers_once_without_a_session_and_is_recorded_as_relayed() {
    let phone = Phone::with(GATE);
    let buttons = phone.asked();
    assert_eq!(buttons.len(), 2, "{buttons:?}");
    let (_, yes) = &buttons[0];
    // Reading it decides nothing.
    let shown = phone.served.raw("GET", "/api/v1/answer-token", &[], "");
    assert!(shown.status >= 400, "{shown:?}");
    let forged = phone.press(&"0".repeat(64));
    assert_eq!(forged.problem(404), "not_found");
    assert_eq!(phone.press("").problem(404), "not_found");
    let answered = phone.press(yes).ok();
    assert_eq!(answered["state"], "answered");
    until("the step", || phone.served.work().join("went").exists());
    until("the end", || phone.served.status() == "completed");
    let shown = phone.served.aye(&["show", "last", "--json"]).ok().json();
    let events = shown["events"].as_array().unwrap();
    let answer = events.iter().find(|one| one["type"] == "confirmation_answered").unwrap();
    assert_eq!(answer["answer"]["by"], "ann");
    assert_eq!(answer["answer"]["prompter"], "message");
    assert_eq!(answer["answer"]["proof"], "relayed");
    // Used, and dead with its question; so is the other one.
    for (_, token) in &buttons {
        assert_eq!(phone.press(token).problem(409), "decided");
    }
}

#[test]
fn wrong_tokens_keep_nobody_from_answering() {
    let phone = Phone::with(GATE);
    let buttons = phone.asked();
    let wrong = |_| phone.press(&"0".repeat(64)).status;
    let mut statuses = (0..200).map(wrong);
    assert!(statuses.any(|status| status == 429), "who guesses is slowed down");
    assert_eq!(phone.press(&buttons[1].1).ok()["state"], "answered");
    until("the end", || phone.served.status() == "cancelled");
}

#[test]
fn a_browser_of_another_place_cannot_press_a_button() {
    let phone = Phone::with(GATE);
    let buttons = phone.asked();
    let foreign = [("Content-Type", "application/json"), ("Origin", "https://evil.example")];
    let body = serde_json::json!({ "token": buttons[0].1 }).to_string();
    let refused = phone.served.raw("POST", "/api/v1/answer-token", &foreign, &body);
    assert_eq!(refused.problem(403), "forbidden");
    assert_eq!(phone.press(&buttons[1].1).ok()["state"], "answered");
    until("the end", || phone.served.status() == "cancelled");
    assert!(!phone.served.work().join("went").exists());
}

#[test]
fn what_wants_a_person_can_be_declined_with_a_button_and_not_agreed_to() {
    for guard in ["by: human", "approvals: 2", "type_to_confirm: yes-please", "reauth: true"] {
        let phone = Phone::with(&format!(
            "steps:\n  - {{ name: sure, confirm: {{ message: 'Go?', {guard} }} }}\n  - {{ name: go, shell: touch went }}"
        ));
        let buttons = phone.asked();
        let labels: Vec<&str> = buttons.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Cancel"], "{guard}");
        phone.press(&buttons[0].1).ok();
        until("it is declined", || phone.served.status() == "cancelled");
        assert!(!phone.served.work().join("went").exists());
    }
}

#[test]
fn what_is_for_people_with_names_has_no_buttons() {
    let phone = Phone::with(
        "steps:\n  - { name: sure, confirm: { message: 'Go?', by: [ann] } }\n  - { name: go, shell: touch went }",
    );
    assert!(phone.asked().is_empty());
    phone.served.aye(&["cancel", "last"]).ok();
}

#[test]
fn a_button_does_not_agree_to_what_cannot_be_undone() {
    for steps in [
        "steps:\n  - { name: sure, confirm: { message: 'Go?' } }\n  - { name: go, shell: touch went, destructive: true }",
        "steps:\n  - { name: sure, confirm: { message: 'Go?' } }\n  - { name: a, shell: 'true' }\n  - { name: b, shell: 'true', destructive: true }",
        "steps:\n  - { name: go, shell: touch went, destructive: true, confirmation: { message: 'Go?' } }",
    ] {
        let phone = Phone::with(steps);
        let labels: Vec<String> = phone.asked().into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, ["Cancel"], "{steps}");
        phone.served.aye(&["cancel", "last"]).ok();
    }
}

#[test]
fn what_was_not_told_is_not_agreed_to() {
    for show in ["title", "pointer"] {
        let phone = Phone::with_settings(GATE, &format!("show = \"{show}\""));
        let buttons = phone.asked();
        let labels: Vec<&str> = buttons.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Cancel"], "{show}");
        assert_eq!(phone.press(&buttons[0].1).ok()["state"], "answered");
        until("the end", || phone.served.status() == "cancelled");
    }
}

#[test]
fn a_button_does_not_decline_where_that_starts_something() {
    let phone = Phone::with(
        "initial: ask\nstates:\n  ask: { shell: touch went, confirmation: { message: 'Go?' }, transitions: { success: done, declined: undo } }\n  \
         undo: { shell: touch undone, transitions: { success: done } }\n  done: { type: final }",
    );
    let labels: Vec<String> = phone.asked().into_iter().map(|(label, _)| label).collect();
    assert_eq!(labels, ["Proceed"]);
    phone.served.aye(&["cancel", "last"]).ok();
}

#[test]
fn a_token_dies_with_its_question_and_is_not_kept_in_the_clear() {
    let phone = Phone::with(GATE);
    let buttons = phone.asked();
    let journal = std::fs::read(phone.served.home().join("journal.db")).unwrap();
    let log = std::fs::read(phone.served.home().join("journal.db-wal")).unwrap_or_default();
    for bytes in [journal, log] {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(&buttons[0].1), "the token is in the journal");
    }
    phone.served.aye(&["cancel", "last"]).ok();
    until("the end", || phone.served.status() == "cancelled");
    assert_eq!(phone.press(&buttons[0].1).problem(409), "decided");
    assert!(!phone.served.work().join("went").exists());
    until("taken back", || messages(&phone.served)[0]["state"] == "retracted");
}

#[test]
fn the_server_tells_what_a_driver_left() {
    let (place, phone) = (Place::new(), Receiver::new());
    place.write("skills/gate.yaml", &format!("name: gate\n{GATE}\n"));
    super::configure(
        &place,
        &format!(
            "[notify.hook]\nkind = \"webhook\"\nurl = \"{}\"\nremind = \"1m\"\n\
             escalate = {{ after = \"2m\", to = \"boss\" }}\n\
             [notify.boss]\nkind = \"webhook\"\nurl = \"{}/boss\"\non = [\"escalation\"]\n",
            phone.url(),
            phone.url()
        ),
    );
    place.aye(&["trust", "--yes"]).ok();
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    phone.until(1);
    let doctor = place.aye(&["doctor"]).stdout;
    assert!(doctor.contains("need the server"), "{doctor}");
    // Nobody drives the run; a day later the server is there.
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("AYE_TEST_DAYS", "1").stdout(std::process::Stdio::null());
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let all = phone.until(5);
    let mut told: Vec<String> = all[1..]
        .iter()
        .map(|one| format!("{} {}", one.path, one.json()["event"].as_str().unwrap()))
        .collect();
    told.sort();
    assert_eq!(told, ["/ reminder", "/ reminder", "/ reminder", "/boss escalation"]);
    child.kill().unwrap();
    child.wait().unwrap();
}
