//! Answers from other processes.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use aye_core::input::Request;
use aye_core::journal::State;
use aye_core::question::{Answer, Channel};
use aye_runtime::store::{Durability, Journal as _, Mailbox as _, SqliteStore, Verdict};

use super::pty::Terminal;
use crate::cli::harness::Place;

fn place(ask: &str) -> Place {
    let place = Place::new();
    place.write(
        "skill.yaml",
        &format!(
            "
name: gate
steps:
  - {{ name: deploy, command: touch, args: [deployed], confirmation: {{ message: 'Deploy?', {ask} }} }}
"
        ),
    );
    place
}

/// The id of the only open question.
fn open_question(place: &Place) -> String {
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(inbox.as_array().unwrap().len(), 1, "{inbox}");
    inbox[0]["question"].as_str().unwrap().to_owned()
}

#[test]
fn an_answer_from_elsewhere_closes_the_prompt() {
    let place = place("timeout: 10m");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]").keys("x").wait_for("is not an answer");
    let question = open_question(&place);
    let said = place.aye(&["answer", &question, "proceed", "--reason", "looks good"]).ok();
    assert!(said.stdout.contains(": Proceed"), "{}", said.all());
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    let all = terminal.vt.all();
    assert!(all.contains("through command (local)"), "{all}");
    assert!(all.contains("looks") && all.contains("good"), "{all}");
    assert!(!all.contains("[y/N]"), "{all}");
    assert!(place.work().join("deployed").exists());
    terminal.assert_clean();
    let late = place.aye(&["answer", &question, "cancel"]);
    assert_eq!(late.code, 1, "{}", late.all());
    assert!(late.stderr.contains("is decided: "), "{}", late.all());
}

#[test]
fn refused_answers_do_not_disturb_the_prompt() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "
name: ask
steps:
  - { name: who, input: { message: 'Who?', match: '^[a-z]+$', timeout: 10m }, output: who }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("Who?").keys("ad").wait_for("❯ ad");
    let question = open_question(&place);
    let refused = place.aye(&["answer", &question, "123"]);
    assert_eq!(refused.code, 1);
    terminal.wait_for("was refused").wait_for("❯ ad").keys("a\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(terminal.vt.all().contains("ada"), "{}", terminal.vt.all());
}

#[test]
fn a_question_is_answered_on_another_terminal() {
    let place = place("timeout: 10m, type: prod");
    let ran = place.aye(&["run", "skill.yaml"]);
    assert_eq!(ran.code, 6);
    let question = open_question(&place);
    // The prompt is the run's own, and the run continues where it was answered.
    let mut terminal = Terminal::aye(&place, &["answer", &question]);
    terminal.wait_for("To agree, type prod").keys("prod").wait_for("❯ prod").keys("\r");
    terminal.wait_for("Resume it here?").keys("y");
    terminal.wait_for("gate completed");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(place.work().join("deployed").exists());
    terminal.assert_clean();
}

#[test]
fn two_terminals_with_one_question() {
    let place = place("timeout: 10m");
    let mut run = Terminal::aye(&place, &["run", "skill.yaml"]);
    run.wait_for("[y/N]");
    let question = open_question(&place);
    let mut other = Terminal::aye(&place, &["answer", &question]);
    other.wait_for("[y/N]").wait_for("gate · deploy");
    run.keys("n");
    assert_eq!(run.end(), Some(5));
    assert_eq!(other.end(), Some(1), "{}", other.vt.all());
    let said = other.vt.all();
    assert!(said.contains("is decided: ") && said.contains("answered `Cancel` through"), "{said}");
    assert!(!said.contains("[y/N]"), "{said}");
    other.assert_clean();
}

#[test]
fn escape_is_not_lost_when_something_else_happens() {
    let place = place("timeout: 10m");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]");
    // Every wink of the window wakes the prompt while it waits for what may
    // follow the Escape.
    terminal.keys("\x1b");
    for row in 0..20 {
        terminal.resize(80, 24 + row % 2);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    assert!(!place.work().join("deployed").exists());
}

#[test]
fn who_answers_can_drive_the_run_on() {
    let first = place("timeout: 10m");
    assert_eq!(first.aye(&["run", "skill.yaml"]).code, 6);
    let ran = first.aye(&["answer", &open_question(&first), "proceed"]).ok();
    assert!(ran.stdout.contains("resume it with: aye resume"), "{}", ran.all());
    assert!(!first.work().join("deployed").exists());
    let second = place("timeout: 10m");
    assert_eq!(second.aye(&["run", "skill.yaml"]).code, 6);
    second.aye(&["answer", &open_question(&second), "proceed", "--resume"]).ok();
    assert!(second.work().join("deployed").exists());
    // Without a choice and without a terminal it says what to write.
    let third = place("timeout: 10m");
    assert_eq!(third.aye(&["run", "skill.yaml"]).code, 6);
    let ran = third.aye(&["answer", &open_question(&third)]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(ran.stderr.contains("CHOICE"), "{}", ran.all());
}

#[test]
fn a_run_is_watched_from_another_process() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "
name: watched
steps:
  - { name: build, shell: 'echo building; while [ ! -e go ]; do sleep 0.05; done; echo built' }
  - { name: deploy, command: echo, args: [deployed], confirmation: { message: 'Deploy?', timeout: 10m } }
",
    );
    let mut run = Terminal::aye(&place, &["run", "skill.yaml"]);
    run.wait_for("building");
    let mut live = Terminal::aye(&place, &["watch", "--output", "full"]);
    live.wait_for("watched  run").wait_for("│ building");
    let mut json = Terminal::captured(&place, &["watch", "--json"]);
    place.write("go", "");
    live.wait_for("│ built").wait_for("? deploy  Deploy?").wait_for("aye answer");
    run.wait_for("[y/N]").keys("y");
    live.wait_for("answered by").wait_for("│ deployed").wait_for("watched completed");
    assert_eq!((run.end(), live.end(), json.end()), (Some(0), Some(0), Some(0)));
    let lines = json.stdout();
    for name in ["skill_started", "step_output", "confirmation_answered", "skill_completed"] {
        assert!(lines.contains(name), "{name}: {lines}");
    }
    // A run that is over is shown and its outcome returned.
    let ran = place.aye(&["watch", "last"]).ok();
    assert!(ran.stderr.contains("watched completed"), "{}", ran.all());
}

#[test]
fn a_waiting_run_that_nobody_drives_is_not_watched_for_ever() {
    let place = place("timeout: 10m");
    assert_eq!(place.aye(&["run", "skill.yaml"]).code, 6);
    let ran = place.aye(&["watch"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(ran.stderr.contains("aye resume"), "{}", ran.all());
}

/// A thousand people answer at once, from stores of their own; the run is
/// driven by the real program at its prompt.
#[test]
fn of_a_thousand_answerers_one_wins() {
    const THREADS: usize = 20;
    const EACH: usize = 50;
    let place = place("timeout: 10m");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]");
    let question = aye_core::id::QuestionId::from_text(open_question(&place));
    let run = question.run().unwrap();
    let start = Arc::new(Barrier::new(THREADS));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (home, run, question) = (place.home(), run.clone(), question.clone());
            let start = Arc::clone(&start);
            std::thread::spawn(move || {
                let mut store = SqliteStore::open(&home, Durability::Process).unwrap();
                start.wait();
                let ids: Vec<_> = (0..EACH)
                    .map(|n| {
                        let by = format!("person-{thread}-{n}");
                        let answer = Answer::new("proceed", by, Channel::Web);
                        let request = Request::answer(question.clone(), answer);
                        store.send(&run, &request, "race", jiff::Timestamp::now()).unwrap()
                    })
                    .collect();
                let mut accepted = 0;
                for id in ids {
                    let verdict = loop {
                        match store.verdict(id).unwrap() {
                            Some(verdict) => break verdict,
                            None => std::thread::sleep(Duration::from_millis(10)),
                        }
                    };
                    accepted += usize::from(verdict == Verdict::Accepted);
                }
                accepted
            })
        })
        .collect();
    // The terminal has to be read, or the program waits for it.
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.screen());
    let accepted: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(accepted, 1);
    let store = SqliteStore::open_to_read(&place.home()).unwrap().unwrap();
    let events = store.events(&run, 0).unwrap();
    State::fold(&events).unwrap();
    let counted = events.iter().filter(|event| {
        matches!(&event.kind, aye_core::event::EventKind::ConfirmationAnswered(a) if a.refused.is_none())
    });
    assert_eq!(counted.count(), 1, "one answer counts in the journal");
    let started = events
        .iter()
        .filter(|event| matches!(event.kind, aye_core::event::EventKind::StepStarted(_)));
    assert_eq!(started.count(), 1, "and the step ran once");
}
