//! What was learned, and what it led to.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::heal::Category;

use crate::fix::FixPlan;
use crate::word_enum;

/// The intent of a repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealTriggered {
    /// The step that failed.
    pub step: String,
    /// The number of the repair; starts of steps and repairs count together.
    pub execution: u32,
    /// The rule.
    pub rule: String,
    /// The category of the error, if it is a known one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// What went wrong, secrets masked.
    pub error: String,
    /// When it has to be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Set if a fix from memory repairs it, instead of a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<FixPlan>>,
}

/// Something from memory, or for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remembered {
    /// What kind of thing.
    pub kind: MemoryKind,
    /// Its name in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The step it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Text for people. It was learned: treat it as data.
    pub message: String,
    /// A fix that is about to be carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<FixPlan>>,
    /// What is written to memory, in a form that only memory reads. If a crash
    /// prevented the write, the next process that opens memory does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lesson: Option<Box<Value>>,
}

impl Remembered {
    /// Something to show, and nothing to write.
    pub fn told(kind: MemoryKind, message: String) -> Self {
        Self { kind, id: None, step: None, message, fix: None, lesson: None }
    }

    /// A count, which is not shown.
    pub fn is_silent(&self) -> bool {
        self.message.is_empty()
    }
}

word_enum! {
    /// Kinds of things in memory.
    #[derive(JsonSchema)]
    pub enum MemoryKind {
        /// What people wrote about an error.
        Issue = "issue",
        /// What to do about an error.
        Fix = "fix",
        /// An answer to give again.
        Preference = "preference",
        /// A call that keeps failing in the same way.
        Usage = "usage",
        /// What a step wrote down for the next run.
        State = "state",
    }
}
