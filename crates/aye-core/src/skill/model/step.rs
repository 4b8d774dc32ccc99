//! A step: what it runs, when, with what, and what a failure means.

use std::time::Duration;

use indexmap::IndexMap;

use crate::kept_output::KeptOutput;
use crate::span::{Span, Spanned};

use super::{Action, Ask, Template};

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Unique within the skill.
    pub name: Spanned<String>,
    /// For people.
    pub description: Option<String>,
    /// The whole step in the file.
    pub span: Span,
    /// What it does.
    pub action: Action,
    /// Run only if this is true.
    pub condition: Option<Template>,
    /// The name of its result in later templates; the step's name if absent.
    pub output: Option<Spanned<String>>,
    /// Time limit of the action itself.
    pub timeout: StepTimeout,
    /// What a failure means. If nothing is said, someone is asked where
    /// someone is there; otherwise the run fails.
    pub on_error: Option<OnError>,
    /// The answer to a failure may be remembered, and these inputs may be
    /// different then.
    pub remember_recovery: Option<Vec<String>>,
    /// Environment overlay; `None` removes a variable.
    pub env: IndexMap<String, Option<Template>>,
    /// Working directory.
    pub cwd: Option<Template>,
    /// Text for standard input; none means empty.
    pub stdin: Option<Template>,
    /// The step gets the real terminal.
    pub interactive: bool,
    /// Output through a pseudo-terminal, so that programs keep their colours.
    pub tty: bool,
    /// What is kept of its output.
    pub kept: KeptOutput,
    /// The most memory one of its processes may use, in bytes.
    pub max_memory: Option<u64>,
    /// The most processor time one of its processes may use.
    pub max_cpu: Option<Duration>,
    /// May be run again when its outcome is unknown.
    pub idempotent: bool,
    /// Cannot be undone: never remembered, always asked about.
    pub destructive: bool,
    /// An assistant may change what it is given unseen.
    pub assistant_may_edit: bool,
    /// Asked before the action.
    pub confirmation: Option<Ask>,
    /// Tried again by itself when it fails.
    pub retry: Option<Retry>,
    /// What has to hold once it has ended; otherwise the run stops.
    pub guards: Vec<Guard>,
    /// Steps that follow only if this one was not left out.
    pub then: Vec<Step>,
}

impl Step {
    /// What it asks: as its action, or before it.
    pub fn question(&self) -> Option<&Ask> {
        self.action.ask().or(self.confirmation.as_ref())
    }

    /// A step with an action and nothing else.
    pub fn bare(name: Spanned<String>, span: Span, action: Action) -> Self {
        Self {
            name,
            description: None,
            span,
            action,
            condition: None,
            output: None,
            timeout: StepTimeout::Default,
            on_error: None,
            remember_recovery: None,
            env: IndexMap::new(),
            cwd: None,
            stdin: None,
            interactive: false,
            tty: false,
            kept: KeptOutput::default(),
            max_memory: None,
            max_cpu: None,
            idempotent: false,
            destructive: false,
            assistant_may_edit: false,
            confirmation: None,
            retry: None,
            guards: Vec::new(),
            then: Vec::new(),
        }
    }

    /// Whether it, a step inside it or one that belongs to it destroys something. What a
    /// skill that it runs does is not seen here.
    pub fn destroys(&self) -> bool {
        self.destructive || self.inside().any(Self::destroys)
    }

    /// Whether a step inside it, or one that belongs to it, runs a skill.
    pub fn holds_a_skill(&self) -> bool {
        let runs = |step: &Self| matches!(step.action, Action::Skill { .. });
        self.inside().any(|step| runs(step) || step.holds_a_skill())
    }

    /// Whether a step inside it, or one that belongs to it, calls a tool.
    pub fn holds_a_tool(&self) -> bool {
        self.inside().any(|step| step.action.tool().is_some() || step.holds_a_tool())
    }

    fn inside(&self) -> impl Iterator<Item = &Self> {
        self.action.body().iter().chain(&self.then)
    }
}

/// How a step is tried again by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// How often it is tried in all.
    pub attempts: u32,
    /// How long to wait before the second attempt.
    pub backoff: Duration,
    /// How much longer before each further one.
    pub factor: f64,
    /// The longest wait.
    pub max: Duration,
    /// Whether waits are shortened by chance, so that many runs do not all
    /// try again in the same moment.
    pub jitter: bool,
    /// After which ends.
    pub on: RetryOn,
}

/// After which ends a step is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryOn {
    /// When it failed.
    pub failure: bool,
    /// When it timed out.
    pub timeout: bool,
    /// When it ended with one of these exit codes.
    pub codes: Vec<i32>,
}

/// What has to hold once a step has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    /// What is looked at.
    pub check: GuardCheck,
    /// Said when it does not hold.
    pub message: Option<Template>,
}

/// What a guard looks at.
#[derive(Debug, Clone, PartialEq)]
pub enum GuardCheck {
    /// The step has to succeed, whatever `on_error` says.
    Success,
    /// This has to be true.
    Condition(Template),
    /// This command has to succeed.
    Command {
        /// The program.
        program: Template,
        /// Its arguments.
        args: Vec<Template>,
        /// Its working directory.
        cwd: Option<Template>,
    },
}

/// The time limit of a step or a question as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepTimeout {
    /// Nothing written: the configured default.
    #[default]
    Default,
    /// `0`: no limit.
    Unlimited,
    /// A duration.
    After(Duration),
}

/// What to do when a step fails.
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
pub enum OnError {
    /// Take the failure path, or stop the run.
    #[default]
    Fail,
    /// Continue as if it had succeeded; its result is unset.
    Continue,
    /// Ask someone: retry, it was done, skip, abort.
    Ask,
    /// Repair what is known to be wrong and try once more; then fail.
    AutoHeal,
}
