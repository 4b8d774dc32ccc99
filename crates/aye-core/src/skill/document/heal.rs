//! Heal rules.

use schemars::JsonSchema;
use serde::Deserialize;

use super::StepItem;
use crate::heal::Category;
use crate::skill::duration::Period;
use crate::yaml::decode::{Either, Field, Raw, Text};

/// A known error, what repairs it, and how often the step is tried again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a heal rule: a mapping")]
#[schemars(rename = "Heal")]
pub(in crate::skill) struct HealDoc {
    /// What people call it.
    pub(in crate::skill) name: Field<String>,
    /// Which failures it is for: everything that is given has to fit.
    #[serde(rename = "match")]
    pub(in crate::skill) when: Field<Raw<HealMatchDoc>>,
    /// A step without a name: a command, a script, a tool, a skill, …
    /// `{{ error }}` and `{{ failed }}` say what went wrong where.
    pub(in crate::skill) repair: Field<Raw<StepItem>>,
    /// How often a step is repaired and tried again; 1 if not given.
    #[schemars(range(min = 1, max = 10))]
    pub(in crate::skill) retries: Field<u32>,
    /// How long to wait before the step is tried again; not at all if not given.
    pub(in crate::skill) backoff: Field<Period>,
}

/// Which failures a rule is for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "what to look for: a mapping")]
#[schemars(rename = "HealMatch")]
pub(in crate::skill) struct HealMatchDoc {
    /// A tool; `*` stands for anything.
    pub(in crate::skill) tool: Field<String>,
    /// A program, by its name.
    pub(in crate::skill) command: Field<String>,
    /// A step, by its name; `*` stands for anything.
    pub(in crate::skill) step: Field<String>,
    /// Words of the error, or a list of which one has to be there. Words are
    /// whole: `403` is not in `1403`.
    pub(in crate::skill) error: Field<Either<Text, Vec<Field<Text>>>>,
    /// Exit codes.
    pub(in crate::skill) exit_code: Field<Either<i32, Vec<Field<i32>>>>,
    /// A kind of error that is known without rules.
    pub(in crate::skill) category: Field<Category>,
}
