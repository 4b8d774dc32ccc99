//! The port of audits: checking that the journal is what was written.

use aye_core::id::RunId;

use super::StoreError;

/// Checks the journal.
pub trait Audit {
    /// Checks one run, or everything; calls `report` with what is wrong.
    fn audit(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, StoreError>;
}

/// How much was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Audited {
    /// Runs.
    pub runs: u64,
    /// Events.
    pub events: u64,
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// An event does not have the hash that it had.
    #[error("event {seq} (`{kind}`) of run `{run}` was changed")]
    Changed {
        /// The run.
        run: String,
        /// The event.
        seq: u64,
        /// What it claims to be.
        kind: String,
    },
    /// Events are gone from the middle of a run.
    #[error("events {first} to {last} of run `{run}` are missing")]
    Missing {
        /// The run.
        run: String,
        /// The first that is gone.
        first: u64,
        /// The last that is gone.
        last: u64,
    },
    /// Events are gone from the end of a run.
    #[error("run `{run}` ends with event {last}, but {recorded} were recorded")]
    Truncated {
        /// The run.
        run: String,
        /// The last event that is there, 0 if there is none.
        last: u64,
        /// The last event that there was.
        recorded: u64,
    },
    /// An event is as it was written, but cannot be understood.
    #[error("event {seq} (`{kind}`) of run `{run}` cannot be read: {message}")]
    Unreadable {
        /// The run.
        run: String,
        /// The event.
        seq: u64,
        /// What it claims to be.
        kind: String,
        /// Why.
        message: String,
    },
    /// The row of a run is not what its events make of it.
    #[error("the row of run `{run}` does not agree with its events: {columns}")]
    Run {
        /// The run.
        run: String,
        /// What differs.
        columns: String,
    },
    /// The row of a question is not what the events make of it.
    #[error("the row of question `{question}` does not agree with the events of run `{run}`")]
    Question {
        /// The run.
        run: String,
        /// The question.
        question: String,
    },
    /// The kept text of a skill was changed.
    #[error("the kept text of `{file}` (`{digest}`) was changed")]
    Source {
        /// Where the file was.
        file: String,
        /// What the text was kept under.
        digest: String,
    },
    /// SQLite finds the file damaged.
    #[error("the file is damaged: {message}")]
    File {
        /// What SQLite says.
        message: String,
    },
}

impl Finding {
    /// Whether making the derived rows anew repairs it: the events are right.
    pub fn is_mended_by_rebuild(&self) -> bool {
        match self {
            Self::Run { .. } | Self::Question { .. } => true,
            Self::Changed { .. }
            | Self::Missing { .. }
            | Self::Truncated { .. }
            | Self::Unreadable { .. }
            | Self::Source { .. }
            | Self::File { .. } => false,
        }
    }
}
