//! The end of a run, decided before its `finally` runs.

use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CancelReason, EventKind, FailReason};

/// The steps are over and `finally` follows. The run has not ended, but how it
/// does is decided, unless a step of `finally` fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finishing {
    /// How the run ends.
    #[serde(flatten)]
    pub end: RunEnd,
    /// When `finally` must be over.
    pub until: Timestamp,
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum RunEnd {
    /// It completed.
    Completed {
        /// The final state, in `states:` skills.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
        /// The skill's named outputs.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        outputs: IndexMap<String, Value>,
    },
    /// It failed.
    Failed {
        /// What went wrong.
        why: FailReason,
        /// The reason, as text for people.
        message: String,
        /// The step that caused it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// The final state, in `states:` skills.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
    },
    /// Declined or cancelled.
    Cancelled {
        /// Declined, cancelled, or ended in a final state with `status: cancelled`.
        why: CancelReason,
        /// The person who did it, if a person did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The reason, as text for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The step that caused it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// The final state, in `states:` skills.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
    },
}

impl RunEnd {
    /// `run.status` in templates.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// What went wrong, in words.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Completed { .. } => None,
            Self::Failed { message, .. } => Some(message),
            Self::Cancelled { message, .. } => message.as_deref(),
        }
    }

    /// The step that decided it.
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::Completed { .. } => None,
            Self::Failed { step, .. } | Self::Cancelled { step, .. } => step.as_deref(),
        }
    }

    /// The same end with something to add: one that was good is bad, because
    /// of this step.
    #[must_use]
    pub(crate) fn noted(self, note: &str, at: Option<String>) -> Self {
        match self {
            Self::Completed { state, .. } => {
                let why = FailReason::Finally;
                Self::Failed { why, message: note.to_owned(), step: at, state }
            }
            Self::Failed { why, message, step, state } => {
                Self::Failed { why, message: format!("{message}; {note}"), step, state }
            }
            Self::Cancelled { why, by, message, step, state } => {
                let message = match message {
                    Some(message) => format!("{message}; {note}"),
                    None => note.to_owned(),
                };
                Self::Cancelled { why, by, message: Some(message), step, state }
            }
        }
    }
}

impl From<RunEnd> for EventKind {
    fn from(end: RunEnd) -> Self {
        let duration_ms = None;
        match end {
            RunEnd::Completed { state, outputs } => {
                Self::SkillCompleted { state, outputs, duration_ms }
            }
            RunEnd::Failed { why, message, step, state } => {
                Self::SkillFailed { why, message, step, state, duration_ms }
            }
            RunEnd::Cancelled { why, by, message, step, state } => {
                Self::SkillCancelled { why, by, message, step, state, ended: None, duration_ms }
            }
        }
    }
}
