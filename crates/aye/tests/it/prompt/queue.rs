//! Questions that wait behind another on one terminal.

use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};
use serde_json::Value;

use super::pty::Terminal;
use crate::cli::harness::{Place, until};

/// How long each question but the first may wait for an answer.
const LIMIT: Duration = Duration::from_secs(3);

/// The first question has no limit, those behind it have one.
fn place() -> Place {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "name: queue
steps:
  - name: each
    foreach: [first, second, third]
    parallel: 3
    steps:
      - { name: slow, condition: item == 'first', confirm: { message: 'Do first?', timeout: 0 } }
      - { name: quick, condition: item != 'first', confirm: { message: 'Do {{ item }}?', timeout: 3s } }
      - { name: act, command: touch, args: ['{{ item }}'] }
",
    );
    place
}

fn open(place: &Place) -> Vec<Value> {
    place.aye(&["inbox", "--json"]).ok().json().as_array().unwrap().clone()
}

/// A terminal that shows the first question, longer than the others may wait.
fn waiting(place: &Place) -> Terminal {
    let mut terminal = Terminal::aye(place, &["run", "skill.yaml"]);
    terminal.wait_for("Do first?");
    until("three questions", || open(place).len() == 3);
    let asked = Instant::now();
    until("the others would have expired", || asked.elapsed() > LIMIT);
    terminal
}

fn killed(mut terminal: Terminal) {
    kill_process(terminal.pid(), Signal::KILL).unwrap();
    assert_eq!(terminal.end(), None);
}

fn done(place: &Place) -> Vec<&'static str> {
    let exists = |item: &&str| place.work().join(item).exists();
    ["first", "second", "third"].into_iter().filter(exists).collect()
}

#[test]
fn the_time_of_a_question_counts_from_when_it_is_shown() {
    let place = place();
    let mut terminal = waiting(&place);
    // Who finds it in the inbox meanwhile can answer it.
    let questions = open(&place);
    let third = questions.iter().find(|row| row["message"] == "Do third?").unwrap();
    assert_eq!(third.get("deadline"), Some(&Value::Null), "{third}");
    place.aye(&["answer", third["question"].as_str().unwrap(), "yes"]).ok();
    terminal.wait_for("Do first?").keys("y");
    // Nobody answers the second one: it expires, but not unseen.
    terminal.wait_for("Do second?").wait_for("s left, then no");
    terminal.wait_for("nobody answered in time");
    terminal.end();
    assert_eq!(done(&place), ["first", "third"], "{}", terminal.vt.all());
    terminal.assert_clean();
}

#[test]
fn it_has_its_time_after_a_crash_too() {
    let place = place();
    killed(waiting(&place));
    let mut terminal = Terminal::aye(&place, &["resume", "last"]);
    for item in ["first", "second", "third"] {
        terminal.wait_for(&format!("│  Do {item}?")).keys("y");
    }
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(done(&place), ["first", "second", "third"]);
}

#[test]
fn where_nothing_stands_before_it_its_time_goes_on() {
    let place = place();
    killed(waiting(&place));
    // In the inbox all of them can be seen.
    place.aye(&["resume", "last", "--detach"]).ok();
    until("two have expired", || open(&place).len() == 1);
    assert_eq!(open(&place)[0]["message"], "Do first?");
    place.aye(&["cancel", "last"]).ok();
    until("it has ended", || place.status() == "cancelled");
}
