//! A checked skill: what is left once a document has been read and found sound.
//!
//! Everything here is typed so that a wrong state cannot be written down: a
//! step has exactly one [`Action`], a duration is a [`Duration`], a target is
//! a name with the place where it was written.

use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value;

use crate::kept_output::KeptOutput;
use crate::skill::{HealRule, SecretSource};
use crate::step_kind::StepKind;

use crate::span::{LineStarts, Span, Spanned};

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
    pub(crate) fn bare(name: Spanned<String>, span: Span, action: Action) -> Self {
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

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A program with arguments; no shell.
    Command {
        /// The program: a name on `PATH` or a path.
        program: Template,
        /// Its arguments, one each.
        args: Vec<Template>,
    },
    /// Text for `sh -c`, because the author said so.
    Shell {
        /// The script.
        script: Template,
    },
    /// A question whose answer is the step's result.
    Ask(Box<Ask>),
    /// A tool of a server or of the project.
    Tool {
        /// `server.tool` or a name.
        tool: Spanned<String>,
        /// Its arguments; every string inside is a template.
        args: Value,
        /// Where they stand.
        span: Span,
    },
    /// A small sandboxed program over the run's names.
    Compute {
        /// The code; never a template.
        code: Template,
        /// Run by the real interpreter instead.
        python: bool,
        /// May read files of the workspace.
        reads_files: bool,
    },
    /// Another skill.
    Skill {
        /// Its name or path.
        skill: Template,
        /// Its inputs; every string inside is a template.
        inputs: IndexMap<String, Value>,
        /// Where they stand.
        span: Span,
    },
    /// The same steps for each item of a list.
    ForEach(Box<ForEach>),
    /// Ends the run well, with this text as its result.
    Return {
        /// The text.
        text: Template,
    },
    /// Only a description: a note for the person.
    Note,
}

impl Step {
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

    fn inside(&self) -> impl Iterator<Item = &Self> {
        self.action.body().iter().chain(&self.then)
    }
}

/// Steps for each item of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ForEach {
    /// The list: one expression, or the items themselves.
    pub items: Value,
    /// Where it stands.
    pub span: Span,
    /// What an item is called in templates.
    pub name: String,
    /// What an item is called in reports; its value if not given.
    pub label: Option<Template>,
    /// How many at once.
    pub parallel: u32,
    /// Whether the first that fails keeps the rest from starting.
    pub fail_fast: bool,
    /// What is done for each.
    pub body: Vec<Step>,
}

impl Action {
    /// What it does.
    pub fn kind(&self) -> StepKind {
        match self {
            Self::Command { .. } => StepKind::Command,
            Self::Shell { .. } => StepKind::Shell,
            Self::Ask(ask) => match ask.kind {
                AskKind::Confirm => StepKind::Confirm,
                AskKind::Choose => StepKind::Choose,
                AskKind::Input => StepKind::Input,
                AskKind::Recover => StepKind::Recover,
            },
            Self::Tool { .. } => StepKind::Tool,
            Self::Compute { .. } => StepKind::Compute,
            Self::Skill { .. } => StepKind::Skill,
            Self::ForEach(_) => StepKind::ForEach,
            Self::Return { .. } => StepKind::Return,
            Self::Note => StepKind::Note,
        }
    }

    /// The question that it is.
    pub fn ask(&self) -> Option<&Ask> {
        match self {
            Self::Ask(ask) => Some(ask),
            Self::Command { .. }
            | Self::Shell { .. }
            | Self::Tool { .. }
            | Self::Compute { .. }
            | Self::Skill { .. }
            | Self::ForEach(_)
            | Self::Return { .. }
            | Self::Note => None,
        }
    }

    /// The steps that it holds.
    pub fn body(&self) -> &[Step] {
        match self {
            Self::ForEach(each) => &each.body,
            Self::Command { .. }
            | Self::Shell { .. }
            | Self::Ask(_)
            | Self::Tool { .. }
            | Self::Compute { .. }
            | Self::Skill { .. }
            | Self::Return { .. }
            | Self::Note => &[],
        }
    }

    /// The tool that it calls.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Tool { tool, .. } => Some(tool.as_str()),
            Self::Command { .. }
            | Self::Shell { .. }
            | Self::Ask(_)
            | Self::Compute { .. }
            | Self::Skill { .. }
            | Self::ForEach(_)
            | Self::Return { .. }
            | Self::Note => None,
        }
    }

    /// Whether it does something, rather than ask or say something.
    pub fn acts(&self) -> bool {
        !matches!(self, Self::Ask(_) | Self::Return { .. } | Self::Note)
    }

    /// Whether it consists of runs of its own.
    pub fn is_nested(&self) -> bool {
        matches!(self, Self::Skill { .. } | Self::ForEach(_))
    }
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

/// A question as written in a skill: `confirm`, `choose`, `input`, or the
/// `confirmation` of any step.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Which kind.
    pub kind: AskKind,
    /// Heading.
    pub title: Option<Template>,
    /// The question itself.
    pub message: Template,
    /// What it is about, shown below it, however long: a diff, a plan.
    pub details: Option<Template>,
    /// What can be chosen; empty for `input`. Always filled for the others.
    pub options: Vec<Choice>,
    /// Taken on Enter and, if declared, on expiry. For options: the value.
    pub default: Option<Template>,
    /// How long to wait.
    pub timeout: StepTimeout,
    /// `input` only: what the text must match.
    pub pattern: Option<Spanned<String>>,
    /// `input` only: not echoed, not kept.
    pub secret: bool,
    /// Who may answer.
    pub by: By,
    /// How many different people must agree.
    pub approvals: u32,
    /// The person who started the run does not count.
    pub not_starter: bool,
    /// A one-time code is needed.
    pub reauth: bool,
    /// Text that must be typed to agree.
    pub typed: Option<Template>,
    /// Whether `--yes` may answer.
    pub overridable: bool,
    /// Whether the answer may be remembered.
    pub remember: bool,
    /// The inputs that may be different where it is.
    pub any: Vec<String>,
    /// Whether an assistant is asked for advice.
    pub ai_assist: bool,
}

impl Ask {
    /// Whether not just anyone may say yes.
    pub fn is_guarded(&self) -> bool {
        self.by != By::Anyone
            || self.approvals > 1
            || self.not_starter
            || self.reauth
            || self.typed.is_some()
    }
}

/// The kinds of question a skill can ask.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// Yes or no, or options with actions.
    Confirm,
    /// One of a list.
    Choose,
    /// Text.
    Input,
    /// What to do about a step that failed or whose outcome is unknown.
    Recover,
}

impl AskKind {
    /// The word used in files, events and listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::Choose => "choose",
            Self::Input => "input",
            Self::Recover => "recover",
        }
    }

    /// The title of a question that its author has given none.
    pub fn usual_title(self) -> &'static str {
        match self {
            Self::Confirm => "Confirmation required",
            Self::Choose => "Choice required",
            Self::Input => "Input required",
            Self::Recover => "Decision required",
        }
    }
}

/// One option as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Shown.
    pub label: Template,
    /// Stored as the answer.
    pub value: String,
    /// Shown beneath.
    pub description: Option<Template>,
    /// What choosing it means.
    pub action: ChoiceAction,
}

/// What choosing an option means for the run.
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
pub enum ChoiceAction {
    /// Continue.
    #[default]
    Proceed,
    /// Decline.
    Cancel,
    /// Leave this step out and continue.
    Skip,
}

/// Who may answer a question.
#[derive(
    Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Anyone, including an assistant that relays an answer.
    #[default]
    Anyone,
    /// A person, through a channel an assistant does not hold.
    Human,
    /// One of these people.
    Names(Vec<String>),
}

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
