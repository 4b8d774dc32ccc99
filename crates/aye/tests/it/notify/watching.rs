//! Who looks at a question, or watches a run, needs no message; when they leave, it comes.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::receiver::Receiver;
use super::{GATE, configure, messages};
use crate::cli::harness::{Place, until};
use crate::prompt::pty::Terminal;
use crate::serve::client::Served;

/// A place with a skill that asks, and a channel with these keys.
fn place(hook: &Receiver, more: &str) -> Place {
    let place = Place::new();
    place.write("skills/gate.yaml", GATE);
    let url = hook.url();
    configure(&place, &format!("[notify.hook]\nkind = \"webhook\"\nurl = \"{url}\"\n{more}\n"));
    place.aye(&["trust", "--yes"]).ok();
    place
}

fn time(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

/// When the first question of the newest run was asked.
fn asked(place: &Place) -> Timestamp {
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let events = shown["events"].as_array().unwrap().iter();
    let asked = events.into_iter().find(|event| event["type"] == "confirmation_required");
    time(&asked.expect("a question")["at"])
}

/// A clock that can be put forward, for the processes that are given it.
struct Clock(PathBuf);

impl Clock {
    fn of(place: &Place) -> Self {
        Self(place.write("clock", "0"))
    }

    fn ahead(&self, seconds: i64) {
        std::fs::write(&self.0, seconds.to_string()).unwrap();
    }

    fn command(&self, place: &Place, args: &[&str]) -> Command {
        let mut command = place.command(args);
        command.env("AYE_TEST_CLOCK", &self.0);
        command
    }

    /// A server whose time this is.
    fn serve(&self, place: &Place) -> Server {
        let mut command = self.command(place, &["serve", "--listen", "127.0.0.1:0"]);
        Server(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_editor_or_a_page_that_shows_a_question_keeps_messages_away_until_it_leaves() {
    for (kind, is_notice) in [("editor", false), ("editor", true), ("page", false)] {
        let hook = Receiver::new();
        let served = Served::at(place(&hook, "delay = \"1h\""));
        let mut client = served.socket("/ws");
        client.snapshot();
        client.done(json!({ "type": "hello", "kind": kind }));
        client.done(json!({ "type": "start", "skill": "gate" }));
        let question = client.event("confirmation_required");
        let id = &question["question"];
        client.done(match is_notice {
            true => json!({ "type": "show", "notified": [id] }),
            false => json!({ "type": "show", "question": id }),
        });
        // It was due after two seconds, and was put off because it is shown.
        until("it is put off", || {
            let due = time(&messages(&served)[0]["due"]);
            due.duration_since(asked(&served)).as_secs() > 4
        });
        assert!(hook.sent().is_empty(), "{kind}: {:?}", hook.sent());
        drop(client);
        let sent = hook.until(1).remove(0).json();
        assert_eq!(sent["question"], question["question"], "{kind}");
        served.aye(&["cancel", "last"]).ok();
    }
}

#[test]
fn a_program_that_shows_a_question_keeps_no_message_away() {
    let hook = Receiver::new();
    let served = Served::at(place(&hook, "delay = \"1h\""));
    let mut client = served.socket("/ws");
    client.snapshot();
    client.done(json!({ "type": "start", "skill": "gate" }));
    let question = client.event("confirmation_required");
    client.done(json!({ "type": "show", "question": question["question"] }));
    hook.until(1);
    served.aye(&["cancel", "last"]).ok();
}

#[test]
fn a_question_at_a_terminal_has_the_delay_of_the_channel_and_is_sent_then() {
    let hook = Receiver::new();
    let place = place(&hook, "delay = \"6s\"");
    let mut terminal = Terminal::aye(&place, &["run", "gate"]);
    terminal.wait_for("[y/N]");
    let row = messages(&place).remove(0);
    assert_eq!(time(&row["due"]).duration_since(asked(&place)).as_secs(), 6);
    hook.until(1);
    let row = messages(&place).remove(0);
    until("it is noted", || messages(&place)[0]["state"] == "sent");
    assert!(time(&messages(&place)[0]["tried"]) >= time(&row["due"]));
    terminal.keys("n");
    assert_eq!(terminal.end(), Some(5));
}

/// However long the delay is, half of the question's time is left for who hears of it.
#[test]
fn a_question_that_stays_on_the_screen_is_sent_after_half_of_its_time() {
    let hook = Receiver::new();
    let place = place(&hook, "delay = \"2h\"");
    let clock = Clock::of(&place);
    let env = [("AYE_TEST_CLOCK", clock.0.to_str().unwrap())];
    let mut terminal = Terminal::with(&place, &["run", "gate"], &env);
    terminal.wait_for("[y/N]");
    let due = time(&messages(&place).remove(0)["due"]);
    assert_eq!(due.duration_since(asked(&place)).as_secs(), 30 * 60);
    clock.ahead(30 * 60 + 1);
    hook.until(1);
    terminal.keys("n");
    assert_eq!(terminal.end(), Some(5));
}

#[test]
fn answered_at_the_terminal_nothing_is_sent() {
    let hook = Receiver::new();
    let place = place(&hook, "on = [\"question\", \"failed\", \"completed\", \"cancelled\"]");
    let mut terminal = Terminal::aye(&place, &["run", "gate"]);
    terminal.wait_for("[y/N]").keys("y");
    assert_eq!(terminal.end(), Some(0));
    // Its end is not even written down: who ran it has seen it.
    let events: Vec<Value> = messages(&place).iter().map(|row| row["event"].clone()).collect();
    assert_eq!(events, ["question"]);
    assert!(hook.sent().is_empty());
}

#[test]
fn the_end_of_a_long_run_at_a_terminal_is_sent_and_that_of_a_short_one_is_not() {
    let hook = Receiver::new();
    let place = place(&hook, "on = [\"failed\", \"completed\"]");
    place.write(
        "skills/long.yaml",
        "name: long\nsteps:\n  - { name: go, shell: 'touch up; until [ -e go ]; do sleep 0.05; done; exit 3', on_error: fail }\n",
    );
    for (seconds, sent) in [(299, 0), (300, 1)] {
        for file in ["up", "go"] {
            let _ = std::fs::remove_file(place.work().join(file));
        }
        let clock = Clock::of(&place);
        let env = [("AYE_TEST_CLOCK", clock.0.to_str().unwrap())];
        let mut terminal = Terminal::with(&place, &["run", "long"], &env);
        until("it runs", || place.work().join("up").exists());
        // Less than a second passes on the machine's own clock, or a few.
        clock.ahead(if sent == 0 { seconds - 60 } else { seconds });
        std::fs::write(place.work().join("go"), "").unwrap();
        assert_eq!(terminal.end(), Some(1));
        assert_eq!(messages(&place).len(), sent, "{seconds}");
    }
    let sent = hook.until(1).remove(0).json();
    assert_eq!((&sent["event"], &sent["title"]), (&json!("failed"), &json!("long failed")));
}

#[test]
fn a_question_is_sent_again_shortly_before_its_time_is_up() {
    let hook = Receiver::new();
    let place = place(&hook, "on = [\"question\", \"expiring\"]\nexpiring = \"2m\"");
    let clock = Clock::of(&place);
    let _server = clock.serve(&place);
    let ran = clock.command(&place, &["run", "gate", "--detach"]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let first = hook.until(1).remove(0).json();
    assert_eq!(first["event"], "question");
    let rows = messages(&place);
    let row = rows.iter().find(|row| row["event"] == "expiring").expect("a message for later");
    assert_eq!(row["state"], "waiting");
    assert_eq!(time(&row["due"]).duration_since(asked(&place)).as_secs(), 58 * 60);
    clock.ahead(58 * 60 + 1);
    let second = hook.until(2).remove(1).json();
    assert_eq!((&second["event"], &second["question"]), (&json!("expiring"), &first["question"]));
    clock.command(&place, &["cancel", "last"]).output().unwrap();
}

#[test]
fn quiet_hours_hold_a_message_back_and_it_is_sent_at_their_end() {
    let hook = Receiver::new();
    // Quiet now, whatever time it is, and for two hours and a bit.
    let hour = jiff::Zoned::now().hour();
    let quiet = format!("{hour:02}:00-{:02}:59", (hour + 2) % 24);
    let place = place(&hook, &format!("quiet = \"{quiet}\""));
    let clock = Clock::of(&place);
    let _server = clock.serve(&place);
    let ran = clock.command(&place, &["run", "gate", "--no-input"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(6), "{ran:?}");
    let row = || messages(&place).remove(0);
    until("it is put off", || {
        time(&row()["due"]).duration_since(asked(&place)).as_secs() > 60 * 60
    });
    let end = time(&row()["due"]).to_zoned(jiff::tz::TimeZone::system());
    assert_eq!((end.hour(), end.minute()), ((hour + 2) % 24, 59));
    assert!(hook.sent().is_empty());
    clock.ahead(3 * 60 * 60);
    assert_eq!(hook.until(1)[0].json()["event"], "question");
    clock.command(&place, &["cancel", "last"]).output().unwrap();
}
