//! What was decided in a run, and how long its steps took: what `aye show` tells.

use std::collections::HashMap;
use std::time::Duration;

use aye_core::event::{Answered, Event, EventKind, ProcessRecord};
use aye_core::journal::{Phase, State, StepRecord, StepStatus};
use aye_core::nested::{Item, Parent};
use aye_core::question::{Answer, Channel, Proof, Question};
use jiff::Timestamp;
use serde::Serialize;

use crate::paint::{duration, escape_control_line};
use crate::term;
use crate::words::place_words;
use aye_runtime::usecases::RunHistory;

use super::asked::first_words;
use super::summary::stopped;

/// As much of a question as a decision repeats.
const LONGEST: usize = 80;

/// How many processes of the runs inside a run could not be ended.
pub fn stopped_inside(history: &RunHistory) -> Option<u32> {
    let inside = |history: &RunHistory| [stopped(&history.state), stopped_inside(history)];
    history.inside.iter().flat_map(inside).flatten().reduce(|a, b| a + b)
}

/// What was decided, in a run and inside it, in the order of time.
pub fn decisions(history: &RunHistory) -> Vec<Decision> {
    let mut all: Vec<(Timestamp, Decision)> = Vec::new();
    collect(history, &[], &mut all);
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, decision)| decision).collect()
}

fn collect(history: &RunHistory, around: &[Parent], all: &mut Vec<(Timestamp, Decision)>) {
    let asked: HashMap<&str, &Question> = history.events.iter().filter_map(asked).collect();
    for event in &history.events {
        let Some(mut decision) = Decision::of(event) else { continue };
        let item = around.iter().rev().find_map(|parent| parent.item.as_ref());
        decision.item = item.cloned();
        decision.path = around.iter().map(Parent::label).collect();
        if decision.question.is_empty() {
            // Inside, it is the same word handed on.
            if !around.is_empty() {
                continue;
            }
            decision.place = place_words(around, &decision.step);
        }
        if let Some(question) = asked.get(decision.question.as_str()) {
            decision.step.clone_from(&question.step);
            decision.message.clone_from(&question.message);
            decision.place = place_words(around, &question.step);
            if decision.expired && decision.value.is_empty() {
                decision.value =
                    question.decline().map_or("no", |offer| offer.value.as_str()).to_owned();
            }
        }
        all.push((event.at, decision));
    }
    for inside in &history.inside {
        let parent = inside.state.started.parent.as_deref().cloned();
        let around: Vec<Parent> = around.iter().cloned().chain(parent).collect();
        collect(inside, &around, all);
    }
}

/// The question that an event asks, by its id.
fn asked(event: &Event) -> Option<(&str, &Question)> {
    match &event.kind {
        EventKind::ConfirmationRequired(question) => Some((question.id.as_str(), question)),
        _ => None,
    }
}

/// An answer, or that nobody gave one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// Which question; none where a run that had failed was tried again.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// The step that asked it.
    pub step: String,
    /// The runs around that step, from the outside in: `deploy[2]`.
    pub path: Vec<String>,
    /// The item it was about, where it is inside a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Item>,
    /// What was asked.
    pub message: String,
    /// Where it was asked, in words.
    #[serde(skip)]
    place: Vec<String>,
    /// What was taken.
    pub value: String,
    /// Nobody answered in time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
    /// Who; nobody if the time was up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Through which prompter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompter: Option<Channel>,
    /// What proves whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// What started the program that answered, where that was not a person, and
    /// a name that proves nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// Why, if they said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it did not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Decision {
    /// The decision that an event records; what was asked is in another.
    fn of(event: &Event) -> Option<Self> {
        let nothing = Self {
            question: String::new(),
            step: String::new(),
            path: Vec::new(),
            item: None,
            message: String::new(),
            place: Vec::new(),
            value: String::new(),
            expired: false,
            by: None,
            prompter: None,
            proof: None,
            origin: None,
            latency_ms: None,
            reason: None,
            refused: None,
        };
        match &event.kind {
            // Nobody decided anything: the run was stopped first.
            EventKind::ConfirmationExpired { withdrawn: true, .. } => None,
            EventKind::ConfirmationExpired { question, applied, withdrawn: false } => Some(Self {
                question: question.to_string(),
                value: applied.clone().unwrap_or_default(),
                expired: true,
                ..nothing
            }),
            EventKind::ConfirmationAnswered(answered) => Some(Self {
                question: answered.question.to_string(),
                value: answered.answer.value.as_str().unwrap_or("***").to_owned(),
                by: Some(answered.answer.by.clone()),
                prompter: Some(answered.answer.prompter),
                proof: answered.answer.proof,
                origin: origin_words(&answered.answer),
                latency_ms: latency(answered),
                reason: answered.answer.reason.clone(),
                refused: answered.refused.clone(),
                ..nothing
            }),
            EventKind::StepRetried { step, answer: Some(answer), .. } => Some(Self {
                step: step.clone(),
                message: "the run had failed".to_owned(),
                value: answer.value.as_str().unwrap_or_default().to_owned(),
                by: Some(answer.by.clone()),
                prompter: Some(answer.prompter),
                proof: answer.proof,
                origin: origin_words(answer),
                ..nothing
            }),
            _ => None,
        }
    }

    /// In one line: where, what was asked, what was answered.
    pub fn words(&self) -> String {
        let value = escape_control_line(&self.value);
        let place = match self.place.as_slice() {
            [] => self.question.clone(),
            place => place.join(" > "),
        };
        let asked = format!("{place} \"{}\"", term::cut(&first_words(&self.message), LONGEST));
        let Some(by) = &self.by else {
            return format!("{asked} = {value}: nobody answered in time");
        };
        let through =
            self.prompter.map(|channel| channel_words(channel, self.proof)).unwrap_or_default();
        let mut line =
            format!("{asked} = {value} by {} through {through}", escape_control_line(by));
        if let Some(ms) = self.latency_ms {
            line.push_str(&format!(" after {}", duration(Duration::from_millis(ms))));
        }
        if let Some(origin) = &self.origin {
            line.push_str(&format!(", {}", escape_control_line(origin)));
        }
        if let Some(reason) = &self.reason {
            line.push_str(&format!(" ({})", escape_control_line(reason)));
        }
        if let Some(why) = &self.refused {
            line.push_str(&format!(", refused: {}", escape_control_line(why)));
        }
        line
    }
}

/// How long an answer took. Of one that came after its question was decided nobody knows.
pub(super) fn latency(answered: &Answered) -> Option<u64> {
    let known = answered.refused.is_none() || answered.latency_ms > 0;
    known.then_some(answered.latency_ms)
}

/// Who gave an answer and through what, with all that is known of it: `by
/// alice through terminal (it is Friday)`.
pub(super) fn answer_words(answer: &Answer) -> String {
    let through = channel_words(answer.prompter, answer.proof);
    let mut words = format!("by {} through {through}", answer.by);
    words.extend(origin_words(answer).map(|origin| format!(", {origin}")));
    words.extend(answer.reason.as_ref().map(|reason| format!(" ({reason})")));
    escape_control_line(&words)
}

/// Through what an answer came, and what proves whose it is: `web (token)`.
pub(super) fn channel_words(channel: Channel, proof: Option<Proof>) -> String {
    match proof {
        Some(proof) => format!("{} ({})", channel.spoken(), proof.word()),
        None => channel.spoken().to_owned(),
    }
}

/// What is known against an answer's being that of the person it names.
pub(super) fn origin_words(answer: &Answer) -> Option<String> {
    let started = answer.started_by().map(|program| format!("from {program}"));
    let claimed = answer
        .claimed()
        .map(|name| format!("in another user namespace than the run's, as `{name}`"));
    let words: Vec<String> = started.into_iter().chain(claimed).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// How Aye ended the process of a step that took too long.
pub(super) fn ended_words(process: &ProcessRecord) -> Option<String> {
    Some(match process.ended_with.as_deref()? {
        "SIGKILL" => "killed (SIGKILL)".to_owned(),
        signal => format!("ended ({signal})"),
    })
}

/// How long a run took, or has gone on so far: up to now while someone drives
/// it, up to its last event where nobody does.
pub fn ran_for(history: &RunHistory, now: Option<Timestamp>) -> Duration {
    let state = &history.state;
    let ends = |event: &&Event| {
        matches!(
            event.kind,
            EventKind::SkillCompleted { .. }
                | EventKind::SkillFailed { .. }
                | EventKind::SkillCancelled { .. }
        )
    };
    let ended = history.events.iter().rev().find(ends).map(|event| event.at);
    let ended = ended.filter(|_| matches!(state.phase, Phase::Ended(_)));
    let until = ended.or(now).unwrap_or(state.updated_at);
    Duration::try_from(until.duration_since(state.started_at)).unwrap_or(Duration::ZERO)
}

/// How a step stands: nobody waits for an answer in a run that is over.
pub(super) fn shown_status(state: &State, step: &StepRecord) -> StepStatus {
    match step.status {
        StepStatus::Waiting if matches!(state.phase, Phase::Ended(_)) => StepStatus::Cancelled,
        status => status,
    }
}
