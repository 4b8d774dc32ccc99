//! Questions as they are asked: what a prompter shows. `answer` has the answers as
//! they are given, `answer_scope` how far one is remembered, `agreement` who has agreed,
//! `reader` what of the facts goes without saying.
//!
//! Touches nothing. The machine poses them, prompters show them, and answers come back as
//! requests.

use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

mod agreement;
mod answer;
mod answer_scope;
mod reader;

pub use agreement::{Agreement, Objection};
pub use answer::{Answer, Channel, Edits, FixScope, Namespaces, Origin, Proof};
pub use answer_scope::AnswerScope;
pub use reader::Reader;

use crate::facts::{Change, Fact, FactKind};
use crate::id::QuestionId;
use crate::skill::{AskKind, By, ChoiceAction, EndStatus};
use crate::word_enum;

word_enum! {
    /// What a question stands for in the run.
    #[derive(JsonSchema)]
    pub enum Purpose {
        /// May this step run?
        Gate = "gate",
        /// The step is the question; the answer is its result.
        Ask = "ask",
        /// The step failed or its outcome is unknown: what now?
        Recover = "recover",
    }
}

/// A question with everything rendered: what a prompter shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Its name, for `aye answer`; `id` in journals of older versions.
    #[serde(rename = "question", alias = "id")]
    pub id: QuestionId,
    /// Whether it asks for a yes, for a choice or for text.
    pub kind: AskKind,
    /// Whether it stands before a step, is a step itself, or is about a failed step.
    pub purpose: Purpose,
    /// The step it belongs to.
    pub step: String,
    /// Heading.
    pub title: String,
    /// The question.
    pub message: String,
    /// What can be chosen; for `input`, instead of a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Offer>,
    /// The answer on Enter and when the time is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// When it expires; absent if it has no time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// `input`: what the text must match.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// `input`: not echoed, not kept.
    #[serde(default, skip_serializing_if = "is_false")]
    pub secret: bool,
    /// Who may answer.
    #[serde(default, skip_serializing_if = "is_anyone")]
    pub by: By,
    /// How many different people must agree.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub approvals: u32,
    /// The person who started the run does not count.
    #[serde(default, skip_serializing_if = "is_false")]
    pub not_starter: bool,
    /// A one-time code is needed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reauth: bool,
    /// Text that must be typed to agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// Whether `--yes` may answer.
    pub overridable: bool,
    /// Whether the answer may be remembered.
    #[serde(default, skip_serializing_if = "is_false")]
    pub remember: bool,
    /// Answers of which that is not true: they lead to something that is not shown and that the
    /// answer is not bound to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_remembered: Vec<String>,
    /// Whether an assistant is asked for advice.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ai_assist: bool,
    /// Options that a person has to choose, at a prompt or in a form that was
    /// shown: for these an assistant's word does not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub person_only: Vec<String>,
    /// A yes may lead to something that cannot be undone, without another
    /// question; absent in questions of older versions.
    #[serde(default, skip_serializing_if = "is_false")]
    pub destructive: bool,
    /// The resolved command that a yes will start, secrets masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
    /// Where each answer leads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads: Vec<Lead>,
    /// Everything that decides what a yes leads to; an answer counts for these.
    /// Absent in questions of older versions, and where nothing follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Vec<Fact>>,
    /// What has changed since the last yes: why it is asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Change>,
    /// What a yes does not cover, one sentence for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
    /// The values of names from outside of the run, such as `env`. The step runs with
    /// these values.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub outside: IndexMap<String, Value>,
    /// The inputs that may differ when a remembered answer is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// What a remembered answer is bound to: the same, without the values of
    /// those inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<String>,
    /// Digest of what is asked and of what follows; an answer is bound to it.
    pub digest: String,
}

impl Question {
    /// A question of a step to anyone, without options, limits or conditions. A
    /// yes in advance does not answer it. The caller says what else it has.
    pub fn new(id: QuestionId, kind: AskKind, message: impl Into<String>) -> Self {
        Self {
            id,
            kind,
            purpose: Purpose::Ask,
            step: String::new(),
            title: String::new(),
            message: message.into(),
            options: Vec::new(),
            default: None,
            deadline: None,
            pattern: None,
            secret: false,
            by: By::Anyone,
            approvals: 1,
            not_starter: false,
            reauth: false,
            typed: None,
            overridable: false,
            remember: false,
            not_remembered: Vec::new(),
            ai_assist: false,
            person_only: Vec::new(),
            destructive: false,
            follows: None,
            leads: Vec::new(),
            facts: None,
            changed: Vec::new(),
            not_covered: Vec::new(),
            outside: IndexMap::new(),
            any: Vec::new(),
            recall: None,
            digest: String::new(),
        }
    }

    /// What `--yes` answers: the default if that continues; else, for a
    /// confirmation, the first option that does. A choice or a text without
    /// a default has no yes.
    pub fn yes_value(&self) -> Option<String> {
        let goes_on = |value: &&str| self.action(&(*value).into()) == ChoiceAction::Proceed;
        let options = self.options.iter().map(|offer| offer.value.as_str());
        let options = options.filter(|_| self.kind == AskKind::Confirm);
        self.default.as_deref().into_iter().chain(options).find(goes_on).map(str::to_owned)
    }

    /// Whether `--yes` would answer it.
    pub fn takes_yes(&self) -> bool {
        self.overridable && !self.is_guarded() && self.yes_value().is_some()
    }

    /// Its title, unless that only says what kind of question it is.
    pub fn own_title(&self) -> Option<&str> {
        let title = self.title.as_str();
        (!title.is_empty() && title != self.kind.usual_title()).then_some(title)
    }

    /// Why `--yes` would not answer it; nothing if it would.
    pub fn why_no_yes(&self) -> Option<&'static str> {
        Some(match self {
            _ if self.purpose == Purpose::Recover => "a failed step needs a decision",
            _ if self.typed.is_some() => "a text has to be typed",
            _ if self.reauth => "a one-time code is needed",
            _ if self.approvals > 1 => "several people have to agree",
            _ if self.not_starter => "another person must agree",
            _ if self.by != By::Anyone => "a person has to answer",
            _ if !self.overridable => "the skill does not allow it",
            _ if self.yes_value().is_none() => "there is no default to take",
            _ => return None,
        })
    }

    /// Whether not just anyone may say yes.
    pub fn is_guarded(&self) -> bool {
        self.by != By::Anyone
            || self.approvals > 1
            || self.not_starter
            || self.reauth
            || self.typed.is_some()
    }

    /// Whether it holds everything that decides, with nothing left out because it is too
    /// long.
    pub fn is_whole(&self) -> bool {
        self.facts.iter().flatten().all(Fact::is_whole)
    }

    /// What decides beside the command that `follows` has already.
    pub fn deciding(&self) -> impl Iterator<Item = &Fact> {
        let told = |fact: &&Fact| {
            fact.kind == FactKind::Command
                && fact.answer.is_none()
                && self.follows.as_ref() == Some(&fact.value)
        };
        self.facts.iter().flatten().filter(move |fact| !told(fact))
    }

    /// Where this answer leads, as far as that is known.
    pub fn lead(&self, value: &str) -> Option<&Lead> {
        self.leads.iter().find(|lead| lead.answer == value)
    }

    /// What declining starts, where it does not simply end the run or leave the
    /// step out: Enter must not do that by the way.
    pub fn decline_starts(&self) -> Option<&str> {
        self.starts(&self.decline()?.value)
    }

    /// The state that follows this answer, where the run does not end there.
    pub fn starts(&self, value: &str) -> Option<&str> {
        let lead = self.lead(value)?;
        lead.to.as_deref().filter(|_| lead.ends.is_none())
    }

    /// What this value means for the run. Text typed into an `input` continues;
    /// a value that was never offered is not consent.
    pub fn action(&self, value: &Value) -> ChoiceAction {
        let offer = value.as_str().and_then(|value| self.offer(value));
        match self.kind {
            AskKind::Input => offer.map_or(ChoiceAction::Proceed, |offer| offer.action),
            AskKind::Confirm | AskKind::Choose | AskKind::Recover => {
                offer.map_or(ChoiceAction::Cancel, |offer| offer.action)
            }
        }
    }

    /// Whether this value takes all that a yes takes. To leave out a step that
    /// failed lets what follows run, so it does.
    pub fn commits(&self, value: &Value) -> bool {
        match self.action(value) {
            ChoiceAction::Proceed => true,
            ChoiceAction::Skip => self.purpose == Purpose::Recover,
            ChoiceAction::Cancel => false,
        }
    }

    /// Whether this value lets the run continue, with the step or without it:
    /// silence takes it only where someone could see the question.
    pub fn continues(&self, value: &Value) -> bool {
        match self.action(value) {
            ChoiceAction::Proceed | ChoiceAction::Skip => true,
            ChoiceAction::Cancel => false,
        }
    }

    /// Whether the default lets the run continue.
    pub fn default_proceeds(&self) -> bool {
        self.default.as_ref().is_some_and(|default| self.continues(&default.as_str().into()))
    }

    /// Where yes and no are, if the question is a plain yes or no.
    pub fn yes_and_no(&self) -> Option<(usize, usize)> {
        if self.kind != AskKind::Confirm || self.options.len() != 2 {
            return None;
        }
        let find = |value: &str, action| {
            let found = |offer: &Offer| {
                offer.value == value && offer.action == action && offer.description.is_none()
            };
            self.options.iter().position(found)
        };
        Some((find("proceed", ChoiceAction::Proceed)?, find("cancel", ChoiceAction::Cancel)?))
    }

    /// Whether an assistant may relay this value, if it may relay any.
    pub fn is_relayable(&self, value: &str) -> bool {
        !self.person_only.iter().any(|only| only == value)
    }

    /// Whether a button of a notification may give this answer: it stands beside a few
    /// words, on a locked screen too, and nobody has to look at the question first. It
    /// declines where that ends the run or leaves the step out and the question is not for
    /// people with names, and agrees where a relayed word would do and nothing may follow
    /// that cannot be undone.
    pub fn takes_button(&self, value: &str) -> bool {
        if self.offer(value).is_none() || !self.is_relayable(value) {
            return false;
        }
        let changes = self.kind == AskKind::Recover && matches!(value, "edit" | "fix");
        match self.commits(&value.into()) {
            true => !self.is_guarded() && !self.destructive && !changes,
            false => self.starts(value).is_none() && !matches!(self.by, By::Names(_)),
        }
    }

    /// The option that declines, if there is one.
    pub fn decline(&self) -> Option<&Offer> {
        self.options.iter().find(|offer| offer.action == ChoiceAction::Cancel)
    }

    /// The offered option with this value.
    pub fn offer(&self, value: &str) -> Option<&Offer> {
        self.options.iter().find(|offer| offer.value == value)
    }
}

/// What a [`Lead`] says instead of an answer where silence leads elsewhere than a no.
pub const SILENCE: &str = "no answer";

impl Question {
    /// The answers that do not proceed and do not end the run either: what they lead to is
    /// neither shown nor bound.
    pub(crate) fn unbound_answers(&self) -> Vec<String> {
        let ends = |value: &str| {
            let lead = self.leads.iter().find(|lead| lead.answer == value);
            lead.is_none_or(|lead| lead.ends.is_some())
        };
        let others = self.options.iter().filter(|offer| offer.action != ChoiceAction::Proceed);
        let unbound = others.filter(|offer| !ends(&offer.value));
        unbound.map(|offer| offer.value.clone()).collect()
    }
}

/// Where an answer leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lead {
    /// The value of the option.
    pub answer: String,
    /// The step that a yes runs, the state that follows, or the one in which the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// How the run ends, where it ends at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<EndStatus>,
    /// The same in words, for every place that shows it; empty in questions of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

impl Lead {
    /// Where a no leads: to a state, or to the end of the run.
    pub fn new(to: Option<String>, ends: Option<EndStatus>) -> Self {
        let lead = Self { to, ends, ..Self::said(String::new()) };
        Self { words: lead.to_string(), ..lead }
    }

    /// A no to the question of an item of a list leaves that item out.
    pub fn left_out() -> Self {
        let said = Self::said("the item is left out".to_owned());
        Self { ends: Some(EndStatus::Cancelled), ..said }
    }

    /// What follows is the next of a list of steps, or of the run around: which of them runs,
    /// their conditions say later.
    pub fn continues() -> Self {
        Self::said("the run continues".to_owned())
    }

    /// Where a no leads, in words alone.
    pub fn said(words: String) -> Self {
        Self { answer: "no".to_owned(), to: None, ends: None, words }
    }
}

impl std::fmt::Display for Lead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.words.is_empty() {
            return f.write_str(&self.words);
        }
        let how = self.ends.map(|ends| match ends {
            EndStatus::Failed => "failed",
            EndStatus::Cancelled => "cancelled",
            EndStatus::Completed | EndStatus::ByOutcome => "completed",
        });
        match (&self.to, how) {
            (Some(to), Some(how)) => write!(f, "{to} ({how})"),
            (Some(to), None) => f.write_str(to),
            (None, how) => write!(f, "the run ends ({})", how.unwrap_or("completed")),
        }
    }
}

/// One option as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// Stored as the answer.
    pub value: String,
    /// Shown.
    pub label: String,
    /// Shown beneath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What choosing it means.
    pub action: ChoiceAction,
}

impl Offer {
    /// One without a description.
    pub fn new(value: impl Into<String>, label: impl Into<String>, action: ChoiceAction) -> Self {
        Self { value: value.into(), label: label.into(), description: None, action }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_anyone(by: &By) -> bool {
    *by == By::Anyone
}

fn one() -> u32 {
    1
}

fn is_one(value: &u32) -> bool {
    *value == 1
}
