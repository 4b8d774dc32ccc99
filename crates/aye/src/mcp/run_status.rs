//! Where a run stands, in the words that an assistant is told.

use aye_core::question::Purpose;
use aye_core::step_kind::StepKind;
use jiff::Timestamp;

use aye_runtime::runtime::Runtime;
use aye_runtime::usecases::{AskingRun, Overview, QuestionRow, RunStatus};

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

/// Where a run stands, in one word.
pub(super) fn standing(run: &Overview) -> Standing {
    match (run.row.status, &run.asks) {
        (RunStatus::Completed, _) => Standing::Completed,
        (RunStatus::Failed, _) => Standing::Failed,
        (RunStatus::Cancelled, _) => Standing::Cancelled,
        (_, Some(asking)) => asks_for(asking),
        // One that is being taken up is not recorded as running yet.
        (RunStatus::Running | RunStatus::Paused, None) if run.driven => Standing::Running,
        (RunStatus::Running | RunStatus::Paused, None) => Standing::Paused,
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
