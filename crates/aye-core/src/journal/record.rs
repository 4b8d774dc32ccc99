//! What is known of each step of a run: the view that every screen shows.

use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error_code::ErrorCode;
use crate::event::{BadOutcome, ProcessRecord, Proposal};
use crate::facts::Fact;
use crate::question::{Answer, Edits};
use crate::step_kind::StepKind;

/// One step as the run has seen it; a step visited twice shows the last visit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StepRecord {
    /// How it stands.
    pub status: StepStatus,
    /// It has not begun: it waits until fewer processes run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// How often it was entered.
    pub visits: u32,
    /// Its last attempt in this visit.
    pub attempt: u32,
    /// Its last start, 0 if it never started.
    pub execution: u32,
    /// What it does; nothing if it never started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<StepKind>,
    /// How often it was repaired in this visit.
    #[serde(skip_serializing_if = "is_zero")]
    pub heals: u32,
    /// What it is given differently in this visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
    /// How often someone changed what it is given.
    #[serde(skip_serializing_if = "is_zero")]
    pub edited: u32,
    /// What someone changed in this visit.
    #[serde(skip)]
    pub changes: Vec<Changed>,
    /// The fix that its last attempt tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// A change that would fix its last failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Box<Proposal>>,
    /// What a `foreach` goes through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Value>,
    /// What the items are called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The start that the runs it consists of were begun for; 0 if it has none.
    #[serde(skip)]
    pub runs: u32,
    /// Those that ended well are kept, those that failed are tried again.
    #[serde(skip)]
    pub goes_on: bool,
    /// What the steps that failed in them are given differently.
    #[serde(skip)]
    pub handed_on: Option<Edits>,
    /// Who said that it is tried again.
    #[serde(skip)]
    pub retried_by: Option<Box<Answer>>,
    /// What someone agreed to.
    #[serde(skip)]
    pub approved: Option<Arc<Approved>>,
    /// What names of the outside stood for when someone was asked.
    #[serde(skip)]
    pub outside: Arc<IndexMap<String, Value>>,
    /// How often it was asked about again because something had changed.
    #[serde(skip)]
    pub asked_again: u32,
    /// The resolved command line, secrets masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The program and its arguments, secrets masked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The name of its result.
    #[serde(skip)]
    pub output: Option<String>,
    /// When it last started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// How long its last start took, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What went wrong or why it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What a note tells the person, or what to know about its good end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where its exit code led, if the skill has a way for exactly that code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
    /// A typed code, e.g. `COMMAND_NOT_FOUND`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What its process left behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessRecord>,
}

impl StepRecord {
    /// How it stands, in a word: a step that waits for its turn does not run yet.
    pub fn standing(&self) -> &'static str {
        if self.queued { "queued" } else { self.status.word() }
    }

    /// Whether it went wrong: not if its exit code leads elsewhere.
    pub fn is_failed(&self) -> bool {
        matches!(self.status, StepStatus::Failed | StepStatus::TimedOut) && self.leads_to.is_none()
    }

    /// Whether what it is given was last changed by an assistant.
    pub fn is_written_by_assistant(&self) -> bool {
        self.changes.last().is_some_and(|change| change.relayed)
    }

    /// What it said about its last failure.
    pub fn error(&self) -> String {
        let message = self.message.clone().unwrap_or_default();
        let said = self.process.as_ref().map(ProcessRecord::said);
        format!("{message}\n{}", said.unwrap_or_default()).trim().to_owned()
    }

    /// `steps.NAME` in templates.
    pub fn to_value(&self) -> Value {
        let process = self.process.as_ref();
        json!({
            "status": self.status,
            "visits": self.visits,
            "attempt": self.attempt,
            "message": self.message,
            "exit_code": process.and_then(|p| p.exit_code),
            "stdout": process.map_or("", |p| p.stdout.as_str()),
            "stderr": process.map_or("", |p| p.stderr.as_str()),
            "duration_ms": self.duration_ms,
        })
    }
}

/// What someone agreed to before a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Approved {
    /// What decided what it does.
    pub facts: Vec<Fact>,
    /// The step whose question it was, if it was not the step's own gate.
    pub asked_by: Option<String>,
    /// What names of the outside stood for when they did.
    pub outside: Arc<IndexMap<String, Value>>,
    /// The step was given something else since: only what such a change cannot
    /// touch is compared.
    pub edited: bool,
}

impl Approved {
    /// The facts that still have to be the same. What a person changed after the
    /// step had failed is theirs to answer for.
    pub(crate) fn compared(&self, facts: &[Fact]) -> Vec<Fact> {
        let counts = |fact: &&Fact| !self.edited || !fact.kind.follows_from_edits();
        facts.iter().filter(counts).cloned().collect()
    }
}

/// A step that someone agreed to at an earlier question, for every visit to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Covered {
    /// What they agreed to.
    pub approved: Arc<Approved>,
    /// `now` as it was then.
    pub at: Timestamp,
    /// What names of the outside stood for.
    pub outside: Arc<IndexMap<String, Value>>,
}

/// What someone changed about a step that had failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The error it was changed because of.
    pub error: String,
    /// What it is given differently.
    pub edits: Edits,
    /// An assistant said so.
    pub relayed: bool,
    /// Who said so, if that is known.
    pub by: Option<String>,
}

/// How a step stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// A question before it is open, or it was entered and has not begun.
    #[default]
    Waiting,
    /// It acts.
    Running,
    /// It ended well.
    Completed,
    /// It was left out.
    Skipped,
    /// It failed.
    Failed,
    /// It was ended at its time-out.
    TimedOut,
    /// It was ended because the run was cancelled.
    Cancelled,
    /// It was ended because Aye was told to stop.
    Interrupted,
    /// Aye died while it ran.
    Unknown,
}

impl StepStatus {
    /// The word used in listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::Unknown => "unknown",
        }
    }
}

impl From<BadOutcome> for StepStatus {
    fn from(outcome: BadOutcome) -> Self {
        match outcome {
            BadOutcome::Failure => Self::Failed,
            BadOutcome::Timeout => Self::TimedOut,
            BadOutcome::Cancelled | BadOutcome::Declined | BadOutcome::Expired => Self::Cancelled,
            BadOutcome::Interrupted => Self::Interrupted,
            BadOutcome::Unknown => Self::Unknown,
        }
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
