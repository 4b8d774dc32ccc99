//! A driver with several prompters, one of them made here.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use aye_core::id::QuestionId;
use aye_core::question::{Answer, Channel};
use aye_process::Signals;
use aye_runtime::driver::Outcome;
use aye_runtime::prompter::{
    AskedQuestion, AssistantPrompter, InboxPrompter, PromptEvent, Prompter, Withdrawn,
};
use aye_runtime::report::{Silent, Unbuffered};
use aye_runtime::runtime::{Parts, Runtime};
use aye_runtime::usecases::{FinishedRun, SkillError, Surface};

/// Drives a run of a skill with these prompters.
fn drive(skill: &str, prompters: Vec<&mut dyn Prompter>) -> FinishedRun {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("s.yaml"), skill).unwrap();
    let home = directory.path().join("home");
    let runtime = Runtime::new(Parts::new(home, directory.path())).unwrap();
    let skill = runtime.check_skill("s.yaml").map_err(SkillError::into_error).unwrap();
    let prepared = runtime.prepare(skill, Default::default()).unwrap();
    let run = runtime.start(prepared, true, &mut |_| {}).unwrap();
    let _only = super::SIGNALS.lock().unwrap_or_else(PoisonError::into_inner);
    let surface = Surface {
        report: &mut Silent,
        sink: &Unbuffered,
        prompters: prompters.into_iter().map(|one| one as &mut dyn Prompter).collect(),
        signals: &mut Signals::catch().unwrap(),
    };
    run.drive(surface).unwrap()
}

/// What the journal says, as lines of JSON.
fn events(driven: &FinishedRun) -> String {
    let events = driven.journal.events(&driven.state.run).unwrap();
    events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect()
}

/// A prompter whose people are elsewhere: what it shows goes through one
/// channel, what they say comes back through another, and a pipe wakes the driver.
struct Phone {
    shown: Option<QuestionId>,
    screen: Sender<String>,
    person: Receiver<PromptEvent>,
    wake: PipeReader,
}

impl Prompter for Phone {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        if self.shown.as_ref() != Some(&asked.question.id) {
            self.shown = Some(asked.question.id.clone());
            self.screen.send(format!("ask: {}", asked.question.message)).ok();
        }
        match self.person.try_recv() {
            Ok(event) => {
                self.wake.read_exact(&mut [0]).unwrap();
                Some(event)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(PromptEvent::Left("hung up".to_owned())),
        }
    }

    fn is_showing(&self, question: &QuestionId) -> bool {
        self.shown.as_ref() == Some(question)
    }

    fn refused(&mut self, _: &QuestionId, why: &str) {
        self.screen.send(format!("refused: {why}")).ok();
    }

    fn withdraw(&mut self, _: &QuestionId, why: &Withdrawn) {
        self.shown = None;
        self.screen.send(format!("withdrawn: {why:?}")).ok();
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        Some(self.wake.as_fd())
    }
}

/// The person with the phone.
struct Person {
    screen: Receiver<String>,
    says: Sender<PromptEvent>,
    wake: PipeWriter,
}

impl Person {
    fn sees(&self) -> String {
        self.screen.recv_timeout(std::time::Duration::from_secs(60)).expect("something to see")
    }

    fn says(&mut self, event: PromptEvent) {
        self.says.send(event).unwrap();
        self.wake.write_all(b"!").unwrap();
    }

    fn answers(&mut self, value: &str, by: &str) {
        let answer = Answer::new(value, by, Channel::Web);
        self.says(PromptEvent::Answered { answer, code: None });
    }
}

fn phone() -> (Phone, Person) {
    let (screen, sees) = channel();
    let (says, person) = channel();
    let (read, write) = std::io::pipe().unwrap();
    let phone = Phone { shown: None, screen, person, wake: read };
    (phone, Person { screen: sees, says, wake: write })
}

const SKILL: &str = "name: s
steps:
  - name: ship
    command: 'true'
    confirmation: { message: 'Ship it?', timeout: 0 }
";

#[test]
fn the_first_answer_wins_and_the_other_prompter_is_told_whose_it_was() {
    let (mut one, first) = phone();
    let (mut two, mut second) = phone();
    let people = std::thread::spawn(move || {
        assert_eq!([first.sees(), second.sees()], ["ask: Ship it?", "ask: Ship it?"]);
        second.answers("perhaps", "bea");
        let refused = second.sees();
        assert!(refused.starts_with("refused: "), "{refused}");
        second.answers("proceed", "bea");
        let told = [first.sees(), second.sees()];
        assert_eq!(told, [r#"withdrawn: Answered { by: "bea", through: Web }"#; 2]);
    });
    let driven = drive(SKILL, vec![&mut one, &mut two]);
    people.join().unwrap();
    assert_eq!(driven.exit_code(), 0);
}

#[test]
fn a_run_rests_only_when_every_prompter_has_left() {
    let (mut one, mut first) = phone();
    let (mut two, mut second) = phone();
    let people = std::thread::spawn(move || {
        assert_eq!([first.sees(), second.sees()], ["ask: Ship it?", "ask: Ship it?"]);
        first.says(PromptEvent::Left("the battery is empty".to_owned()));
        assert_eq!(first.sees(), "withdrawn: Gone");
        second.says(PromptEvent::Left("in a tunnel".to_owned()));
        assert_eq!(second.sees(), "withdrawn: Gone");
    });
    let driven = drive(SKILL, vec![&mut one, &mut two]);
    people.join().unwrap();
    assert!(matches!(driven.outcome, Outcome::Paused(_)), "{:?}", driven.outcome);
    let told = events(&driven);
    assert!(told.contains("the battery is empty"), "{told}");
}

#[test]
fn an_assistant_is_not_asked_what_only_a_person_may_answer() {
    let by = SKILL.replace("timeout: 0", "timeout: 0, by: human");
    let alone = drive(&by, vec![&mut AssistantPrompter]);
    assert!(matches!(alone.outcome, Outcome::Paused(_)), "{:?}", alone.outcome);
    // With the inbox beside it the run waits; with nobody at the phone it would for ever.
    let (mut phone, mut person) = phone();
    let people = std::thread::spawn(move || {
        assert_eq!(person.sees(), "ask: Ship it?");
        person.answers("cancel", "bea");
    });
    let driven = drive(&by, vec![&mut AssistantPrompter, &mut InboxPrompter, &mut phone]);
    people.join().unwrap();
    assert_eq!(driven.exit_code(), 5);
}
