//! Where a run stands, in the words that an assistant is told.

use aye_core::question::Purpose;
use aye_core::step_kind::StepKind;
use aye_core::word_enum;
use jiff::Timestamp;

use aye_runtime::runtime::Runtime;
use aye_runtime::usecases::{AskingRun, Overview, QuestionRow, RunStanding};

word_enum! {
    /// Where a run stands: as everywhere, but with what is asked in place of `waiting`.
    pub enum Standing {
        Running = "running",
        Queued = "queued",
        AwaitingConfirmation = "awaiting_confirmation",
        ErrorRecoveryNeeded = "error_recovery_needed",
        ComputeError = "compute_error",
        Paused = "paused",
        CutOff = "cut-off",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl Standing {
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
