//! What is kept of what a program writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `stdout: discard`, `stderr: discard` and `log: false` of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KeptOutput {
    /// Its standard output is read; otherwise it goes nowhere.
    #[serde(skip_serializing_if = "is_true")]
    pub stdout: bool,
    /// The same for its standard error.
    #[serde(skip_serializing_if = "is_true")]
    pub stderr: bool,
    /// What is read is written to the step's log.
    #[serde(skip_serializing_if = "is_true")]
    pub log: bool,
}

impl Default for KeptOutput {
    fn default() -> Self {
        Self { stdout: true, stderr: true, log: true }
    }
}

impl KeptOutput {
    /// Whether all of it is kept.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// What is not kept, in words; nothing if all of it is.
    pub fn missing(&self) -> Option<&'static str> {
        Some(match (self.stdout, self.stderr, self.log) {
            (true, true, true) => return None,
            (false, false, _) => "output discarded",
            (false, true, true) => "standard output discarded",
            (true, false, true) => "standard error discarded",
            (true, true, false) => "log not kept",
            (false, true, false) => "standard output discarded, log not kept",
            (true, false, false) => "standard error discarded, log not kept",
        })
    }
}

fn is_true(value: &bool) -> bool {
    *value
}
