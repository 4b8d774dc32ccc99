//! The derived rows as callers see them.

use aye_core::event::{Driver, StartedBy};
use aye_core::id::{QuestionId, RunId};
use aye_core::journal::RunStatus;
use aye_core::question::Purpose;
use aye_core::skill::AskKind;
use aye_core::word_enum;
use jiff::Timestamp;

/// How a run stands to the name of its `concurrency`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameClaim {
    /// It has it.
    Held,
    /// It waits for it.
    Waits {
        /// Number of the event since which it waits: its place among others.
        since: u64,
        /// The run that has to end first, as far as it knows.
        holder: RunId,
    },
}

/// One run, as its events so far make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Number of its first event: newer runs have larger ones.
    pub n: u64,
    /// Its name.
    pub id: RunId,
    /// The skill's name.
    pub skill: String,
    /// Where the skill's file was.
    pub file: String,
    /// Digest of the skill's text, see [`Journal::source`](super::Journal::source).
    pub source: String,
    /// The directory it runs in.
    pub workspace: String,
    /// `--environment`.
    pub environment: Option<String>,
    /// The run it is inside of.
    pub parent: Option<RunId>,
    /// Who drove it last.
    pub driver: Driver,
    /// What started it.
    pub started_by: Option<StartedBy>,
    /// Who started it: a person with a name, or the account.
    pub starter: String,
    /// How many steps the skill has.
    pub steps: u32,
    /// Where it stands.
    pub status: RunStatus,
    /// Why it is paused, failed or cancelled: the reason's word.
    pub why: Option<String>,
    /// The same in words.
    pub message: Option<String>,
    /// The name of its `concurrency`.
    pub concurrency: Option<String>,
    /// Whether it has that name or waits for it; nothing once it has ended.
    pub claim: Option<NameClaim>,
    /// The step it is at, or was at last.
    pub step: Option<String>,
    /// How many of its questions are open.
    pub waiting: u32,
    /// When it began.
    pub started: Timestamp,
    /// When its last event was.
    pub updated: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Its last event.
    pub last_seq: u64,
    /// The hash of its last event.
    pub head: [u8; 32],
}

impl RunRow {
    /// The name it waits for, and the run that has to end first.
    pub fn waits_for_name(&self) -> Option<(&str, &RunId)> {
        match (&self.concurrency, &self.claim) {
            (Some(name), Some(NameClaim::Waits { holder, .. })) => Some((name, holder)),
            (_, _) => None,
        }
    }
}

word_enum! {
    /// What became of a question.
    #[derive(Hash)]
    pub enum QuestionState {
        /// Someone has to decide.
        Open = "open",
        /// Someone did.
        Answered = "answered",
        /// Nobody did in time.
        Expired = "expired",
        /// The run ended first.
        Withdrawn = "withdrawn",
    }
}

/// One question, as the events of its run so far make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionRow {
    /// Number of the event that asked it: newer questions have larger ones.
    pub n: u64,
    /// Its name, for `aye answer`.
    pub id: QuestionId,
    /// The run that asks.
    pub run: RunId,
    /// The run's skill.
    pub skill: String,
    /// The step that asks.
    pub step: String,
    /// Whether it asks for a yes, for a choice or for text.
    pub kind: AskKind,
    /// Whether it stands before a step, is a step itself, or is about a failed step.
    pub purpose: Purpose,
    /// Heading.
    pub title: String,
    /// The question.
    pub message: String,
    /// When it was asked.
    pub asked: Timestamp,
    /// When it expires; `None` waits for ever.
    pub deadline: Option<Timestamp>,
    /// What became of it.
    pub state: QuestionState,
    /// When it stopped being open.
    pub closed: Option<Timestamp>,
    /// Who answered last.
    pub answered_by: Option<String>,
    /// Through what.
    pub prompter: Option<String>,
    /// How many more people must agree.
    pub missing: u32,
    /// Values that close it at once though several people must agree.
    pub declines: Vec<String>,
}
