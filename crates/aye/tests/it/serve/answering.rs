//! People with names answer: together, not alone, not twice.

use serde_json::{Value, json};

use crate::cli::detach::driver;
use crate::cli::resting::{clocked, rests};
use crate::prompt::pty::Terminal;

use super::client::Served;

const TWO: &str = "
steps:
  - name: sure
    confirm: { message: 'Go?', timeout: 1h, approvals: 2 }
  - { name: go, shell: touch went }";

const NAMED: &str = "
steps:
  - name: sure
    confirm: { message: 'Go?', timeout: 1h, by: [ann] }
  - { name: go, shell: touch went }";

const TWO_OTHERS: &str = "
steps:
  - name: sure
    confirm: { message: 'Go?', timeout: 1h, approvals: { count: 2, not_starter: true } }
  - { name: go, shell: touch went }";

fn yes(asked: &Value) -> Value {
    json!({ "type": "answer", "question": asked["question"], "digest": asked["digest"], "choice": "proceed" })
}

#[test]
fn two_people_on_two_connections_approve() {
    let server = Served::with(&[("go", TWO)]);
    let (ann, bob) = (server.person("ann", "answer"), server.person("bob", "answer,start"));
    let mut first = server.socket_as(&ann, "/ws");
    assert_eq!(first.snapshot()["you"], "ann");
    let mut second = server.socket_as(&bob, "/ws");
    second.snapshot();
    let run = second.done(json!({ "type": "start", "skill": "go" }))["run"].clone();
    let asked = first.event("confirmation_required");
    let taken = first.done(yes(&asked));
    assert_eq!((&taken["state"], &taken["missing"]), (&json!("open"), &json!(1)));
    assert_eq!(first.refused(yes(&asked)), "refused", "the same person does not count twice");
    assert!(!server.work().join("went").exists());
    second.event("confirmation_required");
    second.done(yes(&asked));
    first.event("skill_completed");
    assert!(server.work().join("went").exists());
    let answers: Vec<&Value> = first
        .seen
        .iter()
        .filter(|event| event["type"] == "confirmation_answered" && event["refused"].is_null())
        .map(|event| &event["answer"])
        .collect();
    assert_eq!(answers.len(), 2, "{run}");
    assert_eq!((&answers[0]["by"], &answers[0]["proof"]), (&json!("ann"), &json!("token")));
    assert_eq!((&answers[1]["by"], &answers[1]["proof"]), (&json!("bob"), &json!("token")));
    let shown = server.aye(&["show", "last"]).ok().stdout;
    assert!(shown.contains("by ann through command (token)"), "{shown}");
    // The account drives it, and someone else started it.
    assert!(shown.contains(", started by bob through the HTTP API"), "{shown}");
    let page = server.aye(&["show", "last", "--markdown"]).ok().stdout;
    assert!(page.contains(", started by bob through the HTTP API"), "{page}");
}

#[test]
fn only_who_is_named_may_answer() {
    let server = Served::with(&[("go", NAMED)]);
    let (ann, bob) = (server.person("ann", "answer"), server.person("bob", "answer"));
    server.start_skill("go");
    server.question();
    let mut other = server.socket_as(&bob, "/ws");
    let asked = other.snapshot()["questions"][0].clone();
    assert_eq!(other.refused(yes(&asked)), "refused");
    let mut local = server.socket("/ws");
    local.snapshot();
    assert_eq!(local.refused(yes(&asked)), "refused", "the account is not ann");
    let mut named = server.socket_as(&ann, "/ws");
    named.snapshot();
    named.done(yes(&asked));
    named.event("skill_completed");
}

#[test]
fn who_started_it_does_not_count_where_others_have_to_agree() {
    let server = Served::with(&[("go", TWO_OTHERS)]);
    let starter = server.person("ann", "answer,start");
    let others = [server.person("bob", "answer"), server.person("cid", "answer")];
    let mut ann = server.socket_as(&starter, "/ws");
    ann.snapshot();
    ann.done(json!({ "type": "start", "skill": "go" }));
    let asked = ann.event("confirmation_required");
    assert_eq!(ann.refused(yes(&asked)), "refused");
    assert!(!server.work().join("went").exists());
    for token in &others {
        let mut other = server.socket_as(token, "/ws");
        other.snapshot();
        other.done(yes(&asked));
    }
    ann.event("skill_completed");
    assert!(server.work().join("went").exists());
}

#[test]
fn an_answer_elsewhere_withdraws_the_question_everywhere() {
    let server = Served::with(&[("go", super::client::GATE)]);
    let mut socket = server.socket("/ws");
    socket.snapshot();
    socket.done(json!({ "type": "start", "skill": "go" }));
    let asked = socket.event("confirmation_required");
    let id = asked["question"].as_str().unwrap();
    server.aye(&["answer", id, "cancel"]).ok();
    let answered = socket.event("confirmation_answered");
    assert_eq!(
        (&answered["question"], &answered["answer"]["value"]),
        (&asked["question"], &json!("cancel"))
    );
    assert_eq!(socket.refused(yes(&asked)), "decided");
    let late = server.aye(&["answer", id, "proceed"]);
    assert!(late.code != 0 && late.stderr.contains("is decided"), "{}", late.all());
}

/// The other way round: the prompt of a terminal closes.
#[test]
fn an_answer_over_the_socket_closes_the_prompt_of_a_terminal() {
    let server = Served::with(&[("go", super::client::GATE)]);
    let mut terminal = Terminal::aye(&server, &["run", "go"]);
    terminal.wait_for("[y/N]");
    let mut socket = server.socket("/ws");
    let asked = socket.snapshot()["questions"][0].clone();
    socket.done(yes(&asked));
    assert_eq!(terminal.end(), Some(0));
    assert!(server.work().join("went").exists());
}

/// The account of the operating system is a person: its answers carry the name, count once
/// however they come, and who starts a run with it is the starter.
#[test]
fn the_account_is_the_person_it_belongs_to() {
    let server = Served::with(&[("two", TWO), ("others", TWO_OTHERS)]);
    let status = server.aye(&["auth", "status", "--json"]).json();
    let user = status["user"].as_str().unwrap();
    let add = ["people", "add", "me", "--rights", "answer,start", "--account", user, "--json"];
    let token = server.aye(&add).ok().json()["token"].as_str().unwrap().to_owned();
    server.aye(&["run", "two", "--detach"]).ok();
    let asked = server.question();
    let id = asked["question"].as_str().unwrap();
    server.aye(&["answer", id, "proceed"]).ok();
    let mut me = server.socket_as(&token, "/ws?after=0");
    assert_eq!(me.snapshot()["you"], "me");
    let answered = me.event("confirmation_answered");
    assert_eq!(answered["answer"]["by"], "me");
    let again = json!({ "type": "answer", "question": id, "choice": "proceed" });
    assert_eq!(me.refused(again), "refused", "the same person");
    server.aye(&["answer", id, "cancel"]).ok();
    server.aye(&["run", "others", "--detach"]).ok();
    let asked = server.question();
    let id = asked["question"].as_str().unwrap();
    let own = json!({ "type": "answer", "question": id, "choice": "proceed" });
    assert_eq!(me.refused(own), "refused", "the starter");
    assert!(!server.work().join("went").exists());
}

/// A run in the background that rests is taken up by an answer over HTTP.
#[test]
fn an_answer_takes_up_a_run_that_rests() {
    let skill = "
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 0 } }
  - { name: go, shell: touch went }";
    let server = Served::with(&[("go", skill)]);
    let ran = clocked(&server, &["run", "go", "--detach", "-q"]).output().unwrap();
    let run = String::from_utf8(ran.stdout).unwrap().trim().to_owned();
    let asked = server.question();
    let pid = driver(&server, &run).expect("someone drives it");
    rests(&server, &run, pid);
    let question = asked["question"].as_str().unwrap();
    let answer = json!({ "choice": "proceed", "digest": asked["digest"] });
    server.post(&format!("/api/v1/questions/{question}/answer"), &answer).ok();
    server.until_status(&run, "completed");
    assert!(server.work().join("went").exists());
    let shown = server.aye(&["show", &run]).ok().stdout;
    assert!(shown.contains("through command (local)"), "{shown}");
}
