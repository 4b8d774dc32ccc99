//! A run that nobody watches holds no process while nobody answers.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use aye_core::event::{EventKind, PauseReason};
use aye_core::id::QuestionId;
use aye_core::journal::Ended;
use aye_core::question::{Answer, Channel};
use aye_core::secrets::Secrets;
use aye_runtime::clock::Clock;
use aye_runtime::driver::{Driven, Outcome};
use aye_runtime::prompter::{AskedQuestion, PromptEvent, Prompter, Withdrawn};
use indexmap::IndexMap;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::driver::Stage;

const TEN_MINUTES: Duration = Duration::from_mins(10);

/// The time, as a test lets it pass.
#[derive(Clone)]
struct Hands(Rc<Cell<Timestamp>>);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        self.0.get()
    }
}

/// A place where a minute passes each time it is looked at; someone answers
/// after `minutes` of them, or nobody ever does.
struct Slow {
    clock: Hands,
    minutes: u32,
    seen: bool,
}

impl Prompter for Slow {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        if self.minutes == 0 {
            let value = asked.question.options.first().map_or("hunter2", |first| &*first.value);
            let answer = Answer::new(value, "ada", Channel::Terminal);
            return Some(PromptEvent::Answered { answer, code: None });
        }
        self.minutes -= 1;
        self.clock.0.set(self.clock.now() + SignedDuration::from_mins(1));
        None
    }

    fn is_showing(&self, _: &QuestionId) -> bool {
        self.seen
    }

    fn refused(&mut self, question: &QuestionId, why: &str) {
        panic!("{question}: {why}");
    }

    fn withdraw(&mut self, _: &QuestionId, _: &Withdrawn) {}

    fn look_at(&self) -> Option<Instant> {
        Some(Instant::now())
    }
}

fn drive(stage: &Stage, skill: &str, minutes: u32, seen: bool) -> Driven {
    drive_given(stage, skill, minutes, seen, (IndexMap::new(), Secrets::default()))
}

fn drive_given(
    stage: &Stage,
    skill: &str,
    minutes: u32,
    seen: bool,
    given: (IndexMap<String, Value>, Secrets),
) -> Driven {
    // The run was begun by the real clock, and time never goes back.
    let start = Timestamp::now();
    let clock = Hands(Rc::new(Cell::new(start)));
    let mut slow = Slow { clock: clock.clone(), minutes, seen };
    stage.drive_by(&clock, skill, given, vec![&mut slow], Some(TEN_MINUTES)).unwrap()
}

const PLAIN: &str = "name: s
steps:
  - { name: sure, confirm: { message: Ship?, timeout: 0 } }
";

const IN_A_LIST: &str = "name: s
steps:
  - name: each
    foreach: [1, 2]
    parallel: 2
    steps:
      - { name: sure, confirm: { message: 'Ship {{ item }}?', timeout: 0 } }
";

#[test]
fn after_ten_minutes_without_an_answer_it_rests() {
    for skill in [PLAIN, IN_A_LIST] {
        let stage = Stage::new();
        let driven = drive(&stage, skill, 90, false);
        assert_eq!(driven.outcome, Outcome::Paused(PauseReason::Resting), "{:?}", stage.events());
        let events = stage.events();
        let paused = events.last().unwrap();
        let EventKind::SkillPaused { why, message, .. } = &paused.kind else {
            panic!("{paused:?}")
        };
        assert_eq!(*why, PauseReason::Resting);
        assert_eq!(message.as_deref(), Some("nobody has answered for 10m"));
        let waited = paused.at.duration_since(events[0].at);
        assert!(waited >= SignedDuration::from_mins(10), "{waited}");
        assert!(waited <= SignedDuration::from_mins(13), "{waited}");
    }
}

#[test]
fn what_somebody_sees_or_what_would_be_lost_keeps_it() {
    let secret = |from: &str| {
        let mut secrets = Secrets::default();
        secrets.insert("token", "hunter22");
        let inputs = IndexMap::from([("token".to_owned(), json!("hunter22"))]);
        let skill = format!(
            "name: s\ninputs:\n  - {{ name: token, type: secret, required: false{from} }}\n{}",
            PLAIN.trim_start_matches("name: s\n")
        );
        (skill, (inputs, secrets))
    };
    let nothing = || (IndexMap::new(), Secrets::default());
    let limited = PLAIN.replace("timeout: 0", "timeout: 2h");
    let whole = PLAIN.replace("name: s\n", "name: s\ntimeout: 2h\n");
    let asks_secret = "name: s
steps:
  - { name: token, input: { message: Token?, secret: true, timeout: 0 } }
";
    let answered_secret = "name: s
steps:
  - { name: token, input: { message: Token?, secret: true, timeout: 0 } }
  - { name: sure, confirm: { message: Ship?, timeout: 0 } }
";
    let (held, given) = secret("");
    for (what, skill, seen, given) in [
        ("it is shown", PLAIN, true, nothing()),
        ("it has a deadline", &*limited, false, nothing()),
        ("its run has one", &*whole, false, nothing()),
        ("it asks for a secret", asks_secret, false, nothing()),
        ("a secret was answered", answered_secret, false, nothing()),
        ("a secret was given", &*held, false, given),
    ] {
        let stage = Stage::new();
        let driven = drive_given(&stage, skill, 60, seen, given);
        let well = driven.outcome == Outcome::Ended(Ended::Completed);
        assert!(well, "{what}: {:?} {:?}", driven.outcome, stage.events());
        assert!(!stage.types().contains(&"skill_paused"), "{what}");
    }
    // A secret that can be read again does not keep it.
    let (read_again, given) = secret(", from: { env: TOKEN }");
    let driven = drive_given(&Stage::new(), &read_again, 60, false, given);
    assert_eq!(driven.outcome, Outcome::Paused(PauseReason::Resting));
}

#[test]
fn a_driver_that_was_not_told_to_waits_for_ever() {
    let stage = Stage::new();
    let clock = Hands(Rc::new(Cell::new("2026-11-17T07:00:00Z".parse().unwrap())));
    let mut slow = Slow { clock: clock.clone(), minutes: 120, seen: false };
    let given = (IndexMap::new(), Secrets::default());
    let driven = stage.drive_by(&clock, PLAIN, given, vec![&mut slow], None).unwrap();
    assert_eq!(driven.outcome, Outcome::Ended(Ended::Completed));
}
