//! Fixes that memory knows, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::question::Edits;
use crate::skill::{Action, OnError, Step};
use crate::span::{Span, Spanned};

/// What a fix from memory does about a failure, everything decided: the
/// journal holds it, so that memory may change meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixPlan {
    /// Its name in memory.
    pub id: String,
    /// What the step is given differently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
    /// What is done first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<Act>,
    /// That stands in for the step itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
    /// What the step is given differently once `act` has returned: templates over
    /// `args`, `error` and `first`, what it returned.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Value>,
}

/// A fix that fits a failure, as memory has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownFix {
    /// Its name in memory.
    pub id: String,
    /// In words.
    pub message: String,
    /// What people call it.
    #[serde(default)]
    pub short: String,
    /// Why it cannot be used here, as far as the host knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// Arguments that change; texts are templates over `args`, and over `first`
    /// where something is looked up first.
    pub args: Map<String, Value>,
    /// What is done first.
    pub first: Option<Act>,
    /// What is done in place of the step.
    pub replace: Option<Act>,
    /// How often it may be used in one run.
    pub max_uses: u32,
}

/// Something that can be done: one of command, tool, skill. Texts are templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Act {
    /// A program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// A tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The tool's arguments or the skill's inputs.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub with: Map<String, Value>,
}

impl KnownFix {
    /// Whether its arguments are made of what is looked up first.
    pub fn looks_up(&self) -> bool {
        self.args.values().any(uses_first)
    }
}

/// Whether a template in it uses `first`.
fn uses_first(value: &Value) -> bool {
    match value {
        Value::String(text) => text.split("{{").skip(1).any(|inside| {
            let inside = inside.split("}}").next().unwrap_or(inside);
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let mut words = inside.split(|c: char| !is_word(c));
            words.any(|word| word == "first" || word == "first_parsed")
        }),
        Value::Array(items) => items.iter().any(uses_first),
        Value::Object(map) => map.values().any(uses_first),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

impl Act {
    /// As a step of this name, which nobody is asked about.
    pub fn to_step(&self, name: &str) -> Step {
        let span = Span::default();
        let spanned = |value: String| Spanned { value, span };
        let action = match (&self.tool, &self.skill, self.command.split_first()) {
            (Some(tool), _, _) => Action::Tool {
                tool: spanned(tool.clone()),
                args: Value::Object(self.with.clone()),
                span,
            },
            (None, Some(skill), _) => Action::Skill {
                skill: spanned(skill.clone()),
                inputs: self.with.iter().map(|(name, v)| (name.clone(), v.clone())).collect(),
                span,
            },
            (None, None, Some((program, args))) => Action::Command {
                program: spanned(program.clone()),
                args: args.iter().cloned().map(spanned).collect(),
            },
            (None, None, None) => Action::Note,
        };
        let step = Step::bare(spanned(name.to_owned()), span, action);
        Step { on_error: Some(OnError::Fail), ..step }
    }
}
