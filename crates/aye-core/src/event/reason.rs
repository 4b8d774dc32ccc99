//! Why something happened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a run is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// A question is open and nobody can be asked here.
    Waiting,
    /// Aye was told to stop.
    Interrupted,
    /// A question is open and nobody has answered for a while: no process waits
    /// for it, and an answer resumes the run.
    Resting,
}

/// Why the running step is to be ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Stopping {
    /// Someone cancelled the run.
    Cancelled {
        /// Who.
        by: String,
        /// Why, if they said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Aye was told to stop.
    Interrupted {
        /// In words, e.g. `SIGTERM`.
        signal: String,
    },
}

/// Why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailReason {
    /// A step failed and nothing caught it.
    StepFailed,
    /// A step timed out and nothing caught it.
    StepTimedOut,
    /// The run's own time-out.
    RunTimedOut,
    /// The step limit.
    StepLimit,
    /// A final state with `status: failed`.
    FinalState,
    /// Someone answered a recovery question with abort.
    Aborted,
    /// An output could not be rendered.
    Output,
    /// The steps succeeded, but one of `finally` failed.
    Finally,
    /// It would have waited for a run that waits for it (`concurrency`).
    Deadlock,
}

/// Why a run was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// A question was declined.
    Declined,
    /// A question expired without a default.
    Expired,
    /// Someone cancelled the run.
    Cancelled,
    /// A final state with `status: cancelled`.
    FinalState,
}

/// Why a step was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Its condition is false.
    Condition,
    /// Its gate was declined.
    Declined,
    /// Its gate expired without a default.
    Expired,
    /// Someone chose to skip it.
    Answer,
}

/// Why a step is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryReason {
    /// `idempotent: true` and the outcome was unknown.
    Idempotent,
    /// Someone answered a recovery question with retry.
    Answer,
    /// The step's `retry` says so.
    Policy,
    /// What was wrong has been repaired.
    Healed,
    /// A fix from memory is tried.
    Fixed,
    /// An assistant answered a recovery question with retry.
    Relayed,
}
