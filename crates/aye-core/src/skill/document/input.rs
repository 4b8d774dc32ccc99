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
    /// Where a secret is read if it is not given, anew by each process that drives the run.
    pub(in crate::skill) from: Field<SourceDoc>,
    /// What it is for.
    pub(in crate::skill) description: Field<String>,
}

/// Where a secret is read: one of the three.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a mapping with `env`, `file` or `command`")]
#[schemars(rename = "SecretSource", extend("minProperties" = 1, "maxProperties" = 1))]
pub(in crate::skill) struct SourceDoc {
    /// The name of an environment variable.
    pub(in crate::skill) env: Field<String>,
    /// The path of a file; one that is relative is in the workspace.
    pub(in crate::skill) file: Field<String>,
    /// A program that writes it, and its arguments. No shell sees them.
    pub(in crate::skill) command: Field<Vec<Field<String>>>,
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
