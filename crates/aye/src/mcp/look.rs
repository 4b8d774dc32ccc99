//! Where a run stands, as an assistant is told.

use aye_core::id::RunId;
use aye_core::journal::State;
use aye_core::question::{Purpose, Question};
use jiff::Timestamp;

use crate::cli::Context;
use aye_runtime::error::Error;
use aye_runtime::store::{QuestionRow, RunRow, RunStatus, Store};

/// A run, and the oldest question in it that nobody has answered.
pub(super) struct Look {
    /// The run that somebody started.
    pub(super) row: RunRow,
    /// What is known of it.
    pub(super) state: State,
    /// Whether a process drives it.
    pub(super) driven: bool,
    /// What it asks.
    pub(super) asks: Option<Asking>,
    /// How many questions are open in it.
    pub(super) waiting: usize,
}

/// An open question, in the run or in one inside it.
pub(super) struct Asking {
    /// The run that asks.
    pub(super) run: RunRow,
    /// What is known of that run.
    pub(super) state: State,
    /// As listed.
    pub(super) row: QuestionRow,
    /// As asked.
    pub(super) question: Question,
}

/// The words for where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Running,
    AwaitingConfirmation,
    ErrorRecoveryNeeded,
    ComputeError,
    Paused,
    Completed,
    Failed,
    Cancelled,
}

impl Standing {
    pub(super) const ALL: [Self; 8] = [
        Self::Running,
        Self::AwaitingConfirmation,
        Self::ErrorRecoveryNeeded,
        Self::ComputeError,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::AwaitingConfirmation => "awaiting_confirmation",
            Self::ErrorRecoveryNeeded => "error_recovery_needed",
            Self::ComputeError => "compute_error",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Look {
    /// Looks at the run that somebody started.
    pub(super) fn at(store: &dyn Store, run: &RunId) -> Result<Self, Error> {
        let row = store.run(run)?.ok_or_else(|| gone(run))?;
        let inside = format!("{run}_");
        let mut open = store.open_questions()?;
        open.retain(|one| one.run == *run || one.run.as_str().starts_with(&inside));
        let waiting = open.len();
        let asks = match open.into_iter().next() {
            None => None,
            Some(first) => {
                let question = store.asked(&first.id)?.ok_or_else(|| gone(run))?;
                let run = store.run(&first.run)?.ok_or_else(|| gone(run))?;
                let state = fold(store, &run.id)?;
                Some(Asking { run, state, row: first, question })
            }
        };
        let state = fold(store, run)?;
        Ok(Self { driven: store.is_driven(run)?, row, state, asks, waiting })
    }

    /// Where it stands, in one word.
    pub(super) fn standing(&self) -> Standing {
        match (self.row.status, &self.asks) {
            (RunStatus::Completed, _) => Standing::Completed,
            (RunStatus::Failed, _) => Standing::Failed,
            (RunStatus::Cancelled, _) => Standing::Cancelled,
            (_, Some(asking)) => asking.standing(),
            (RunStatus::Running, None) if self.driven => Standing::Running,
            (RunStatus::Running | RunStatus::Paused, None) => Standing::Paused,
        }
    }
}

impl Asking {
    pub(super) fn standing(&self) -> Standing {
        let step = self.state.steps.get(&self.question.step);
        match self.question.purpose {
            Purpose::Gate | Purpose::Ask => Standing::AwaitingConfirmation,
            Purpose::Recover if step.is_some_and(|step| step.kind == "compute") => {
                Standing::ComputeError
            }
            Purpose::Recover => Standing::ErrorRecoveryNeeded,
        }
    }

    /// Until when an assistant may answer; the question itself may end sooner.
    pub(super) fn expires(&self, context: &Context) -> Timestamp {
        expires(&self.row, context)
    }
}

/// Until when an assistant may answer a question.
pub(super) fn expires(row: &QuestionRow, context: &Context) -> Timestamp {
    let most = jiff::SignedDuration::try_from(context.settings.mcp.expires)
        .ok()
        .and_then(|limit| row.asked.checked_add(limit).ok())
        .unwrap_or(Timestamp::MAX);
    row.deadline.map_or(most, |deadline| deadline.min(most))
}

fn fold(store: &dyn Store, run: &RunId) -> Result<State, Error> {
    State::fold(&store.events(run, 0)?)
        .map_err(|error| Error::Journal { run: run.to_string(), error })
}

fn gone(run: &RunId) -> Error {
    Error::not_found(
        format!("run `{run}` is not in the journal any more"),
        "`inbox` lists what waits",
    )
}
