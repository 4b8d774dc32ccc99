//! What goes into a skill and what comes out.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::skill::InputType;
use crate::yaml::decode::{Field, Raw};

/// One input of a skill.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a mapping with a `name`")]
#[schemars(rename = "Input", extend("required" = ["name"]))]
pub(in crate::skill) struct InputDoc {
    /// Its name: `{{ inputs.name }}` in templates, `-i name=value` on the command line.
    pub(in crate::skill) name: Field<String>,
    /// What it must be; `string` if not given.
    #[serde(rename = "type")]
    pub(in crate::skill) kind: Field<InputType>,
    /// Whether a run needs it. An input with a default never has to be given.
    pub(in crate::skill) required: Field<bool>,
    /// Taken if nothing is given; text may be a template.
    pub(in crate::skill) default: Field<Raw<Value>>,
    /// The only values allowed.
    #[serde(rename = "enum")]
    pub(in crate::skill) choices: Field<Vec<Raw<Value>>>,
    /// A regular expression the text must match.
    #[serde(rename = "match")]
    pub(in crate::skill) pattern: Field<String>,
    /// What it is for.
    pub(in crate::skill) description: Field<String>,
}

/// One named result of a skill.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a mapping with a `name`")]
#[schemars(rename = "Output", extend("required" = ["name"]))]
pub(in crate::skill) struct OutputDoc {
    /// Its name.
    pub(in crate::skill) name: Field<String>,
    /// Its value; every text inside is a template. Without one it is the
    /// result of that name.
    pub(in crate::skill) value: Field<Raw<Value>>,
    /// What it is, for people.
    pub(in crate::skill) description: Field<String>,
}
