//! What others are told of a question and of its run: enough to advise, little
//! enough to read, and nothing that is secret. Touches nothing.
//!
//! [`QuestionContext`] is built once from the question and the state of its run, and every text
//! and value in it has passed one [`Redactor`]: the state of a run has its secrets masked
//! already, and what has become a secret since is masked here, before anything is cut. Those who
//! tell it choose from it and cut:
//!
//! - **The advisor**, a program beside a terminal, gets one JSON document of a fixed size
//!   (`advisor::document`).
//! - **Assistants** get it from `usecases/question_facts`, with what the journal and memory know
//!   besides, as `mcp/asking_run` of `aye` tells it.

mod budget;
mod cut;
mod failure;
mod steps;

use aye_core::facts::{Change, Fact};
use aye_core::flow::{question_names, step_names};
use aye_core::journal::State;
use aye_core::question::{Purpose, Question};
use aye_core::secrets::Secrets;
use aye_core::skill::{AskKind, ChoiceAction, Step};
use aye_core::step_kind::StepKind;
use indexmap::IndexMap;
use serde_json::Value;

pub(crate) use budget::{Budget, size};
pub use cut::Redactor;
pub use failure::{StepFailure, failure};
pub use steps::{RecentStep, recent_steps};

/// As many characters as a value has at most.
pub const VALUE: usize = 200;
/// How many steps back it goes.
pub const STEPS: usize = 5;

/// What a context is built from.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The question.
    pub question: &'a Question,
    /// Its run, if it belongs to one.
    pub run: Option<&'a State>,
    /// The runs around that one, the nearest first.
    pub around: &'a [State],
    /// The step that asks, where the skill is at hand: of the results only those are told that
    /// the question names, or the step if it has failed. Without it all are.
    pub step: Option<&'a Step>,
    /// The secrets of the process that drives the run; a reader of the journal has none and
    /// needs none.
    pub secrets: Option<&'a Secrets>,
}

/// A question and what belongs to it. Every text is masked and harmless; values are short.
#[derive(Debug, Clone)]
pub struct QuestionContext {
    /// The skill.
    pub skill: Option<String>,
    /// What the run acts against.
    pub environment: Option<String>,
    /// The step that asks.
    pub step: String,
    /// Whether it asks for a yes, for a choice or for text.
    pub kind: AskKind,
    /// What the question stands for in the run.
    pub purpose: Purpose,
    /// Its heading, if the skill gives it one.
    pub title: Option<String>,
    /// The question.
    pub message: String,
    /// What is taken on Enter; nothing of a secret.
    pub default: Option<String>,
    /// What a yes starts.
    pub follows: Option<String>,
    /// What of it has changed since someone agreed, a line each.
    pub changed: Vec<String>,
    /// What else a yes covers, a line each.
    pub covers: Vec<String>,
    /// What it does not cover.
    pub not_covered: Vec<String>,
    /// What can be chosen.
    pub options: Vec<ContextOption>,
    /// The last steps, of the run and of those around it, the newest last.
    pub steps: Vec<RecentStep>,
    /// Why the step failed, where the question is about that.
    pub failure: Option<StepFailure>,
    /// What the run was given.
    pub inputs: IndexMap<String, Value>,
    /// The item of a list that the run is about.
    pub item: Option<Value>,
    /// What steps returned, by name.
    pub results: IndexMap<String, Value>,
    /// What the question uses that is not from the run, by name.
    pub outside: IndexMap<String, Value>,
    /// Names that a compute block which failed could use instead.
    pub names: Vec<String>,
}

/// An option of a question.
#[derive(Debug, Clone)]
pub struct ContextOption {
    /// What is given to choose it; nothing if there is a secret in it.
    pub value: Option<String>,
    /// What it is called.
    pub label: String,
    /// What is said about it.
    pub description: Option<String>,
    /// What choosing it means.
    pub action: ChoiceAction,
    /// Where it leads, as far as that is known.
    pub leads_to: Option<String>,
}

impl QuestionContext {
    /// Collects it.
    pub fn of(sources: Sources<'_>) -> Self {
        let Sources { question, run, around, secrets, .. } = sources;
        let redactor = Redactor::new(secrets);
        let text = |text: &String| redactor.whole(text);
        let lines =
            |lines: &mut dyn Iterator<Item = String>| lines.map(|line| text(&line)).collect();
        let recover = question.purpose == Purpose::Recover;
        let options = question.options.iter().map(|offer| ContextOption {
            value: (!redactor.hides(&offer.value)).then(|| offer.value.clone()),
            label: text(&offer.label),
            description: offer.description.as_ref().map(text),
            action: offer.action,
            leads_to: question.lead(&offer.value).map(|lead| text(&lead.to_string())),
        });
        let mut context = Self {
            skill: run.map(|run| text(&run.started.skill)),
            environment: run.and_then(|run| run.started.environment.as_ref()).map(text),
            step: text(&question.step),
            kind: question.kind,
            purpose: question.purpose,
            title: question.own_title().map(|title| redactor.whole(title)),
            message: text(&question.message),
            default: question.default.as_ref().filter(|_| !question.secret).map(text),
            follows: question.follows.as_ref().map(text),
            changed: lines(&mut question.changed.iter().map(Change::line)),
            covers: lines(&mut question.deciding().map(Fact::line)),
            not_covered: lines(&mut question.not_covered.iter().cloned()),
            options: options.collect(),
            steps: run.map(|run| recent_steps(run, around, &redactor)).unwrap_or_default(),
            failure: run.filter(|_| recover).map(|run| failure(run, &question.step, &redactor)),
            inputs: IndexMap::new(),
            item: None,
            results: IndexMap::new(),
            outside: IndexMap::new(),
            names: Vec::new(),
        };
        if let Some(run) = run {
            context.add_values(&sources, run, &redactor);
        }
        context
    }

    fn add_values(&mut self, sources: &Sources<'_>, run: &State, redactor: &Redactor<'_>) {
        let Sources { question, around, step, .. } = sources;
        let shown =
            |(name, value): (&String, &Value)| (redactor.whole(name), redactor.value(value, VALUE));
        // What no file holds was made by Aye: its message tells what its input is.
        if !run.started.file.is_empty() {
            self.inputs = run.started.inputs.iter().map(shown).collect();
        }
        let item = run.started.parent.as_ref().and_then(|parent| parent.item.as_ref());
        self.item = item.map(|item| redactor.value(&item.value, VALUE));
        let named = |name: &str| match (question.purpose, step) {
            (_, None) => true,
            (Purpose::Gate | Purpose::Ask, Some(step)) => {
                step.question().is_some_and(|ask| question_names(ask, name))
            }
            (Purpose::Recover, Some(step)) => step_names(step, name),
        };
        // The steps of a list see what the run around it has.
        let in_list =
            |run: &State| run.started.parent.as_ref().is_some_and(|one| one.item.is_some());
        let inside = [run].into_iter().chain(*around).zip(*around);
        let lists = inside.take_while(|(inner, _)| in_list(inner)).map(|(_, outer)| outer);
        for (name, value) in [run].into_iter().chain(lists).flat_map(|run| &*run.outputs) {
            if named(name) {
                let (name, value) = shown((name, value));
                // The nearest of a name is the one that is meant.
                self.results.entry(name).or_insert(value);
            }
        }
        self.outside = question.outside.iter().map(shown).collect();
        let kind = run.steps.get(&question.step).and_then(|record| record.kind.as_ref());
        if question.purpose == Purpose::Recover && kind == Some(&StepKind::Compute) {
            let others = run.outputs.keys().map(|name| redactor.whole(name));
            let is_told =
                |name: &String| self.results.contains_key(name) || self.outside.contains_key(name);
            self.names = others.filter(|name| !is_told(name)).collect();
        }
    }
}
