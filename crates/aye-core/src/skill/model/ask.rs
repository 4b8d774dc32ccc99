//! Questions as they are written in a skill.

use crate::span::{Span, Spanned};
use crate::word_enum;

use super::{StepTimeout, Template};

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
    /// A question and nothing else: without options, for ever, answered by anyone, and not by
    /// `--yes`.
    pub fn new(kind: AskKind, message: Template) -> Self {
        Self {
            kind,
            title: None,
            message,
            details: None,
            options: Vec::new(),
            default: None,
            timeout: StepTimeout::Unlimited,
            pattern: None,
            secret: false,
            by: By::Anyone,
            approvals: 1,
            not_starter: false,
            reauth: false,
            typed: None,
            overridable: false,
            remember: false,
            any: Vec::new(),
            ai_assist: false,
        }
    }

    /// Whether not just anyone may say yes.
    pub fn is_guarded(&self) -> bool {
        self.by != By::Anyone
            || self.approvals > 1
            || self.not_starter
            || self.reauth
            || self.typed.is_some()
    }
}

word_enum! {
    /// The kinds of question a skill can ask.
    #[derive(schemars::JsonSchema)]
    pub enum AskKind {
        /// Yes or no, or options with actions.
        Confirm = "confirm",
        /// One of a list.
        Choose = "choose",
        /// Text.
        Input = "input",
        /// What to do about a step that failed or whose outcome is unknown.
        Recover = "recover",
    }
}

impl AskKind {
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

impl Choice {
    /// The options of a confirmation that gives none.
    pub(crate) fn proceed_or_cancel(span: Span) -> Vec<Self> {
        let choice = |label: &str, value: &str, action| Self {
            label: Spanned::new(label.to_owned(), span),
            value: value.to_owned(),
            description: None,
            action,
        };
        vec![
            choice("Proceed", "proceed", ChoiceAction::Proceed),
            choice("Cancel", "cancel", ChoiceAction::Cancel),
        ]
    }
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
