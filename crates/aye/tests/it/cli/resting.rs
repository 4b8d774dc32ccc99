//! A run in the background whose question nobody answers holds no process; the
//! answer takes it up.

use std::process::Command;
use std::time::{Duration, Instant};

use aye_core::id::{QuestionId, RunId};
use aye_core::input::Request;
use aye_core::question::{Answer, Channel};
use aye_runtime::store::{Durability, Mailbox as _, SqliteStore, Verdict};
use rustix::process::Pid;
use serde_json::Value;

use super::detach::driver;
use super::harness::{Place, Ran, until};

const SKILL: &str = "name: gate
steps:
  - { name: deploy, command: touch, args: [deployed], confirmation: { message: 'Deploy?', timeout: 0 } }
";

/// `aye` with a clock that [`pass`] moves.
pub(crate) fn clocked(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(args);
    command.env("AYE_TEST_CLOCK", place.home().join("clock"));
    command
}

/// Lets so many seconds pass for all that look at that clock.
fn pass(place: &Place, seconds: u32) {
    std::fs::write(place.home().join("clock"), seconds.to_string()).unwrap();
}

/// Waits until the run rests and its process is gone.
pub(crate) fn rests(place: &Place, run: &str, pid: Pid) {
    let gone = || rustix::process::test_kill_process(pid).is_err();
    for times in 1..=20 {
        // It may not have seen its question before the clock moved; then it
        // has to move once more.
        pass(place, 660 * times);
        let patience = Instant::now() + Duration::from_secs(10);
        while !gone() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
        }
        if gone() {
            break;
        }
    }
    assert!(gone(), "the run does not rest");
    assert_eq!(driver(place, run), None);
    let shown = place.aye(&["show", run, "--json"]).ok().json();
    assert_eq!(shown["status"], "waiting", "{shown}");
}

fn question(place: &Place) -> Value {
    let mut inbox = Value::Null;
    until("a question", || {
        inbox = place.aye(&["inbox", "--json"]).ok().json();
        inbox[0].is_object()
    });
    inbox[0].clone()
}

/// Waits until the driver has looked at everything once more, the clock too: it refuses an
/// answer, and then another.
fn looked(place: &Place, run: &str) {
    let mut store = SqliteStore::open(&place.home(), Durability::Process).unwrap();
    let run: RunId = run.to_owned().try_into().unwrap();
    for _ in 0..2 {
        let answer = Answer::new("no such option", "ada", Channel::Command);
        let request = Request::answer(QuestionId::new(&run, 1), answer);
        let sent = store.send(&run, &request, "ada", jiff::Timestamp::now()).unwrap();
        let mut verdict = None;
        until("a verdict", || {
            verdict = store.verdict(sent).unwrap();
            verdict.is_some()
        });
        assert!(matches!(verdict, Some(Verdict::Refused(_))), "{verdict:?}");
    }
}

#[test]
fn it_rests_after_ten_minutes_and_the_answer_takes_it_up() {
    let place = Place::new();
    place.write("skill.yaml", SKILL);
    let ran = clocked(&place, &["run", "skill.yaml", "--detach", "-q"]).output().unwrap();
    let run = Ran::of(ran, &place).ok().stdout.trim().to_owned();
    let run = if run == "RUN" { place.last() } else { run };
    let asked = question(&place);
    let pid = driver(&place, &run).expect("someone holds the run");
    pass(&place, 590);
    looked(&place, &run);
    assert_eq!(driver(&place, &run), Some(pid), "nine minutes and a bit are too early");
    rests(&place, &run, pid);
    let inbox = place.aye(&["inbox"]).ok();
    assert!(!inbox.stdout.contains("nobody drives"), "{}", inbox.all());
    let told = place.aye(&["watch", &run, "--json"]);
    assert!(told.stdout.contains(r#""why":"resting","message":"nobody has answered for 10m""#));
    let told = place.aye(&["show", &run]).ok();
    assert!(!told.stdout.contains("--resume"), "{}", told.all());
    let answer = ["answer", asked["question"].as_str().unwrap(), "proceed"];
    let said = Ran::of(clocked(&place, &answer).output().unwrap(), &place).ok();
    assert!(said.all().contains("the run continues in the background"), "{}", said.all());
    until("completed", || place.status() == "completed");
    assert!(place.work().join("deployed").exists());
}

#[test]
fn a_run_in_the_foreground_pauses_and_is_not_taken_up() {
    let place = Place::new();
    place.write("skill.yaml", SKILL);
    let mut child = clocked(&place, &["run", "skill.yaml", "--no-input"]).spawn().unwrap();
    // Nobody can be asked: it pauses at once, and says how it continues.
    child.wait().unwrap();
    let asked = question(&place);
    let said = place.aye(&["answer", asked["question"].as_str().unwrap(), "proceed"]).ok();
    assert!(said.all().contains("no process drives the run"), "{}", said.all());
    assert!(!place.work().join("deployed").exists());
}
