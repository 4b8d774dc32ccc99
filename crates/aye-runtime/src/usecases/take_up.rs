//! Taking up a run once its question is answered.

use aye_core::event::{PauseReason, StartedBy as RecordedStart};
use aye_core::id::RunId;
use indexmap::IndexMap;

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::RunRow;
use crate::trust::StartedBy;

use super::abandoned::was_alone;
use super::journal_reader::JournalReader;
use super::warning::Warning;

/// What becomes of a run that no process drives, once its question was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterAnswer {
    /// The answer was its end.
    Ended,
    /// It continues in a process of its own.
    Continues {
        /// It had come to rest; otherwise its driver had died.
        rested: bool,
    },
    /// It was driven at a terminal or by a script: a person has to resume it.
    LeftToPerson(RunId),
    /// It should continue and cannot, and why.
    NotResumed(String),
}

impl AfterAnswer {
    /// Why the run does not continue now, and what to do about it.
    pub fn obstacle(&self) -> Option<String> {
        match self {
            Self::Ended | Self::Continues { .. } => None,
            Self::LeftToPerson(run) => Some(format!(
                "no process drives the run, and it was started at a terminal or by a script; \
                 resume it with: `aye resume {run}`"
            )),
            Self::NotResumed(why) => Some(why.clone()),
        }
    }
}

impl JournalReader {
    /// Whether a run rests: the process that takes its answer resumes it.
    pub fn rests(&self, outermost: &RunRow) -> Result<bool, Error> {
        Ok(self.state(&outermost.id)?.paused == Some(PauseReason::Resting))
    }

    /// Whether the answer to a question of this run lets it continue, if no process drives
    /// it: it rests, or nobody sat where it was driven. One that was interrupted at a
    /// terminal is theirs who interrupted it.
    pub fn continues_unseen(&self, outermost: &RunRow) -> Result<bool, Error> {
        let state = self.state(&outermost.id)?;
        Ok(state.paused == Some(PauseReason::Resting) || was_alone(&state))
    }
}

impl Runtime {
    /// What follows an answer to a run that no process drives, through any front end: the run
    /// continues in a process of its own, if it may. The answer counts in any case.
    pub fn continue_answered(
        &self,
        outermost: &RunRow,
        warn: &mut dyn FnMut(Warning),
    ) -> AfterAnswer {
        self.try_to_continue(outermost, warn).unwrap_or_else(|error| {
            AfterAnswer::NotResumed(match error.hint() {
                Some(hint) => format!("{error}; {hint}"),
                None => error.to_string(),
            })
        })
    }

    fn try_to_continue(
        &self,
        outermost: &RunRow,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<AfterAnswer, Error> {
        let journal = self.journal()?;
        let row = journal.run(&outermost.id)?.unwrap_or_else(|| outermost.clone());
        if row.status.is_ended() {
            return Ok(AfterAnswer::Ended);
        }
        if !journal.continues_unseen(&row)? {
            return Ok(AfterAnswer::LeftToPerson(row.id));
        }
        let rested = journal.rests(&row)?;
        self.continue_undriven(&row, warn)?;
        Ok(AfterAnswer::Continues { rested })
    }

    /// Continues a run that no process drives because someone asked for that, in a process
    /// of its own. It may do what it could when it was
    /// started, not what that person may: an assistant's run stays an assistant's.
    pub fn continue_undriven(
        &self,
        outermost: &RunRow,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<(), Error> {
        let row = self.journal()?.run(&outermost.id)?.unwrap_or_else(|| outermost.clone());
        if row.status.is_ended() {
            return Ok(());
        }
        let started = self.journal()?.state(&row.id)?.started.started_by;
        let runtime = match (self.started_by, started) {
            (StartedBy::Person, Some(RecordedStart::Assistant)) => {
                self.started_by(StartedBy::Assistant)
            }
            (
                StartedBy::Person,
                Some(RecordedStart::Web | RecordedStart::Editor | RecordedStart::Api),
            ) => self.started_by(StartedBy::Server),
            (StartedBy::Person | StartedBy::Assistant | StartedBy::Server, _) => self.clone(),
        };
        runtime.resume_detached(&row, IndexMap::new(), warn)
    }
}
