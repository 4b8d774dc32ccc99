//! A whole file: one skill, or several.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{HealDoc, InputDoc, OutputDoc, StateItem, StepItem};
use crate::skill::duration::Period;
use crate::yaml::decode::{Field, Mapping, Raw, Text};

/// One skill: `steps` in order, or `states` with transitions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a skill, written as a mapping")]
#[schemars(rename = "Skill", extend("patternProperties" = { "^x-": true }))]
pub(in crate::skill) struct SkillDoc {
    /// The name people run the skill by. Under `workflows` the key is that
    /// name and this one is only shown.
    pub(in crate::skill) name: Field<String>,
    /// What the skill does, for listings.
    pub(in crate::skill) description: Field<String>,
    /// The author's own version of the skill.
    pub(in crate::skill) version: Field<Text>,
    /// Words to find the skill by.
    pub(in crate::skill) tags: Field<Vec<Field<Text>>>,
    /// What the skill asks for before it starts; `{{ inputs.name }}` in templates.
    pub(in crate::skill) inputs: Field<Vec<Raw<InputDoc>>>,
    /// The input that says what a run acts against, such as `inputs.target`.
    /// What is remembered is bound to it, and `--environment` may only make it
    /// stricter.
    pub(in crate::skill) environment: Field<Text>,
    /// The steps, one after the other.
    pub(in crate::skill) steps: Field<Vec<Raw<StepItem>>>,
    /// The states by name; each says where it leads.
    pub(in crate::skill) states: Field<Mapping<Raw<StateItem>>>,
    /// The state a run begins with; the first one if not given.
    #[serde(alias = "initialState")]
    pub(in crate::skill) initial: Field<String>,
    /// Steps that run however the run ends: completed, failed or cancelled.
    /// `run.status`, `run.error` and `run.failed_step` say how. A step that
    /// fails there does not stop the next.
    pub(in crate::skill) finally: Field<Vec<Raw<StepItem>>>,
    /// A name, such as `deploy-{{ inputs.environment }}`: one run at a time holds
    /// it, from before its first step until it ends. Others wait for it.
    pub(in crate::skill) concurrency: Field<Text>,
    /// Named results, rendered when the run completes.
    pub(in crate::skill) outputs: Field<Vec<Raw<OutputDoc>>>,
    /// Time limit for the whole run, waiting for people included.
    #[serde(alias = "globalTimeout")]
    pub(in crate::skill) timeout: Field<Period>,
    /// How long a clean-up path and `finally` may take together; `1m` if not given.
    pub(in crate::skill) cleanup: Field<Period>,
    /// `lenient` makes names that nobody defined empty instead of an error.
    pub(in crate::skill) undefined: Field<UndefinedWord>,
    /// What repairs errors that are known, before a step is tried again.
    pub(in crate::skill) heal: Field<Vec<Raw<HealDoc>>>,
    /// Values for templates: `{{ defaults.name }}`.
    pub(in crate::skill) defaults: Field<Map<String, Value>>,
    /// How many steps one run may take before it is stopped; 1000 if not given.
    #[schemars(range(min = 1))]
    pub(in crate::skill) step_limit: Field<u32>,
    /// Notes about the skill; Aye does not read them. Keys that begin with
    /// `x-` are notes too.
    pub(in crate::skill) metadata: Field<Map<String, Value>>,
    /// Who wrote the skill; Aye does not read it.
    pub(in crate::skill) author: Field<Value>,
    /// Pages about the skill; Aye does not read them.
    pub(in crate::skill) links: Field<Value>,
}

/// What a name that nobody defined means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`strict` or `lenient`")]
#[schemars(inline)]
pub(in crate::skill) enum UndefinedWord {
    /// An error.
    #[default]
    Strict,
    /// Nothing.
    Lenient,
}

/// Several skills in one file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a mapping with `workflows`")]
#[schemars(rename = "Skills", extend("required" = ["workflows"], "patternProperties" = { "^x-": true }))]
pub(in crate::skill) struct SkillsDoc {
    /// The skills by name.
    pub(in crate::skill) workflows: Field<Mapping<Raw<SkillDoc>>>,
    /// Notes about the file; Aye does not read them. Keys that begin with
    /// `x-` are notes too.
    pub(in crate::skill) metadata: Field<Map<String, Value>>,
    /// Who wrote the file; Aye does not read it.
    pub(in crate::skill) author: Field<Value>,
    /// Pages about the file; Aye does not read them.
    pub(in crate::skill) links: Field<Value>,
    /// The author's own version of the file; Aye does not read it.
    pub(in crate::skill) version: Field<Value>,
}
