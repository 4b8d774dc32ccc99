//! A run as it went, with the runs inside it: what `aye show` tells.

use std::time::Duration;

use aye_core::event::{Event, Fact};
use aye_core::id::RunId;
use aye_core::journal::{Phase, State, StepRecord, StepStatus};
use serde::Serialize;

use crate::error::Error;
use crate::paint::{duration, inert_line};
use crate::store::Store;

/// A run and those inside it.
#[derive(Debug)]
pub struct Story {
    /// Where it stands.
    pub state: State,
    /// Its events.
    pub events: Vec<Event>,
    /// The runs inside it, the first begun first.
    pub inside: Vec<Self>,
}

impl Story {
    /// Reads a run from the journal.
    pub fn read(store: &Store, run: &RunId) -> Result<Self, Error> {
        let events = store.events(run, 0)?;
        let state =
            State::fold(&events).map_err(|error| Error::Journal { run: run.to_string(), error })?;
        let inside = store.runs_inside(run)?;
        let inside =
            inside.iter().map(|row| Self::read(store, &row.id)).collect::<Result<_, _>>()?;
        Ok(Self { state, events, inside })
    }

    /// The runs inside a step, of its last attempt.
    pub fn inside_of(&self, step: &str, execution: u32) -> impl Iterator<Item = &Self> {
        self.inside.iter().filter(move |story| {
            let parent = story.state.started.parent.as_ref();
            parent.is_some_and(|parent| parent.step == step && parent.execution == execution)
        })
    }

    /// What was decided, in it and inside it, in the order of time.
    pub fn decisions(&self) -> Vec<Decision> {
        let mut all: Vec<(jiff::Timestamp, Decision)> = Vec::new();
        self.collect(&mut all);
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, decision)| decision).collect()
    }

    fn collect(&self, all: &mut Vec<(jiff::Timestamp, Decision)>) {
        all.extend(self.events.iter().filter_map(|event| Some((event.at, Decision::of(event)?))));
        self.inside.iter().for_each(|story| story.collect(all));
    }
}

/// An answer, or that nobody gave one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// Which question.
    pub question: String,
    /// What was taken.
    pub value: String,
    /// Who; nobody if the time was up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Through which prompter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<u64>,
    /// Why, if they said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it did not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Decision {
    /// The decision that an event records.
    pub fn of(event: &Event) -> Option<Self> {
        match &event.fact {
            Fact::ConfirmationExpired { question, applied } => Some(Self {
                question: question.to_string(),
                value: applied.clone().unwrap_or_else(|| "no".to_owned()),
                by: None,
                through: None,
                after_ms: None,
                reason: None,
                refused: None,
            }),
            Fact::ConfirmationAnswered(answered) => Some(Self {
                question: answered.question.to_string(),
                value: answered.answer.value.as_str().unwrap_or("***").to_owned(),
                by: Some(answered.answer.by.clone()),
                through: Some(answered.answer.prompter.word().to_owned()),
                after_ms: Some(answered.latency_ms),
                reason: answered.answer.reason.clone(),
                refused: answered.refused.clone(),
            }),
            _ => None,
        }
    }

    /// In one line.
    pub fn words(&self) -> String {
        let value = inert_line(&self.value);
        let Some(by) = &self.by else {
            return format!("{} = {value}: nobody answered in time", self.question);
        };
        let through = self.through.as_deref().unwrap_or_default();
        let after = duration(Duration::from_millis(self.after_ms.unwrap_or(0)));
        let mut line = format!(
            "{} = {value} by {} through {through} after {after}",
            self.question,
            inert_line(by)
        );
        if let Some(reason) = &self.reason {
            line.push_str(&format!(" ({})", inert_line(reason)));
        }
        if let Some(why) = &self.refused {
            line.push_str(&format!(", refused: {}", inert_line(why)));
        }
        line
    }
}

/// How long a step took, as far as it is known.
pub fn took(step: &StepRecord) -> Option<Duration> {
    let ms = match (&step.process, step.started, step.ended) {
        (Some(process), _, _) => process.duration_ms,
        // Nobody knows how long a program took whose end nobody saw.
        (None, _, _) if matches!(step.kind.as_str(), "command" | "shell") => return None,
        (None, Some(started), Some(ended)) => {
            u64::try_from(ended.as_millisecond() - started.as_millisecond()).unwrap_or(0)
        }
        (None, _, _) => return None,
    };
    Some(Duration::from_millis(ms))
}

/// How a step stands: nobody waits for an answer in a run that is over.
pub fn shown_status(state: &State, step: &StepRecord) -> StepStatus {
    match step.status {
        StepStatus::Waiting if matches!(state.phase, Phase::Ended(_)) => StepStatus::Cancelled,
        status => status,
    }
}
