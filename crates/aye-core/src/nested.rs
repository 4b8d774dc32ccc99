//! Runs inside a run: sub-skills, and the items of a `foreach`.
//!
//! Each is a run of its own with its own journal, so that it is as durable as
//! any other: the step that holds it needs no memory of how far it is. Its id
//! is made from the step that holds it, so a crash between two journals
//! cannot start it twice.

use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::flow::Flow;
use crate::form::Form;
use crate::id::{BadId, RunId};
use crate::journal::{Approved, StepRecord};
use crate::question::{Answer, Edits, Lead};
use crate::secrets::{Secrets, Text};

/// How deep skills may call skills.
pub const DEEPEST: u32 = 8;

/// The most items one `foreach` goes through.
pub const MOST_ITEMS: usize = 10_000;

/// The step of another run that a run belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parent {
    /// The run.
    pub run: RunId,
    /// Its step.
    pub step: String,
    /// Which start of it.
    pub execution: u32,
    /// Which start of it begins the run, where an earlier one began the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Which item of a `foreach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Item>,
    /// What a server asks in the middle of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Box<Form>>,
    /// 1 for a run inside a run that nobody holds.
    pub depth: u32,
    /// A person agreed to what it does, or it cannot be undone: no assistant
    /// changes that unseen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bound: bool,
    /// It belongs to a clean-up: the step, or one around it, is in `finally`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finally: bool,
    /// It repairs a step, or belongs to what does: nothing repairs it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair: bool,
    /// Where it leads in a run around it if the run is declined. In an item of a
    /// `foreach` only silence does that: a no leaves the item out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<Box<Lead>>,
}

impl Parent {
    /// The id of the run that belongs there.
    pub fn child(&self) -> Result<RunId, BadId> {
        let form = self.form.as_ref().map(|form| form.index);
        let index = self.item.as_ref().map(|item| item.index).or(form);
        self.run.child(self.execution, index)
    }

    /// What the run is called beneath its step: `deploy[web3]`, or `deploy[2]`
    /// for an item without a name, `deploy` for a sub-skill.
    pub fn label(&self) -> String {
        match (&self.item, &self.form) {
            (Some(Item { label: Some(label), .. }), _) => format!("{}[{label}]", self.step),
            (Some(_), _) => self.numbered(),
            (None, Some(form)) => format!("{}: {} asks", self.step, form.server),
            (None, None) => self.step.clone(),
        }
    }

    /// The same with the number of the item: `deploy[2]`. One whose name is a
    /// number has no other: nobody could tell which is meant.
    pub fn numbered(&self) -> String {
        let is_number = |label: &String| label.parse::<u64>().is_ok();
        match &self.item {
            Some(item) if item.label.as_ref().is_some_and(is_number) => self.label(),
            Some(item) => format!("{}[{}]", self.step, item.index),
            None => self.label(),
        }
    }
}

/// One item of a `foreach`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// From 0.
    pub index: u32,
    /// Its value, secrets masked.
    pub value: Value,
    /// What it is called, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// What a nested step consists of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nested {
    /// In order.
    pub children: Vec<Child>,
    /// How many at once.
    pub parallel: usize,
    /// Whether the first that fails keeps the rest from starting.
    pub fail_fast: bool,
    /// When all of them have to be over.
    pub deadline: Option<Timestamp>,
    /// Whether the result is a list.
    pub is_list: bool,
    /// Those that failed are tried again.
    pub again: Option<ChildRetry>,
}

/// How the runs of a nested step that failed are tried again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildRetry {
    /// The start of the step: what failed in this one has failed.
    pub turn: u32,
    /// What their steps that failed are given differently.
    pub edits: Option<Edits>,
    /// Who said so.
    pub answer: Option<Box<Answer>>,
}

/// One run of a nested step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Child {
    /// Where it belongs.
    pub parent: Parent,
    /// What it runs.
    pub body: ChildBody,
}

/// What a nested run runs. A value that touches a secret is not here
/// ([`crate::secrets::secret_marker`]): the host renders it with
/// `Machine::child`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildBody {
    /// Another skill, by its name or path.
    Skill {
        /// Which.
        skill: Text,
        /// It stands like this in the file: no value had a part in it.
        written: bool,
        /// Its inputs.
        inputs: IndexMap<String, Value>,
    },
    /// The steps of a `foreach`, for one item.
    Item {
        /// The item.
        value: Value,
    },
    /// What repairs the step.
    Repair,
    /// What a server asks in the middle of it: `Parent::form`.
    Form,
}

/// What a nested run runs, secrets included: never written down.
#[derive(Debug, Clone, PartialEq)]
pub enum ChildRun {
    /// Another skill.
    Skill {
        /// Which.
        skill: String,
        /// It stands like this in the file.
        written: bool,
        /// Its inputs.
        inputs: IndexMap<String, Value>,
    },
    /// Steps of the file itself.
    Steps {
        /// The steps.
        flow: Arc<Flow>,
        /// What they see around them.
        outer: Box<ParentScope>,
    },
}

/// What the steps of a `foreach` see of the run around them. It is not
/// written down again: that run stands still as long as they continue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParentScope {
    /// How that run ends, while its `finally` runs: `run.status` and the like.
    pub ending: serde_json::Map<String, Value>,
    /// Its inputs.
    pub inputs: Arc<IndexMap<String, Value>>,
    /// Its results so far.
    pub outputs: Arc<IndexMap<String, Value>>,
    /// Its steps so far.
    pub steps: Arc<IndexMap<String, StepRecord>>,
    /// Its secrets.
    pub secrets: Secrets,
    /// `item`, or what the step calls it, and `index`.
    pub locals: Arc<IndexMap<String, Value>>,
    /// What someone agreed to, if this repairs a step: it runs as that and not otherwise.
    pub agreed_repair: Option<Arc<Approved>>,
}
