//! The longer parts of steps: arguments, `foreach`, `retry`, `validate`, `then`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::StepItem;
use crate::skill::duration::Period;
use crate::yaml::decode::{Field, Mapping, Raw, Text};

/// The arguments of a command, in order, or of a tool, by name.
pub(in crate::skill) struct Args;

impl JsonSchema for Args {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Arguments".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = generator.subschema_for::<Text>();
        json_schema!({ "anyOf": [{ "type": "array", "items": text }, { "type": "object" }] })
    }
}

/// The arguments of a step that runs a program.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::skill) struct ListedArgs {
    pub(in crate::skill) args: Field<Vec<Field<Text>>>,
}

/// The arguments of a step that calls a tool.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::skill) struct NamedArgs {
    pub(in crate::skill) args: Field<Mapping<Raw<Args>>>,
}

/// What a `foreach` goes through.
pub(in crate::skill) struct Items;

impl JsonSchema for Items {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Items".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "array", "object"] })
    }
}

/// What `compute` may do with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`read`")]
#[schemars(inline)]
pub(in crate::skill) enum FilesWord {
    /// Read those of the workspace.
    Read,
}

/// How a step is tried again by itself.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a number of attempts, or a mapping")]
#[schemars(rename = "Retry")]
pub(in crate::skill) struct RetryDoc {
    /// How often it is tried in all.
    #[schemars(range(min = 1))]
    pub(in crate::skill) attempts: Field<u32>,
    /// How long to wait before the second attempt; `1s` if not given.
    pub(in crate::skill) backoff: Field<Period>,
    /// How much longer to wait before each further one; 2 if not given.
    pub(in crate::skill) factor: Field<f64>,
    /// The longest wait; `1m` if not given.
    pub(in crate::skill) max: Field<Period>,
    /// Whether waits are shortened by chance; true if not given.
    pub(in crate::skill) jitter: Field<bool>,
    /// After which ends: `failure`, `timeout`, exit codes; failure and timeout if not given.
    pub(in crate::skill) on: Field<Vec<Field<Text>>>,
}

/// One guard, or several.
pub(in crate::skill) struct Validation;

impl JsonSchema for Validation {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Validation".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let guard = generator.subschema_for::<GuardDoc>();
        json_schema!({ "anyOf": [guard, { "type": "array", "items": guard }] })
    }
}

/// What has to hold once a step has ended.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a guard: a mapping")]
#[schemars(rename = "Guard")]
pub(in crate::skill) struct GuardDoc {
    /// An expression that has to be true.
    pub(in crate::skill) condition: Field<Text>,
    /// A program that has to succeed.
    pub(in crate::skill) command: Field<Text>,
    /// Its arguments.
    pub(in crate::skill) args: Field<Vec<Field<Text>>>,
    /// Its working directory.
    pub(in crate::skill) cwd: Field<String>,
    /// The step itself has to succeed, whatever `on_error` says.
    pub(in crate::skill) expect_success: Field<bool>,
    /// Said when it does not hold, a template.
    pub(in crate::skill) error_message: Field<String>,
}

/// A step under `then`, or `return: text`.
pub(in crate::skill) struct ThenItem;

impl JsonSchema for ThenItem {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ThenStep".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let step = generator.subschema_for::<StepItem>();
        let end = generator.subschema_for::<ReturnDoc>();
        json_schema!({ "anyOf": [end, step] })
    }
}

/// The end of the run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "`return: text`")]
#[schemars(rename = "Return")]
pub(in crate::skill) struct ReturnDoc {
    /// The text that is the run's result, a template.
    #[serde(rename = "return")]
    pub(in crate::skill) text: Field<String>,
    /// Its name, if someone wants to see it.
    pub(in crate::skill) name: Field<String>,
    /// Only if this is true.
    pub(in crate::skill) condition: Field<Text>,
}
