//! Taking up a run once its question is answered.

use aye_core::event::{PauseReason, StartedBy as RecordedStart};
use indexmap::IndexMap;

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::RunRow;
use crate::trust::StartedBy;

use super::abandoned::was_alone;
use super::journal_reader::JournalReader;
use super::warning::Warning;

impl JournalReader {
    /// Whether a run rests: the process that takes its answer resumes it.
    pub fn rests(&self, outermost: &RunRow) -> Result<bool, Error> {
        Ok(self.state(&outermost.id)?.paused == Some(PauseReason::Resting))
    }

    /// Whether someone who is not at the run's machine may let it continue: it rests, or
    /// nobody sat where it was driven. One that was interrupted at a terminal is theirs
    /// who interrupted it.
    pub(super) fn continues_unseen(&self, outermost: &RunRow) -> Result<bool, Error> {
        let state = self.state(&outermost.id)?;
        Ok(state.paused == Some(PauseReason::Resting) || was_alone(&state))
    }
}

impl Runtime {
    /// Continues a run that no process drives, once its question was answered or because
    /// someone asked for it, in a process of its own. It may do what it could when it was
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
