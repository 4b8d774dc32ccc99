//! Inputs of a skill.

use serde_json::Value;

use crate::skill::SecretSource;
use crate::span::Spanned;

/// One input of a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct InputSpec {
    /// Its name in templates.
    pub name: Spanned<String>,
    /// For people.
    pub description: Option<String>,
    /// What it must be.
    pub kind: InputType,
    /// Whether a run needs it.
    pub required: bool,
    /// Taken if nothing is given; strings are templates.
    pub default: Option<Value>,
    /// The values allowed.
    pub choices: Vec<Value>,
    /// What a string must match.
    pub pattern: Option<Spanned<String>>,
    /// Where a secret is read if nobody gives it.
    pub from: Option<SecretSource>,
}

/// The types of inputs.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum InputType {
    /// Text.
    #[default]
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list.
    Array,
    /// A mapping.
    Object,
    /// Text that is never shown, logged or journalled.
    Secret,
}
