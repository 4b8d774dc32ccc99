//! The last failures, for people who look back.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How many are kept.
pub(super) const KEPT: usize = 100;
/// How much of an error is kept.
pub(super) const SNIPPET: usize = 300;

/// What became of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The step failed, and so did the run.
    Failed,
    /// The run went on without the step.
    Swallowed,
    /// Someone said what to do, and it worked.
    Recovered,
    /// A rule or a known fix repaired it.
    Healed,
}

/// An entry of `failures.yaml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a mapping")]
pub struct Failure {
    /// When.
    pub at: Timestamp,
    /// The tool or program.
    pub tool: String,
    /// The skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The beginning of the line that says it.
    pub error: String,
    /// What became of it.
    pub ending: Ending,
    /// What was done about it: the id of a fix, or words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}
