//! Where a run stands, in the words that an assistant is told.

use aye_core::question::Purpose;
use aye_core::step_kind::StepKind;
use jiff::Timestamp;

use aye_runtime::runtime::Runtime;
use aye_runtime::usecases::{AskingRun, Overview, QuestionRow, RunStanding};

/// Where a run stands: as everywhere, but with what is asked in place of `waiting`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Running,
    Queued,
    AwaitingConfirmation,
    ErrorRecoveryNeeded,
    ComputeError,
    Paused,
    CutOff,
    Completed,
    Failed,
    Cancelled,
}

impl Standing {
    pub(super) const ALL: [Self; 10] = [
        Self::Running,
        Self::Queued,
        Self::AwaitingConfirmation,
        Self::ErrorRecoveryNeeded,
        Self::ComputeError,
        Self::Paused,
        Self::CutOff,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Running => RunStanding::Running.word(),
            Self::Queued => RunStanding::Queued.word(),
            Self::AwaitingConfirmation => "awaiting_confirmation",
            Self::ErrorRecoveryNeeded => "error_recovery_needed",
            Self::ComputeError => "compute_error",
            Self::Paused => RunStanding::Paused.word(),
            Self::CutOff => RunStanding::CutOff.word(),
            Self::Completed => RunStanding::Completed.word(),
            Self::Failed => RunStanding::Failed.word(),
            Self::Cancelled => RunStanding::Cancelled.word(),
        }
    }

    /// Whether it continues without anyone's doing.
    pub(super) fn continues(self) -> bool {
        matches!(self, Self::Running | Self::Queued)
    }
}

/// Where a run stands, in one word.
pub(super) fn standing(run: &Overview) -> Standing {
    match (run.standing(), &run.asks) {
        (RunStanding::Completed, _) => Standing::Completed,
        (RunStanding::Failed, _) => Standing::Failed,
        (RunStanding::Cancelled, _) => Standing::Cancelled,
        (_, Some(asking)) => asks_for(asking),
        (RunStanding::Queued, None) => Standing::Queued,
        (RunStanding::CutOff, None) => Standing::CutOff,
        // One that is being taken up is not recorded as running yet.
        (RunStanding::Paused | RunStanding::Waiting, None) if !run.driven => Standing::Paused,
        (RunStanding::Running | RunStanding::Paused | RunStanding::Waiting, None) => {
            Standing::Running
        }
    }
}

/// What a run that asks waits for.
pub(super) fn asks_for(asking: &AskingRun) -> Standing {
    let step = asking.state.steps.get(&asking.question.step);
    match asking.question.purpose {
        Purpose::Gate | Purpose::Ask => Standing::AwaitingConfirmation,
        Purpose::Recover if step.is_some_and(|step| step.kind == Some(StepKind::Compute)) => {
            Standing::ComputeError
        }
        Purpose::Recover => Standing::ErrorRecoveryNeeded,
    }
}

/// Until when an assistant may answer a question.
pub(super) fn expires(row: &QuestionRow, runtime: &Runtime) -> Timestamp {
    let most = jiff::SignedDuration::try_from(runtime.settings.mcp.expires)
        .ok()
        .and_then(|limit| row.asked.checked_add(limit).ok())
        .unwrap_or(Timestamp::MAX);
    row.deadline.map_or(most, |deadline| deadline.min(most))
}
