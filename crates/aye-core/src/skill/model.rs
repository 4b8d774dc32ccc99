//! A checked skill: what is left once a document has been read and found valid.
//!
//! Everything here is typed so that a wrong state cannot be written down: a
//! step has exactly one [`Action`], a duration is a [`Duration`], a target is
//! a name with the place where it was written.
//!
//! Touches nothing. `check` makes it; `flow` and `machine` read it.

mod action;
mod ask;
mod input;
mod step;

use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value;

use crate::skill::HealRule;
use crate::span::{LineStarts, Span, Spanned};

pub use action::{Action, ForEach};
pub use ask::{Ask, AskKind, By, Choice, ChoiceAction};
pub use input::{InputSpec, InputType};
pub use step::{Guard, GuardCheck, OnError, Retry, RetryOn, Step, StepTimeout};

/// One skill, in either form.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// The name people run it by.
    pub name: Spanned<String>,
    /// The whole skill in the file.
    pub span: Span,
    /// Where the lines of the file begin.
    pub lines: LineStarts,
    /// What it does, for listings.
    pub description: Option<String>,
    /// The author's own version text.
    pub version: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What it asks for before it starts.
    pub inputs: Vec<InputSpec>,
    /// The input that says what a run acts against.
    pub environment: Option<String>,
    /// Steps in order, or states with transitions.
    pub body: Body,
    /// Steps that run however the others ended.
    pub finally: Vec<Step>,
    /// The name that one run at a time has.
    pub concurrency: Option<Template>,
    /// Named results, rendered when the run completes.
    pub outputs: Vec<OutputSpec>,
    /// Limit for the whole run.
    pub timeout: Option<Duration>,
    /// How long a clean-up path and `finally` may take together.
    pub cleanup: Duration,
    /// How many steps one run may take.
    pub step_limit: u32,
    /// Whether names that nobody defined are empty instead of an error; if
    /// the skill does not say, the project does.
    pub lenient: Option<bool>,
    /// `defaults` in templates.
    pub defaults: Value,
    /// What repairs errors that are known.
    pub heal: Vec<HealRule>,
}

/// The two ways to write a skill.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// `steps:`: one after the other.
    Steps(Vec<Step>),
    /// `states:`: a graph with transitions.
    States {
        /// The state a run begins with.
        initial: Spanned<String>,
        /// All states, in file order.
        states: Vec<State>,
    },
}

/// One state of a `states:` skill.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// What it does; a final state may do nothing ([`Action::Note`]).
    pub step: Step,
    /// Where it leads.
    pub transitions: Transitions,
    /// Set for `type: final`: how the run ends here.
    pub ends: Option<EndStatus>,
}

/// Where a state leads, by outcome. Absent means: see `flow::route`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transitions {
    /// Exit code 0.
    pub success: Option<Spanned<String>>,
    /// Any other end.
    pub failure: Option<Spanned<String>>,
    /// Our own time-out.
    pub timeout: Option<Spanned<String>>,
    /// A person said no.
    pub declined: Option<Spanned<String>>,
    /// The run was cancelled while the state ran.
    pub cancelled: Option<Spanned<String>>,
    /// Exact exit codes; they win over `success` and `failure`.
    pub codes: IndexMap<i32, Spanned<String>>,
    /// Answers to the state's question; they win over `success` and `declined`.
    pub answers: IndexMap<String, Spanned<String>>,
}

/// How a run ends at a final state.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    /// All went well.
    Completed,
    /// The run counts as failed.
    Failed,
    /// The run counts as cancelled.
    Cancelled,
    /// As the outcome that led there: what is meant where nothing is written.
    #[default]
    #[serde(skip)]
    ByOutcome,
}

/// One named result of a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSpec {
    /// Its name.
    pub name: Spanned<String>,
    /// Its value; every string inside is a template.
    pub value: Value,
    /// Where the value stands.
    pub span: Span,
}

/// Text that may hold `{{ … }}`, with the place where it was written.
pub type Template = Spanned<String>;
