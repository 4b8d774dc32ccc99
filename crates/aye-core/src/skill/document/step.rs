//! Steps and states.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::key_names::{STATE_KEYS, STEP_KEYS};
use super::parts::{Args, FilesWord, Items, RetryDoc, ThenItem, Validation};
use super::{AskDoc, RememberDoc};
use crate::skill::duration::Period;
use crate::skill::size::Size;
use crate::skill::{EndStatus, OnError};
use crate::yaml::decode::{Either, Field, Mapping, Raw, Text};

/// A step's short or long question.
pub(in crate::skill) type Question = Raw<Either<String, AskDoc>>;

/// What a step or a state may say; [`StepItem`] and [`StateItem`] are the
/// two views of it that the schema shows.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a mapping with the keys of a step")]
pub(in crate::skill) struct StepDoc {
    /// Unique within the skill.
    pub(in crate::skill) name: Field<String>,
    /// What it does, for people. A step with nothing else is a note.
    pub(in crate::skill) description: Field<String>,
    /// A program: a name on `PATH` or a path. No shell is involved.
    pub(in crate::skill) command: Field<Text>,
    /// The program's arguments, one each, or the tool's by name; every one is a template.
    pub(in crate::skill) args: Field<Raw<Args>>,
    /// A script for `sh -c`.
    pub(in crate::skill) shell: Field<String>,
    /// A tool: `server.tool`, or one that `aye.toml` names.
    pub(in crate::skill) tool: Field<String>,
    /// A small Python program over the run's names; what it calls `result`,
    /// or by the name of `output`, is the step's result.
    pub(in crate::skill) compute: Field<String>,
    /// The program of `compute` is run by the real `python3`, outside of the sandbox.
    pub(in crate::skill) python: Field<bool>,
    /// `read` if `compute` may read files of the workspace.
    pub(in crate::skill) files: Field<FilesWord>,
    /// Another skill, by its name or file.
    pub(in crate::skill) skill: Field<String>,
    /// The inputs of the skill; every text is a template.
    pub(in crate::skill) inputs: Field<Map<String, Value>>,
    /// Does the step for each item: a list, or one expression that gives one.
    pub(in crate::skill) foreach: Field<Raw<Items>>,
    /// What the item is called in templates; `item` if not given. Its number is `index`.
    #[serde(rename = "as")]
    pub(in crate::skill) item_name: Field<String>,
    /// What each item is called in progress, errors, logs and `aye show`, a template; its value,
    /// or its `name`, `id` or `key`, if not given.
    pub(in crate::skill) label: Field<Text>,
    /// How many items at once; 1 if not given.
    #[schemars(range(min = 1))]
    pub(in crate::skill) parallel: Field<u32>,
    /// Whether the first item that fails keeps further ones from starting; true if not
    /// given, and false in `finally`.
    pub(in crate::skill) fail_fast: Field<bool>,
    /// With `foreach`: the steps to do for each item.
    pub(in crate::skill) steps: Field<Vec<Raw<StepItem>>>,
    /// Steps that follow only if this one was not left out; `return: text`
    /// among them ends the run well.
    pub(in crate::skill) then: Field<Vec<Raw<ThenItem>>>,
    /// What has to hold once the step has ended; if it does not, the run stops.
    pub(in crate::skill) validate: Field<Raw<Validation>>,
    /// Tries the step again by itself: how often in all, or how.
    pub(in crate::skill) retry: Field<Raw<Either<u32, RetryDoc>>>,
    /// Asks whether to continue.
    pub(in crate::skill) confirm: Field<Question>,
    /// Asks to choose one of several options.
    pub(in crate::skill) choose: Field<Question>,
    /// Asks for text.
    pub(in crate::skill) input: Field<Question>,
    /// Run only if this expression is true.
    pub(in crate::skill) condition: Field<Text>,
    /// The name of the result in later templates; the step's name if not given.
    pub(in crate::skill) output: Field<String>,
    /// Time limit for the command; `0` is none.
    pub(in crate::skill) timeout: Field<Period>,
    /// What a failure means: `fail`, `continue`, `auto_heal` or `ask`; or `ask` with its terms:
    /// `{ ask: { remember: true } }`. If not given, someone is asked where someone is there.
    pub(in crate::skill) on_error: Field<Either<OnError, OnErrorDoc>>,
    /// Environment variables to set; `null` removes one.
    pub(in crate::skill) env: Field<Mapping<Field<Option<Text>>>>,
    /// The working directory.
    pub(in crate::skill) cwd: Field<String>,
    /// Text for standard input.
    pub(in crate::skill) stdin: Field<Text>,
    /// The command gets the real terminal.
    pub(in crate::skill) interactive: Field<bool>,
    /// The command's output goes through a pseudo-terminal, so that it keeps its colours.
    pub(in crate::skill) tty: Field<bool>,
    /// `discard` if what the command writes to standard output goes nowhere: it is not shown, not
    /// logged, and no result.
    pub(in crate::skill) stdout: Field<OutputWord>,
    /// The same for standard error.
    pub(in crate::skill) stderr: Field<OutputWord>,
    /// Whether what the command writes is kept in a log; true if not given.
    pub(in crate::skill) log: Field<bool>,
    /// The most memory a process of the command may use.
    pub(in crate::skill) max_memory: Field<Size>,
    /// The most processor time a process of the command may use.
    pub(in crate::skill) max_cpu: Field<Period>,
    /// May be run again when its outcome is unknown.
    pub(in crate::skill) idempotent: Field<bool>,
    /// Cannot be undone: consent is never remembered.
    pub(in crate::skill) destructive: Field<bool>,
    /// `may_edit` if an assistant may change the command, script or code when
    /// the step has failed, before a person has seen the change.
    pub(in crate::skill) assistant: Field<AssistantWord>,
    /// Asked before the step runs.
    pub(in crate::skill) confirmation: Field<Question>,
    /// `final` if the run ends here.
    #[serde(rename = "type")]
    pub(in crate::skill) kind: Field<StateWord>,
    /// How the run ends at a final state. If not given, as the outcome that
    /// led there: `completed`, `failed` after a failure or time-out,
    /// `cancelled` after a decline.
    pub(in crate::skill) status: Field<EndStatus>,
    /// Where the state leads, by outcome.
    pub(in crate::skill) transitions: Field<Targets>,
    /// The same as `transitions.success`.
    pub(in crate::skill) on_success: Field<Option<String>>,
    /// The same as `transitions.failure`.
    pub(in crate::skill) on_failure: Field<Option<String>>,
    /// The same as `transitions.timeout`.
    pub(in crate::skill) on_timeout: Field<Option<String>>,
    /// The same as `transitions.declined`.
    pub(in crate::skill) on_declined: Field<Option<String>>,
    /// The same as `transitions.cancelled`.
    pub(in crate::skill) on_cancelled: Field<Option<String>>,
}

/// What a failure means, in more than a word.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a word, or a mapping with `ask`")]
#[schemars(rename = "OnErrorTerms")]
pub(in crate::skill) struct OnErrorDoc {
    /// Ask someone what becomes of the step.
    pub(in crate::skill) ask: Field<RecoveryDoc>,
}

/// The terms of the question about a failed step.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a mapping with `remember`")]
#[schemars(rename = "Recovery")]
pub(in crate::skill) struct RecoveryDoc {
    /// Whether the answer may be remembered. `any` names the inputs that may
    /// be different the next time: `remember: { any: [inputs.commit] }`.
    pub(in crate::skill) remember: Field<Either<bool, RememberDoc>>,
}

/// What an assistant may do to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`may_edit`")]
#[schemars(inline)]
pub(in crate::skill) enum AssistantWord {
    /// Change what it is given when it has failed.
    MayEdit,
}

/// What becomes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`discard`")]
#[schemars(inline)]
pub(in crate::skill) enum OutputWord {
    /// It goes nowhere.
    Discard,
}

/// The types of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`final`")]
#[schemars(inline)]
pub(in crate::skill) enum StateWord {
    /// The run ends here.
    Final,
}

/// Where a state leads: outcomes, exit codes and answers to states.
#[derive(Debug, Deserialize)]
pub(in crate::skill) struct Targets(pub(in crate::skill) Mapping<Field<Option<String>>>);

impl JsonSchema for Targets {
    fn schema_name() -> Cow<'static, str> {
        "Transitions".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let target =
            |description: &str| json!({ "type": ["string", "null"], "description": description });
        json_schema!({
            "description": "Where a state leads, by outcome. `null` is the same as leaving it out.",
            "type": "object",
            "properties": {
                "success": target("Exit code 0."),
                "failure": target("Any other end, unless a key below or an exit code says more."),
                "timeout": target("The state's time limit was reached."),
                "declined": target("Someone said no."),
                "cancelled": target("The run was cancelled while the state ran."),
            },
            "patternProperties": {
                "^(0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$":
                    target("This exact exit code; wins over `success` and `failure`."),
            },
            "additionalProperties":
                target("This answer to the state's question: the value of one of its options."),
        })
    }
}

/// One step of `steps`, as the schema shows it.
pub(in crate::skill) struct StepItem;

/// One state of `states`, as the schema shows it.
pub(in crate::skill) struct StateItem;

impl JsonSchema for StepItem {
    fn schema_name() -> Cow<'static, str> {
        "Step".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = without(STATE_KEYS, generator);
        schema.insert("description".to_owned(), "One step of a skill.".into());
        schema.insert("required".to_owned(), json!(["name"]));
        schema
    }
}

impl JsonSchema for StateItem {
    fn schema_name() -> Cow<'static, str> {
        "State".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = without(STEP_KEYS, generator);
        schema.insert("description".to_owned(), "One state of a skill.".into());
        schema
    }
}

fn without(keys: &[&str], generator: &mut SchemaGenerator) -> Schema {
    let mut schema = StepDoc::json_schema(generator);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|key, _| !keys.contains(&key.as_str()));
    }
    schema
}
