//! The port of audits: checking that the journal is what was written.

use aye_core::id::RunId;

use super::{Heads, PrunedRun, StoreError};

/// Checks the journal.
pub trait Audit {
    /// Checks one run and those inside it, or everything, with the logs of
    /// steps; calls `report` with what is wrong.
    fn audit(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, StoreError>;

    /// Checks that the chains of a run and of the runs inside it are whole, and
    /// that their rows are what the events make of them: what is resumed is what
    /// was recorded, where it was. Costs little more than reading them.
    fn verify(&self, run: &RunId) -> Result<(), StoreError>;

    /// Where every chain ends now.
    fn heads(&self) -> Result<Heads, StoreError>;

    /// The hash that is stored with an event.
    fn hash_of_event(&self, run: &RunId, seq: u64) -> Result<Option<[u8; 32]>, StoreError>;

    /// The runs that were pruned, in order.
    fn pruned_runs(&self) -> Result<Vec<PrunedRun>, StoreError>;
}

/// How much was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Audited {
    /// Runs.
    pub runs: u64,
    /// Events.
    pub events: u64,
    /// Logs of steps that were compared with their seal.
    pub logs: u64,
    /// Logs without a seal: their step was cut off, or an older Aye ran it.
    pub unsealed: u64,
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
    /// The kept text of a skill is gone.
    #[error("the kept text of `{file}` (`{digest}`) is missing")]
    SourceMissing {
        /// Where the file was.
        file: String,
        /// What the text was kept under.
        digest: String,
    },
    /// The log of a step is not what the step wrote.
    #[error("the log of step `{step}` (start {execution}) of run `{run}` was changed: {what}")]
    LogChanged {
        /// The run.
        run: String,
        /// Which start of the step.
        execution: u32,
        /// The step.
        step: String,
        /// Which of its files, or what is wrong with it.
        what: String,
    },
    /// The log of a step has fewer bytes than the step wrote.
    #[error(
        "the log of step `{step}` (start {execution}) of run `{run}` was shortened: {what} has {bytes} of {recorded} bytes"
    )]
    LogShortened {
        /// The run.
        run: String,
        /// Which start of the step.
        execution: u32,
        /// The step.
        step: String,
        /// Which of its files.
        what: String,
        /// How many bytes there are.
        bytes: u64,
        /// How many were written.
        recorded: u64,
    },
    /// The log of a step is gone, and its run was not pruned.
    #[error("the log of step `{step}` (start {execution}) of run `{run}` is missing: {what}")]
    LogMissing {
        /// The run.
        run: String,
        /// Which start of the step.
        execution: u32,
        /// The step.
        step: String,
        /// Which of its files.
        what: String,
    },
    /// Whole runs are gone that nobody pruned.
    #[error("{events} events are missing, and no entry says that their runs were pruned")]
    Removed {
        /// How many.
        events: u64,
    },
    /// An entry of the pruned runs does not have the hash that it had.
    #[error("entry {n} of the pruned runs (run `{run}`) was changed")]
    PrunedChanged {
        /// The entry.
        n: u64,
        /// The run that it claims to be about.
        run: String,
    },
    /// Entries of the pruned runs are gone.
    #[error("entries {first} to {last} of the pruned runs are missing")]
    PrunedMissing {
        /// The first that is gone.
        first: u64,
        /// The last that is gone.
        last: u64,
    },
    /// Something in the file is not Aye's, or no longer as Aye made it.
    #[error("{kind} `{name}` in the file {}", problem.words())]
    Schema {
        /// `table`, `index`, `trigger` or `view`.
        kind: String,
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: SchemaProblem,
    },
    /// A run has fewer events than it had.
    #[error("run `{run}` has {events} events, but had {recorded}")]
    RunShortened {
        /// The run.
        run: String,
        /// How many it has.
        events: u64,
        /// How many it had.
        recorded: u64,
    },
    /// A run is not the one whose head was kept.
    #[error("run `{run}` is not what it was: event {seq} has another hash")]
    RunReplaced {
        /// The run.
        run: String,
        /// The event that was its last.
        seq: u64,
    },
    /// A run is gone, and nobody pruned it.
    #[error("run `{run}` is gone, and no entry says that it was pruned")]
    RunGone {
        /// The run.
        run: String,
    },
    /// A row holds something that was never written there.
    #[error("a row of table `{table}` cannot be read: {message}")]
    Row {
        /// The table.
        table: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// SQLite finds the file damaged.
    #[error("the file is damaged: {message}")]
    File {
        /// What SQLite says.
        message: String,
    },
}

/// What is wrong with a part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaProblem {
    /// Aye did not make it.
    Foreign,
    /// It is not as Aye made it.
    Changed,
    /// It is gone.
    Missing,
}

impl SchemaProblem {
    fn words(self) -> &'static str {
        match self {
            Self::Foreign => "is not Aye's",
            Self::Changed => "was changed",
            Self::Missing => "is missing",
        }
    }
}

impl Finding {
    /// How many events of a run that is still there it says are missing.
    pub(super) fn events_missing(&self) -> u64 {
        match self {
            Self::Missing { first, last, .. } => last.saturating_sub(*first) + 1,
            Self::Truncated { last, recorded, .. } => recorded.saturating_sub(*last),
            _ => 0,
        }
    }
}
