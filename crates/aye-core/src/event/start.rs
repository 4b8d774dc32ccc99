//! The beginning of a run.

use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::nested::Parent;
use crate::question::Namespaces;
use crate::step_kind::StepKind;
use crate::word_enum;

use super::{is_false, is_zero};

/// The beginning of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillStarted {
    /// The skill's name.
    pub skill: String,
    /// Where its file was.
    pub file: String,
    /// Digest of the file's text; the store keeps the text under it.
    pub source: String,
    /// Inputs with defaults applied; secrets masked.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub inputs: IndexMap<String, Value>,
    /// How many steps the skill has.
    pub steps: u32,
    /// The directory it runs in.
    pub workspace: String,
    /// `--environment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The deadline of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// `--from` or `--only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// `--yes` was given.
    #[serde(default, skip_serializing_if = "is_false")]
    pub yes: bool,
    /// The user and the process that drive it.
    pub driver: Driver,
    /// The step of another run that this one belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<Parent>>,
    /// The tools that the project's settings mark as destructive. Steps that use
    /// them are destructive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destructive_tools: Vec<String>,
    /// The steps of the file, in order. Absent in the runs of a `foreach`, whose
    /// steps are those of the step around them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step_list: Vec<PlannedStep>,
    /// Who or what started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<StartedBy>,
    /// The person who started it, if that is not the account that drives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starter: Option<String>,
    /// The name of its `concurrency`, which it must hold before its first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<String>,
    /// The epoch of the lease under which it began.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub epoch: u64,
}

impl SkillStarted {
    /// Who started it: a person with a name, or the account that drives it.
    pub fn starter(&self) -> &str {
        self.starter.as_deref().unwrap_or(&self.driver.user)
    }
}

/// A step as the file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedStep {
    /// Its name.
    pub name: String,
    /// `command`, `shell`, `confirm`, …
    pub kind: StepKind,
    /// What the file says about it; never rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// It belongs to `finally`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub finally: bool,
}

word_enum! {
    /// Who or what started a run.
    #[derive(JsonSchema)]
    pub enum StartedBy {
        /// A person at a terminal.
        Terminal = "terminal",
        /// A program without a terminal: a shell script, a pipe, CI.
        Script = "script",
        /// An assistant.
        Assistant = "assistant",
        /// A schedule.
        Schedule = "schedule",
        /// The web page.
        Web = "web",
        /// An editor that is connected to the server.
        Editor = "editor",
        /// A program that uses the server's HTTP API.
        Api = "api",
    }
}

impl StartedBy {
    /// What started a run that no person typed; nothing where one did, or a
    /// script of theirs.
    pub fn without_person(self) -> Option<&'static str> {
        match self {
            Self::Terminal | Self::Script => None,
            Self::Assistant => Some("an assistant"),
            Self::Schedule => Some("a schedule"),
            Self::Web => Some("the web page"),
            Self::Editor => Some("an editor"),
            Self::Api => Some("the HTTP API"),
        }
    }
}

/// Which part of a skill is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Range {
    /// From this step on.
    From(String),
    /// This step alone.
    Only(String),
}

impl Range {
    /// The step it begins with.
    pub fn step(&self) -> &str {
        match self {
            Self::From(step) | Self::Only(step) => step,
        }
    }
}

/// Who drives a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Driver {
    /// The operating system's user.
    pub user: String,
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// Someone is there who can be asked what to do about a failure.
    #[serde(default, skip_serializing_if = "is_false")]
    pub attended: bool,
    /// It has a session of its own, away from any terminal.
    #[serde(default, skip_serializing_if = "is_false")]
    pub detached: bool,
    /// A server took the run up after its driver had died; nobody asked for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub taken_up: bool,
    /// The namespaces that it lives in, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Namespaces>,
}
