//! Who sees a question, and what their silence means.

use serde_json::{Value, json};

use crate::cli::harness::until;

use super::client::{Served, Socket};
use crate::mcp::client::{Client, Era};

const SILENCE: &str = "
steps:
  - name: ask
    confirm: { message: 'Go?', timeout: 4s, default: proceed }
  - { name: go, command: touch, args: [went] }";

/// Says what the client is, and that it has told its person of this question.
fn notify(socket: &mut Socket, kind: &str, question: &Value) {
    socket.done(json!({ "type": "hello", "kind": kind }));
    socket.done(json!({ "type": "show", "question": null, "notified": [question] }));
}

/// Says what the client is, and that it shows this question.
fn show(socket: &mut Socket, kind: &str, question: &Value) {
    socket.done(json!({ "type": "hello", "kind": kind }));
    socket.done(json!({ "type": "show", "question": question }));
}

#[test]
fn silence_counts_where_a_card_was_visible() {
    let server = Served::with(&[("go", SILENCE)]);
    let mut editor = server.socket("/ws");
    editor.snapshot();
    let run = editor.done(json!({ "type": "start", "skill": "go" }))["run"].clone();
    let asked = editor.event("confirmation_required");
    show(&mut editor, "editor", &asked["question"]);
    let expired = editor.event("confirmation_expired");
    assert_eq!((&expired["run"], &expired["applied"]), (&run, &json!("proceed")));
    editor.event("skill_completed");
    assert!(server.work().join("went").exists());
}

/// An editor may hide a notification: who says nothing may not have seen it.
#[test]
fn silence_does_not_count_where_there_was_only_a_notification() {
    let server = Served::with(&[("go", SILENCE)]);
    let mut editor = server.socket("/ws");
    editor.snapshot();
    editor.done(json!({ "type": "start", "skill": "go" }));
    let asked = editor.event("confirmation_required");
    notify(&mut editor, "editor", &asked["question"]);
    let db = server.journal_db();
    let kinds = || {
        let mut rows = db.prepare("SELECT kind FROM presence").unwrap();
        let kinds = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
        kinds.map(Result::unwrap).collect::<Vec<_>>()
    };
    until("others are told", || kinds() == ["editor notification"]);
    let held = editor.until("its time stands still", |message| {
        message["type"] == "confirmation_held" && message["left_ms"].is_number()
    });
    assert_eq!(held["question"], asked["question"]);
    assert!(!server.work().join("went").exists());
    // No other kind of client has notifications.
    notify(&mut editor, "program", &asked["question"]);
    until("it is not told any more", || kinds().is_empty());
}

#[test]
fn silence_of_those_who_could_not_answer_does_not_count() {
    let server = Served::with(&[("go", SILENCE)]);
    let (reader, ann) = (server.person("eve", "read"), server.person("ann", "answer"));
    let mut program = server.socket("/ws");
    program.snapshot();
    program.done(json!({ "type": "start", "skill": "go" }));
    let asked = program.event("confirmation_required");
    let question = &asked["question"];
    // A program may have nobody who looks at it; who may only read cannot say no.
    program.done(json!({ "type": "show", "question": question }));
    let mut reading = server.socket_as(&reader, "/ws");
    reading.snapshot();
    show(&mut reading, "editor", question);
    // Others show something else, or nothing that there is.
    let mut elsewhere = server.socket_as(&ann, "/ws");
    elsewhere.snapshot();
    show(&mut elsewhere, "editor", &json!("nothing123-1"));
    let held = program.until("its time stands still", |message| {
        message["type"] == "confirmation_held" && message["left_ms"].is_number()
    });
    assert_eq!(&held["question"], question);
    assert!(!server.work().join("went").exists());
    // When someone comes, it has its full time, and then their silence counts.
    show(&mut elsewhere, "editor", question);
    let again = program.until("its time runs", |message| {
        message["type"] == "confirmation_held" && message["deadline"].is_string()
    });
    assert_eq!(&again["question"], question);
    program.event("confirmation_expired");
    program.event("skill_completed");
}

#[test]
fn a_question_is_seen_by_those_whom_it_asks() {
    let ask = |rules: &str| {
        let skill = format!(
            "\nsteps:\n  - name: ask\n    confirm: {{ message: 'Go?', timeout: 1h, {rules} }}"
        );
        let server = Served::with(&[("go", &skill)]);
        let (ann, bob) = (server.person("ann", "start,answer"), server.person("bob", "answer"));
        let mut starter = server.socket_as(&ann, "/ws");
        starter.snapshot();
        starter.done(json!({ "type": "start", "skill": "go" }));
        let asked = starter.event("confirmation_required");
        let mut other = server.socket_as(&bob, "/ws");
        other.snapshot();
        (server, starter, other, asked)
    };
    let clients = |server: &Served| {
        let db = server.journal_db();
        let mut rows = db.prepare("SELECT DISTINCT client FROM presence ORDER BY 1").unwrap();
        let names = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
        names.map(Result::unwrap).collect::<Vec<_>>()
    };
    let (server, mut starter, mut other, asked) = ask("by: [ann]");
    show(&mut other, "editor", &asked["question"]);
    show(&mut starter, "editor", &asked["question"]);
    until("ann is told of", || clients(&server) == ["ann"]);
    drop((server, starter, other));
    let (server, mut starter, mut other, asked) = ask("approvals: { count: 1, not_starter: true }");
    show(&mut starter, "editor", &asked["question"]);
    show(&mut other, "editor", &asked["question"]);
    until("bob is told of", || clients(&server) == ["bob"]);
    drop((server, starter, other));
    let (server, mut starter, mut other, asked) = ask("approvals: { count: 2 }");
    show(&mut starter, "editor", &asked["question"]);
    show(&mut other, "editor", &asked["question"]);
    until("both are told of", || clients(&server) == ["ann", "bob"]);
    let (question, digest) = (&asked["question"], &asked["digest"]);
    starter.done(json!({
        "type": "answer", "question": question, "digest": digest, "choice": "proceed"
    }));
    until("bob is left", || clients(&server) == ["bob"]);
}

#[test]
fn a_card_of_a_server_that_was_killed_is_not_seen() {
    // Long enough for a machine that is busy: it has to be killed before the time is up.
    let mut server = Served::with(&[("go", &SILENCE.replace("4s", "10s"))]);
    let mut editor = server.socket("/ws");
    editor.snapshot();
    editor.done(json!({ "type": "start", "skill": "go" }));
    let asked = editor.event("confirmation_required");
    show(&mut editor, "editor", &asked["question"]);
    let db = server.journal_db();
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, u64>(0)).unwrap();
    until("it is told", || count("SELECT count(*) FROM presence WHERE kind = 'editor'") == 1);
    server.kill();
    until("its time stands still", || {
        count("SELECT count(*) FROM events WHERE type = 'confirmation_held'") > 0
    });
    assert_eq!(count("SELECT count(*) FROM events WHERE type = 'confirmation_expired'"), 0);
    assert!(!server.work().join("went").exists());
}

#[test]
fn a_client_that_leaves_shows_nothing() {
    let server = Served::with(&[("go", super::client::GATE)]);
    let mut editor = server.socket("/ws");
    editor.snapshot();
    editor.done(json!({ "type": "start", "skill": "go" }));
    let asked = editor.event("confirmation_required");
    show(&mut editor, "editor", &asked["question"]);
    let db = server.journal_db();
    let count = || {
        let sql = "SELECT count(*) FROM presence";
        db.query_row(sql, [], |row| row.get::<_, u64>(0)).unwrap()
    };
    until("it is told", || count() == 1);
    drop(editor);
    until("it is gone", || count() == 0);
}

#[test]
fn an_assistant_is_told_where_its_question_is_shown_right_now() {
    let server = Served::with(&[("go", super::client::GATE)]);
    let command = server.command(&["mcp"]);
    let mut assistant = Client::of(command, Era::Legacy, json!({}), "test-client");
    let asks = assistant.run("go");
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
    // Nobody sees it yet.
    assert_eq!(asks.ok().get("shown_at"), None, "{}", asks.text());
    let mut told = |what: &str, fits: fn(&Value) -> bool| {
        let mut status = None;
        until(what, || {
            let got = assistant.call("skill_status", json!({ "execution_id": asks.id() }));
            let fitting = fits(&got.ok()["shown_at"]);
            status = Some(got);
            fitting
        });
        status.unwrap().text()
    };
    let question = asks.ok()["question"].clone();
    let mut editor = server.socket("/ws");
    editor.snapshot();
    show(&mut editor, "editor", &question);
    let shown = |at: &Value| at.as_str().is_some_and(|at| at.starts_with("editor of "));
    let text = told("it is shown in an editor", shown);
    assert!(text.contains("shown right now at: editor of "), "{text}");
    drop(editor);
    let text = told("it is shown nowhere", Value::is_null);
    assert!(!text.contains("shown right now"), "{text}");
}
