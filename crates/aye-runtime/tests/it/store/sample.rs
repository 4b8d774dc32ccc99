//! Made-up runs.

use std::path::Path;

use super::writer::Store;
use aye_core::event::{
    Answered, CancelReason, Driver, Event, EventKind, FailReason, MemoryKind, PauseReason,
    Remembered, SkillStarted, StepCompleted, StepStarted, VERSION,
};
use aye_core::id::{QuestionId, RunId};
use aye_core::nested::Parent;
use aye_core::question::{Answer, Channel, Offer, Purpose, Question};
use aye_core::skill::{AskKind, ChoiceAction};
use aye_core::step_kind::StepKind;
use aye_runtime::store::{Durability, Holder, Pruner, Source, StoreError};
use jiff::Timestamp;
use serde_json::json;

/// A moment, so many milliseconds after a fixed one.
pub(super) fn moment(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(1_790_000_000_000 + ms).expect("within the calendar")
}

pub(super) fn id(text: &str) -> RunId {
    RunId::new(text).expect("a good id")
}

pub(super) fn source() -> Source {
    Source::new("/skills/release.yaml", "name: release\nsteps: []\n")
}

pub(super) fn driver() -> Driver {
    let (user, host) = ("ada".into(), "engine".into());
    Driver {
        user,
        host,
        pid: 7,
        attended: false,
        detached: false,
        taken_up: false,
        namespaces: None,
    }
}

pub(super) fn holder() -> Holder {
    Holder {
        user: "ada".into(),
        host: "engine".into(),
        pid: std::process::id(),
        command: "aye run release".into(),
        since: moment(0),
    }
}

pub(super) fn pruner() -> Pruner {
    Pruner { by: "ada@engine".into(), at: moment(5_000_000) }
}

pub(super) fn open(home: &Path) -> Result<Store, StoreError> {
    // Tests do not wait for the disk unless power loss is what they are about.
    Store::open(home, Durability::Process)
}

/// Writes the events of one run, counting them.
#[derive(Debug, Clone)]
pub(super) struct Tale {
    pub(super) run: RunId,
    pub(super) seq: u64,
    pub(super) skill: String,
    /// The name of its `concurrency`.
    pub(super) name: Option<String>,
}

impl Tale {
    pub(super) fn new(run: &str) -> Self {
        Self { run: id(run), seq: 0, skill: "release".into(), name: None }
    }

    pub(super) fn of_skill(run: &str, skill: &str) -> Self {
        Self { skill: skill.into(), ..Self::new(run) }
    }

    pub(super) fn event(&mut self, kind: EventKind) -> Event {
        self.seq += 1;
        Event {
            v: VERSION,
            run: self.run.clone(),
            seq: self.seq,
            at: moment(i64::try_from(self.seq).expect("few events") * 1_000),
            kind,
        }
    }

    pub(super) fn started(&mut self) -> Event {
        self.begun(None)
    }

    /// Inside the first step of another run.
    pub(super) fn started_in(&mut self, run: &str) -> Event {
        let step = "each".to_owned();
        self.begun(Some(Parent {
            run: id(run),
            step,
            execution: 1,
            turn: None,
            item: None,
            form: None,
            depth: 1,
            bound: false,
            finally: false,
            repair: false,
            declined: None,
        }))
    }

    fn begun(&mut self, parent: Option<Parent>) -> Event {
        let kind = EventKind::SkillStarted(Box::new(SkillStarted {
            skill: self.skill.clone(),
            file: "/skills/release.yaml".into(),
            source: source().digest,
            inputs: [("commit".to_owned(), json!("abc"))].into_iter().collect(),
            steps: 3,
            workspace: "/work".into(),
            environment: Some("stage".into()),
            deadline: None,
            range: None,
            yes: false,
            driver: driver(),
            parent: parent.map(Box::new),
            destructive_tools: Vec::new(),
            step_list: Vec::new(),
            started_by: None,
            starter: None,
            concurrency: self.name.clone(),
            epoch: 0,
        }));
        self.event(kind)
    }

    pub(super) fn step(&mut self, step: &str) -> Event {
        self.event(EventKind::StepStarted(Box::new(StepStarted {
            step: step.into(),
            execution: 1,
            attempt: 1,
            index: None,
            description: None,
            machine: None,
            kind: StepKind::Command,
            command: Some("make it".into()),
            argv: Vec::new(),
            idempotent: false,
            deadline: None,
            nested: false,
            items: Vec::new(),
            labels: Vec::new(),
            goes_on: None,
        })))
    }

    pub(super) fn step_done(&mut self, step: &str) -> Event {
        self.event(EventKind::StepCompleted(Box::new(StepCompleted {
            step: step.into(),
            execution: 1,
            output: step.into(),
            value: json!({"exit": 0, "text": "naïve ✓\n"}),
            process: None,
            marked_by: None,
            agreed: false,
            log: None,
            parsed: None,
            duration_ms: None,
            hidden: false,
            note: None,
        })))
    }

    pub(super) fn paused(&mut self) -> Event {
        self.event(EventKind::SkillPaused {
            why: PauseReason::Waiting,
            message: Some("nobody is here".into()),
            duration_ms: None,
        })
    }

    pub(super) fn resumed(&mut self) -> Event {
        let driver = Driver { user: "bob".into(), ..driver() };
        self.event(EventKind::SkillResumed {
            driver,
            suspended_ms: None,
            turn: None,
            ended: None,
            epoch: 0,
        })
    }

    pub(super) fn completed(&mut self) -> Event {
        self.event(EventKind::SkillCompleted {
            state: None,
            outputs: [("summary".to_owned(), json!("done"))].into_iter().collect(),
            duration_ms: None,
        })
    }

    pub(super) fn failed(&mut self, step: &str) -> Event {
        self.event(EventKind::SkillFailed {
            why: FailReason::StepFailed,
            message: format!("`{step}` failed"),
            step: Some(step.into()),
            state: None,
            duration_ms: None,
        })
    }

    pub(super) fn cancelled(&mut self) -> Event {
        self.event(EventKind::SkillCancelled {
            why: CancelReason::Cancelled,
            by: Some("ada".into()),
            message: None,
            step: None,
            state: None,
            ended: None,
            duration_ms: None,
        })
    }

    /// Something is learned, with or without a lesson for memory.
    pub(super) fn learned(&mut self, lesson: Option<&str>) -> Event {
        let lesson = lesson.map(|lesson| Box::new(json!({ "lesson": lesson })));
        let told = Remembered::told(MemoryKind::Usage, String::new());
        self.event(EventKind::MemoryLearned(Box::new(Remembered { lesson, ..told })))
    }

    pub(super) fn question_id(&self, number: u32) -> QuestionId {
        QuestionId::new(&self.run, number)
    }

    pub(super) fn asks(&mut self, number: u32) -> Event {
        self.asks_several(number, 1)
    }

    pub(super) fn asks_several(&mut self, number: u32, approvals: u32) -> Event {
        let offer = |value: &str, action| Offer::new(value, value, action);
        let question = Question {
            purpose: Purpose::Gate,
            step: format!("gate{number}"),
            title: "Production release".into(),
            options: vec![
                offer("proceed", ChoiceAction::Proceed),
                offer("cancel", ChoiceAction::Cancel),
            ],
            deadline: Some(moment(600_000)),
            approvals,
            overridable: true,
            follows: Some("./make-mr abc".into()),
            digest: "d".into(),
            ..Question::new(self.question_id(number), AskKind::Confirm, "Release `abc`?")
        };
        self.event(EventKind::ConfirmationRequired(Box::new(question)))
    }

    pub(super) fn answered(&mut self, number: u32, value: &str, by: &str) -> Event {
        let answered = Answered {
            label: None,
            question: self.question_id(number),
            answer: answer(value, by),
            latency_ms: 5,
            refused: None,
        };
        self.event(EventKind::ConfirmationAnswered(Box::new(answered)))
    }

    pub(super) fn refused(&mut self, number: u32) -> Event {
        let answered = Answered {
            label: None,
            question: self.question_id(number),
            answer: answer("proceed", "eve"),
            latency_ms: 5,
            refused: Some("not allowed".into()),
        };
        self.event(EventKind::ConfirmationAnswered(Box::new(answered)))
    }

    pub(super) fn held(&mut self, number: u32, until: i64) -> Event {
        let kind = EventKind::ConfirmationHeld {
            question: self.question_id(number),
            deadline: Some(moment(until)),
            by: Some("ada".into()),
            left_ms: None,
        };
        self.event(kind)
    }

    pub(super) fn expired(&mut self, number: u32) -> Event {
        let question = self.question_id(number);
        self.event(EventKind::ConfirmationExpired { question, applied: None, withdrawn: false })
    }
}

pub(super) fn answer(value: &str, by: &str) -> Answer {
    Answer::new(value, by, Channel::Web)
}

/// A run of every status and a question of every state, in one home.
pub(super) fn populate(store: &mut Store) -> Result<(), StoreError> {
    let mut tale = Tale::new("completed1");
    let begin = [tale.started(), tale.step("build")];
    store.start(&begin, &source())?;
    store.append(&[tale.step_done("build"), tale.asks(1)], &[])?;
    store.append(&[tale.refused(1), tale.held(1, 900_000)], &[])?;
    store.append(&[tale.answered(1, "proceed", "ada")], &[])?;
    store.append(&[tale.asks_several(2, 2)], &[])?;
    store.append(&[tale.answered(2, "proceed", "ada")], &[])?;
    store.append(&[tale.answered(2, "proceed", "bob"), tale.completed()], &[])?;

    let mut tale = Tale::of_skill("failed0001", "deploy");
    let all = [tale.started(), tale.step("build"), tale.asks(1), tale.failed("build")];
    store.start(&all, &source())?;

    let mut tale = Tale::new("cancelled1");
    let all = [tale.started(), tale.asks(1), tale.expired(1), tale.cancelled()];
    store.start(&all, &source())?;

    let mut tale = Tale::new("paused0001");
    store.start(&[tale.started(), tale.asks(1), tale.paused()], &source())?;

    let mut tale = Tale::of_skill("running001", "deploy");
    store.start(&[tale.started(), tale.asks(1), tale.paused()], &source())?;
    store.append(&[tale.resumed(), tale.asks_several(2, 2)], &[])?;
    store.append(&[tale.answered(2, "cancel", "ada")], &[])
}
