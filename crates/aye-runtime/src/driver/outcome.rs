//! How driving a run ended, and the exit code it stands for.

use aye_core::error_code::ErrorCode;
use aye_core::event::{FailReason, PauseReason};
use aye_core::journal::{Ended, Phase, State};

/// How driving a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is over.
    Ended(Ended),
    /// It waits for an answer or to be resumed.
    Paused(PauseReason),
    /// Aye was told to stop by this signal.
    Interrupted(i32),
}

impl Outcome {
    /// The exit code of `aye run` and `aye resume`.
    pub fn exit_code(self, state: &State) -> u8 {
        match self {
            Self::Ended(Ended::Completed) => 0,
            Self::Ended(Ended::Failed(why)) => match why {
                FailReason::StepTimedOut | FailReason::RunTimedOut => 124,
                FailReason::StepFailed => unstartable(state).unwrap_or(1),
                FailReason::StepLimit
                | FailReason::FinalState
                | FailReason::Aborted
                | FailReason::Output
                | FailReason::Deadlock
                | FailReason::Finally => 1,
            },
            Self::Ended(Ended::Cancelled(_)) => 5,
            Self::Paused(_) => 6,
            Self::Interrupted(signal) => u8::try_from(128 + signal).unwrap_or(1),
        }
    }

    /// The outcome that a state stands for.
    pub fn of(state: &State) -> Self {
        match &state.phase {
            Phase::Ended(ended) => Self::Ended(*ended),
            Phase::Transition(_) | Phase::Running { .. } | Phase::Asking { .. } => {
                Self::Paused(state.paused.unwrap_or(PauseReason::Waiting))
            }
        }
    }
}

/// 126 or 127 when the step that decided the run could not be started.
fn unstartable(state: &State) -> Option<u8> {
    let record = state.steps.get(state.decisive_step()?)?;
    match record.code.as_ref()? {
        ErrorCode::CommandNotFound => Some(127),
        ErrorCode::CommandNotExecutable => Some(126),
        _ => None,
    }
}
