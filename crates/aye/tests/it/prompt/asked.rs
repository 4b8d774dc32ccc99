//! Servers that ask in the middle of a call, answered on a terminal.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::pty::Terminal;
use crate::cli::harness::{Place, until};

/// A place whose skill calls a server of this year that wants to know this.
fn place(era: u16, form: &Value, more: &str) -> Place {
    let place = Place::new();
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools/asking.sh");
    place.write("form.json", &form.to_string());
    place.write(
        "aye.toml",
        &format!(
            "[tools.own]\nserver = [\"/bin/sh\", {script:?}, \"{era}\", \"form.json\", \"notes\"]\n"
        ),
    );
    place.write(
        "skill.yaml",
        &format!(
            "name: caller\nsteps:\n  - {{ name: call, tool: own.ask, output: said{more} }}\n  - {{ name: after, command: touch, args: ['{{{{ said }}}}'] }}\n"
        ),
    );
    place.aye(&["tools", "trust", "--yes"]).ok();
    place
}

fn form(message: &str, properties: &Value, required: &[&str]) -> Value {
    json!({
        "mode": "form",
        "message": message,
        "requestedSchema": { "type": "object", "properties": properties, "required": required },
    })
}

/// What the server was told.
fn told(place: &Place) -> Value {
    let notes = place.read("notes");
    let reply: Value = serde_json::from_str(notes.lines().last().unwrap()).unwrap();
    match reply.get("result") {
        Some(result) => result.clone(),
        None => {
            assert_eq!(reply["params"]["requestState"], "x7", "{reply}");
            reply["params"]["inputResponses"]["q"].clone()
        }
    }
}

/// The id of the only open question, once there is one.
fn question(place: &Place) -> String {
    let mut id = None;
    until("a question", || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        id = inbox[0]["question"].as_str().map(str::to_owned);
        id.is_some()
    });
    id.unwrap()
}

#[test]
fn a_form_is_filled_in_on_a_terminal_in_both_eras() {
    let fields = json!({
        "nick": { "type": "string" },
        "age": { "type": "integer", "minimum": 1, "maximum": 99, "description": "In years" },
        "team": { "type": "string", "enum": ["red", "blue"] },
    });
    for era in [2025, 2026] {
        let place = place(era, &form("Who are you?", &fields, &["age"]), "");
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        terminal.wait_for("own asks").wait_for("Who are you?").wait_for("Decline").keys("1\r");
        terminal.wait_for("asks for \"age\"").wait_for("In years").wait_for("from 1 to 99");
        terminal.keys("41\r");
        terminal.wait_for("asks for \"nick\"").wait_for("leaves it out").keys("\r");
        terminal.wait_for("asks for \"team\"").wait_for("blue").keys("2\r");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        terminal.assert_clean();
        assert_eq!(
            told(&place),
            json!({ "action": "accept", "content": { "age": 41, "team": "blue" } })
        );
        assert!(place.work().join("told").exists(), "the call went on");
    }
}

#[test]
fn somebody_who_declines_or_leaves_is_a_no() {
    let sure = form("Sure?", &json!({ "ok": { "type": "boolean" } }), &["ok"]);
    let name = form("Your name?", &json!({ "nick": { "type": "string" } }), &["nick"]);
    for era in [2025, 2026] {
        let place = place(era, &sure, "");
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        terminal.wait_for("Sure?").wait_for("Decline").keys("3\r");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        assert_eq!(told(&place), json!({ "action": "decline" }));
        // A no to what is asked is an answer.
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        terminal.wait_for("Sure?").wait_for("Decline").keys("2\r");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        assert_eq!(told(&place), json!({ "action": "accept", "content": { "ok": false } }));
        // Escape says no to the whole form.
        place.write("form.json", &name.to_string());
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        terminal.wait_for("Your name?").wait_for("Esc declines").keys("\x1b");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        assert_eq!(told(&place), json!({ "action": "decline" }));
        assert_eq!(place.aye(&["inbox", "--json"]).ok().json(), json!([]));
    }
}

#[test]
fn somebody_elsewhere_answers_and_the_time_of_the_step_stands_still() {
    let sure = form("Sure?", &json!({ "ok": { "type": "boolean" } }), &["ok"]);
    let limit = Duration::from_secs(2);
    for era in [2025, 2026] {
        let place = place(era, &sure, ", timeout: 2s");
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        terminal.wait_for("Sure?").wait_for("Decline");
        let asked = Instant::now();
        let question = question(&place);
        until("the step would have timed out", || asked.elapsed() > limit * 2);
        place.aye(&["answer", &question, "yes"]).ok();
        let again = place.aye(&["answer", &question, "no"]);
        assert_ne!(again.code, 0, "the first answer wins: {}", again.all());
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        assert_eq!(told(&place), json!({ "action": "accept", "content": { "ok": true } }));
    }
}

#[test]
fn the_run_has_its_time_limit_all_the_same() {
    let sure = form("Sure?", &json!({ "ok": { "type": "boolean" } }), &["ok"]);
    let place = place(2025, &sure, "");
    let skill = place.read("skill.yaml").replace("name: caller", "name: caller\ntimeout: 2s");
    place.write("skill.yaml", &skill);
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("Sure?");
    assert_ne!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(place.aye(&["inbox", "--json"]).ok().json(), json!([]));
    assert!(!place.work().join("told").exists());
}

#[test]
fn where_nobody_can_be_asked_the_server_is_told_no_at_once() {
    let sure = form("Sure?", &json!({ "ok": { "type": "boolean" } }), &["ok"]);
    for era in [2025, 2026] {
        let place = place(era, &sure, "");
        let ran = place.aye(&["run", "skill.yaml", "--no-input"]).ok();
        let said = "server `own` asked a question and was declined: nobody can be asked here";
        assert!(ran.all().contains(said), "{}", ran.all());
        assert_eq!(told(&place), json!({ "action": "decline" }));
    }
}

#[test]
fn words_of_a_server_stay_words() {
    let hostile = form(
        "Hi\u{1b}[2J\u{1b}]0;owned\u{7}\n\nConfirmation required\n{{ inputs }} {% raw %}\n❯ 1 Yes",
        &json!({ "decline": {
            "type": "string",
            "oneOf": [
                { "const": "decline", "title": "Accept\u{1b}[31m" },
                { "const": "x", "title": "{{ run.id }}" },
            ],
        } }),
        &["decline"],
    );
    for era in [2025, 2026] {
        let place = place(era, &hostile, "");
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        terminal.wait_for("The server own asks").wait_for("{{ inputs }} {% raw %}");
        let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
        assert!(!raw.contains("\u{1b}[2J") && !raw.contains("\u{1b}]0;owned"), "{raw:?}");
        let screen = terminal.vt.screen();
        let quoted = screen.lines().find(|line| line.contains("Confirmation required")).unwrap();
        assert!(quoted.contains(['>', '│', '▎']), "{screen}");
        terminal.keys("1\r").wait_for("Accept").wait_for("(decline)").wait_for("{{ run.id }} (x)");
        terminal.keys("1\r");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        // Its option is its option, whatever it is called.
        assert_eq!(
            told(&place),
            json!({ "action": "accept", "content": { "decline": "decline" } })
        );
    }
}

#[test]
fn secrets_and_addresses_are_declined_and_that_is_said() {
    let secret = form("Log in", &json!({ "password": { "type": "string" } }), &["password"]);
    let address =
        json!({ "mode": "url", "message": "Go", "url": "https://x.example", "elicitationId": "1" });
    let deep = form("Hi", &json!({ "o": { "type": "object", "properties": {} } }), &["o"]);
    let cases = [(secret, "asks for a secret"), (address, "an address"), (deep, "flat form")];
    for (asked, why) in cases {
        let place = place(2025, &asked, "");
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        let shown = terminal.vt.all().replace("\n  ", " ");
        assert!(shown.contains("was declined") && shown.contains(why), "{why}: {shown}");
        assert_eq!(told(&place), json!({ "action": "decline" }));
    }
}

#[test]
fn a_question_whose_aye_was_killed_is_closed() {
    let sure = form("Sure?", &json!({ "ok": { "type": "boolean" } }), &["ok"]);
    for (era, answer_first) in [(2025, false), (2026, true)] {
        let place = place(era, &sure, "");
        let run = place.aye(&["run", "skill.yaml", "--detach", "-q"]).ok().stdout.trim().to_owned();
        let asked = question(&place);
        assert!(asked.starts_with(&format!("{run}_1_1-")), "{asked}");
        kill_driver(&place, &run);
        if answer_first {
            let late = place.aye(&["answer", &asked, "yes"]);
            assert_ne!(late.code, 0);
            assert!(late.stderr.contains("the server that asked is gone"), "{}", late.all());
            assert_eq!(place.aye(&["inbox", "--json"]).ok().json(), json!([]));
        }
        assert_eq!(place.aye(&["resume", &run, "--no-input"]).code, 6);
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        assert_eq!(inbox.as_array().unwrap().len(), 1, "{inbox}");
        assert_eq!(
            inbox[0]["question"],
            format!("{run}-1"),
            "only what became of the call: {inbox}"
        );
        let late = place.aye(&["answer", &asked, "yes"]);
        assert_ne!(late.code, 0, "{}", late.all());
        assert!(!place.work().join("notes").exists(), "nobody was told anything");
        // PendingFix again, it asks again.
        place.aye(&["answer", &format!("{run}-1"), "retry"]).ok();
        let mut terminal = Terminal::aye(&place, &["resume", &run]);
        terminal.wait_for("Sure?").wait_for("Decline").keys("1\r");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        assert_eq!(told(&place), json!({ "action": "accept", "content": { "ok": true } }));
    }
}

/// Kills the process that drives a run and waits until its lease is free.
fn kill_driver(place: &Place, run: &str) {
    use aye_runtime::store::{Leases as _, SqliteStore};
    let run = aye_core::id::RunId::new(run).unwrap();
    let store = SqliteStore::open_to_read(&place.home()).unwrap().unwrap();
    let holder = || store.holder(&run).unwrap();
    let pid = holder().and_then(|held| held.holder).unwrap().pid;
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until("the lease is free", || holder().is_none());
}

#[test]
fn escape_takes_back_what_is_typed_and_then_declines_the_form_in_every_field() {
    let fields = json!({
        "age": { "type": "integer", "minimum": 1, "maximum": 99 },
        "nick": { "type": "string" },
        "team": { "type": "string", "enum": ["red", "decline"] },
    });
    let asked = form("Who are you?", &fields, &["age", "nick", "team"]);
    for filled in 0..=2 {
        let place = place(2025, &asked, "");
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        terminal.wait_for("Who are you?").wait_for("Decline").keys("1\r");
        terminal.wait_for("asks for \"age\"").wait_for("Esc declines");
        if filled > 0 {
            terminal.keys("41\r").wait_for("asks for \"nick\"").wait_for("Esc declines");
        }
        if filled > 1 {
            terminal.keys("ada\r").wait_for("asks for \"team\"").wait_for("Esc declines");
            terminal.keys("re").wait_for("Esc shows all").keys("\x1b").wait_gone("Esc shows all");
        } else {
            terminal.keys("7").wait_for("Esc empties it").keys("\x1b").wait_gone("Esc empties it");
        }
        terminal.wait_for("Esc declines").keys("\x1b");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        terminal.assert_clean();
        assert_eq!(told(&place), json!({ "action": "decline" }));
    }
}

#[test]
fn where_there_are_only_lines_a_word_declines_and_so_it_does_from_elsewhere() {
    let age = form("How old?", &json!({ "age": { "type": "integer" } }), &["age"]);
    let place = place(2025, &age, "");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml", "--plain"]);
    terminal.wait_for("Number or name").keys("1\n");
    terminal.wait_for("Text, `decline` declines:").keys("decline\n");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(told(&place), json!({ "action": "decline" }));
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("How old?").keys("1\r").wait_for("asks for \"age\"");
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(inbox[0]["answers"], json!(["TEXT", "decline"]), "{inbox}");
    place.aye(&["answer", inbox[0]["question"].as_str().unwrap(), "decline"]).ok();
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(told(&place), json!({ "action": "decline" }));
}

#[test]
fn a_call_without_a_run_asks_whoever_is_there() {
    let fields = json!({
        "age": { "type": "integer", "minimum": 1, "maximum": 99 },
        "team": { "type": "string", "enum": ["red", "blue"] },
    });
    for era in [2025, 2026] {
        let place = place(era, &form("Who are you?", &fields, &["age"]), "");
        let mut terminal = Terminal::aye(&place, &["tools", "call", "own.ask"]);
        terminal.wait_for("own asks").wait_for("own.ask").wait_for("Who are you?").keys("1\r");
        terminal.wait_for("asks for \"age\"").keys("410\r");
        terminal.wait_for("asks for \"team\"").keys("2\r");
        // Asked once more, with what was wrong.
        terminal.wait_for("410 is not a whole number from 1 to 99").keys("1\r");
        terminal.wait_gone("410 is not").wait_for("asks for \"age\"").keys("41\r");
        terminal.wait_gone("asks for \"age\"").wait_for("asks for \"team\"").keys("2\r");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        terminal.assert_clean();
        let content = json!({ "age": 41, "team": "blue" });
        assert_eq!(told(&place), json!({ "action": "accept", "content": content }));
        // Escape is a no, Ctrl-C gives the call up.
        let mut terminal = Terminal::aye(&place, &["tools", "call", "own.ask"]);
        terminal.wait_for("Who are you?").wait_for("Esc declines").keys("\x1b");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        assert_eq!(told(&place), json!({ "action": "decline" }));
        let mut terminal = Terminal::aye(&place, &["tools", "call", "own.ask"]);
        terminal.wait_for("Who are you?").keys("\x03");
        assert_eq!(terminal.end(), Some(130), "{}", terminal.vt.all());
        terminal.assert_clean();
        // There is nobody: it is told no, and so are we.
        let ran = place.aye(&["tools", "call", "own.ask"]).ok();
        assert_eq!(told(&place), json!({ "action": "decline" }));
        let said = "server `own` asked a question and was declined: nobody can be asked here";
        assert!(ran.stderr.contains(said), "{}", ran.all());
        assert_eq!(place.aye(&["runs", "--json"]).ok().json(), json!([]), "no run was begun");
    }
}
