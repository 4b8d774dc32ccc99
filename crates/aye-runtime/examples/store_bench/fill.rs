//! Journals of any size.

use std::error::Error;
use std::path::Path;

use aye_core::event::{
    Driver, Event, EventKind, SkillStarted, StepCompleted, StepStarted, VERSION,
};
use aye_core::id::{QuestionId, RunId};
use aye_core::question::{Purpose, Question};
use aye_core::skill::AskKind;
use aye_core::step_kind::StepKind;
use aye_runtime::store::{Durability, Journal as _, Lease, Source, SqliteStore};
use jiff::Timestamp;
use serde_json::json;

/// Every run has so many events.
const EACH: u64 = 10;

/// How many questions are open, whatever the size.
pub(crate) const OPEN: u64 = 20;

/// A run with enough events to ask for the last 50.
pub(crate) fn long_run() -> Result<RunId, Box<dyn Error>> {
    Ok(RunId::new("the-long-run")?)
}

pub(crate) fn source() -> Source {
    Source::new("/skills/release.yaml", "name: release\nsteps: []\n")
}

/// Makes the events of one run.
pub(crate) struct Writer {
    run: RunId,
    seq: u64,
}

impl Writer {
    pub(crate) fn new(run: RunId) -> Self {
        Self { run, seq: 0 }
    }

    /// The lease of a run that was never taken over.
    pub(crate) fn lease(&self) -> Lease {
        Lease::new(self.run.clone(), 1, ())
    }

    pub(crate) fn event(&mut self, at: Timestamp, kind: EventKind) -> Event {
        self.seq += 1;
        Event { v: VERSION, run: self.run.clone(), seq: self.seq, at, kind }
    }

    pub(crate) fn started(&mut self, at: Timestamp) -> Event {
        self.event(
            at,
            EventKind::SkillStarted(Box::new(SkillStarted {
                skill: "release".into(),
                file: "/skills/release.yaml".into(),
                source: source().digest,
                inputs: [("commit".to_owned(), json!("abc123"))].into_iter().collect(),
                steps: 4,
                workspace: "/home/ada/project".into(),
                environment: None,
                deadline: None,
                range: None,
                yes: false,
                driver: Driver {
                    user: "ada".into(),
                    host: "engine".into(),
                    pid: 4242,
                    attended: false,
                    detached: false,
                    taken_up: false,
                    namespaces: None,
                },
                parent: None,
                destructive_tools: Vec::new(),
                step_list: Vec::new(),
                started_by: None,
                starter: None,
                concurrency: None,
                epoch: 0,
            })),
        )
    }

    /// About 300 bytes.
    pub(crate) fn step(&mut self, at: Timestamp) -> Event {
        self.event(
            at,
            EventKind::StepStarted(Box::new(StepStarted {
                step: "merge_request".into(),
                execution: 3,
                attempt: 1,
                index: None,
                description: None,
                machine: None,
                kind: StepKind::Command,
                command: Some("./make-mr --target main --title 'Release' ".repeat(3)),
                argv: Vec::new(),
                idempotent: false,
                deadline: Some(at),
                nested: false,
                items: Vec::new(),
                labels: Vec::new(),
                goes_on: None,
            })),
        )
    }

    pub(crate) fn done(&mut self, at: Timestamp) -> Event {
        self.event(
            at,
            EventKind::StepCompleted(Box::new(StepCompleted {
                step: "merge_request".into(),
                execution: 3,
                output: "merge_request".into(),
                value: json!("x".repeat(150)),
                process: None,
                marked_by: None,
                agreed: false,
                log: None,
                parsed: None,
                duration_ms: None,
                hidden: false,
                note: None,
            })),
        )
    }

    fn ask(&mut self, at: Timestamp) -> Event {
        let question = Question {
            purpose: Purpose::Gate,
            step: "merge_request".into(),
            title: "Production release".into(),
            overridable: true,
            digest: "d".into(),
            ..Question::new(
                QuestionId::new(&self.run, 1),
                AskKind::Confirm,
                "Release `abc123` to production?",
            )
        };
        self.event(at, EventKind::ConfirmationRequired(Box::new(question)))
    }

    fn completed(&mut self, at: Timestamp) -> Event {
        let kind = EventKind::SkillCompleted {
            state: None,
            outputs: std::iter::empty().collect(),
            duration_ms: None,
        };
        self.event(at, kind)
    }
}

/// A journal of `events` events, ten to a run, some runs left with a question
/// open, and one long run in the middle.
pub(crate) fn fill(home: &Path, events: u64) -> Result<(), Box<dyn Error>> {
    let mut store = SqliteStore::open(home, Durability::Process)?;
    let runs = events / EACH;
    let asking = runs / OPEN;
    let mut first = Writer::new(RunId::new("the-first-run")?);
    store.start(&first.lease(), &[first.started(moment(0)?)], &source())?;
    for number in 0..runs {
        let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ((1 << 50) - 1);
        let mut run = Writer::new(RunId::from_random(scattered));
        let at = moment(number)?;
        let mut events = vec![run.started(at)];
        for _ in 0..(EACH - 2) / 2 {
            events.extend([run.step(at), run.done(at)]);
        }
        events.push(if number % asking == asking / 2 { run.ask(at) } else { run.completed(at) });
        if number == runs / 2 {
            let mut long = Writer::new(long_run()?);
            let mut events = vec![long.started(at)];
            events.extend((0..200).map(|_| long.done(at)));
            store.append(&long.lease(), &events, &[])?;
        }
        store.append(&run.lease(), &events, &[])?;
    }
    Ok(())
}

fn moment(number: u64) -> Result<Timestamp, Box<dyn Error>> {
    let ms = 1_790_000_000_000 + i64::try_from(number)? * 1_000;
    Ok(Timestamp::from_millisecond(ms)?)
}
