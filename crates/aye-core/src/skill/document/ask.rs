//! Questions.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::skill::ChoiceAction;
use crate::skill::duration::Period;
use crate::yaml::decode::{Either, Field, Raw, Text};

/// A question: `confirm`, `choose`, `input`, or the `confirmation` of a step.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a question: its message, or a mapping with a `message`"
)]
#[schemars(rename = "Question")]
pub(in crate::skill) struct AskDoc {
    /// A heading.
    pub(in crate::skill) title: Field<String>,
    /// The question itself, a template. Shown in full.
    pub(in crate::skill) message: Field<String>,
    /// What it is about, a template, shown below the message in full: a diff, a
    /// plan. It may be of any length.
    pub(in crate::skill) details: Field<Text>,
    /// What can be chosen. A `confirm` without options has Proceed and Cancel.
    pub(in crate::skill) options: Field<Vec<Raw<Either<Text, OptionDoc>>>>,
    /// Taken on Enter and when the time is up: the value of an option (`yes`
    /// and `no` also work for Proceed and Cancel), or the text of an `input`.
    pub(in crate::skill) default: Field<Text>,
    /// The older way to say `default: yes` or `default: no`.
    #[serde(rename = "defaultAccept")]
    pub(in crate::skill) default_accept: Field<bool>,
    /// How long to wait, from `1s` to `7d`; `0` waits for ever. Without it a
    /// `confirmation` waits 30 seconds, other questions 5 minutes.
    pub(in crate::skill) timeout: Field<Period>,
    /// `input` only: a regular expression the text must match.
    #[serde(rename = "match")]
    pub(in crate::skill) pattern: Field<String>,
    /// `input` only: not shown while it is typed, and not kept.
    pub(in crate::skill) secret: Field<bool>,
    /// Who may answer: `anyone`, `human` (no assistant), or a list of names.
    pub(in crate::skill) by: Field<Either<ByWord, Vec<Field<Text>>>>,
    /// How many different people must agree: a number, or `{ count: 2, not_starter: true }`.
    pub(in crate::skill) approvals: Field<Either<u32, ApprovalsDoc>>,
    /// Whether a one-time code is needed.
    pub(in crate::skill) reauth: Field<bool>,
    /// Text that must be typed to agree, such as the skill's name.
    #[serde(rename = "type_to_confirm", alias = "type")]
    pub(in crate::skill) typed: Field<Text>,
    /// Whether `--yes` may answer: `allow` or `never`.
    #[serde(rename = "override")]
    pub(in crate::skill) overriding: Field<OverrideWord>,
    /// Whether the answer may be remembered. `any` names the inputs that may
    /// be different the next time: `remember: { any: [inputs.commit] }`.
    #[serde(alias = "learn_preference")]
    pub(in crate::skill) remember: Field<Either<bool, RememberDoc>>,
    /// Whether an assistant is asked for advice.
    pub(in crate::skill) ai_assist: Field<bool>,
}

/// How many people must agree, and who of them does not count.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a number, or a mapping with `count`")]
#[schemars(rename = "Approvals")]
pub(in crate::skill) struct ApprovalsDoc {
    /// How many different people must agree; 1 if not given.
    #[schemars(range(min = 1))]
    pub(in crate::skill) count: Field<u32>,
    /// The person who started the run does not count.
    pub(in crate::skill) not_starter: Field<bool>,
}

/// What may vary where an answer is remembered.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "`true`, or a mapping with `any`")]
#[schemars(rename = "Remember")]
pub(in crate::skill) struct RememberDoc {
    /// Inputs whose value may be another the next time: `inputs.commit`.
    pub(in crate::skill) any: Field<Vec<Field<Text>>>,
}

/// One option of a question.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "an option: text, or a mapping with `label` and `value`"
)]
#[schemars(rename = "Option")]
pub(in crate::skill) struct OptionDoc {
    /// What is shown; the value if not given.
    pub(in crate::skill) label: Field<Text>,
    /// What is stored as the answer; the label if not given.
    pub(in crate::skill) value: Field<Text>,
    /// Shown beneath.
    pub(in crate::skill) description: Field<String>,
    /// What choosing it means; `proceed` if not given, and in a `confirm`
    /// `cancel` for the values `cancel`, `no` and `abort`.
    pub(in crate::skill) action: Field<ChoiceAction>,
}

/// Who may answer, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`anyone`, `human` or a list of names")]
#[schemars(inline)]
pub(in crate::skill) enum ByWord {
    /// Anyone, including an assistant that relays an answer.
    Anyone,
    /// A person, through a channel an assistant does not hold.
    Human,
}

/// Whether `--yes` may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`allow` or `never`")]
#[schemars(inline)]
pub(in crate::skill) enum OverrideWord {
    /// It may.
    Allow,
    /// Someone has to answer.
    Never,
}
