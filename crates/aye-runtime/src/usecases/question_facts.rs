//! What an assistant is told of a run beside the question: everything it needs
//! to talk it over with the person, and nothing else.
//!
//! Which variables: the run's inputs, and the results of earlier steps that
//! the question names in its own text. For a step that failed, those that the
//! step itself uses. Of the last steps, the beginning of what each returned.

use std::path::PathBuf;

use aye_core::journal::State;
use aye_core::machine::MOST_EDITS;
use aye_core::question::Purpose;
use aye_core::skill::Action;
use aye_core::step_kind::StepKind;
use serde_json::{Map, Value, json};

use crate::driver::{sentence, tool_of};
use crate::error::Error;
use crate::memory::{Query, SHOWN};
use crate::question_context::{Redactor, VALUE, failure, recent_steps};
use crate::runtime::Runtime;
use crate::skills::SkillFile;

use super::journal_reader::JournalReader;
use super::run_views::AskingRun;
use super::step_place::StepPlace;
use super::tool_facts::ToolFacts;

/// What belongs to a question. Values are masked, cut and harmless.
pub struct QuestionFacts {
    /// Where the step is written.
    pub place: Option<StepPlace>,
    /// What the question or the step speaks of, by name.
    pub variables: Map<String, Value>,
    /// The last steps.
    pub recent_steps: Vec<Value>,
    /// What people wrote down about it: data, whoever wrote it.
    pub known_issues: Vec<KnownIssue>,
    /// Why the step failed, where the question is about that.
    pub failure: Option<String>,
    /// What the step was given, where the question is about a failure and the
    /// journal tells.
    pub args: Option<Map<String, Value>>,
    /// The tool that failed, where the question is about that.
    pub tool: Option<ToolFacts>,
    /// How often the step may still be changed, where the question is about a failure.
    pub edits_left: Option<u32>,
}

/// Something that memory knows.
pub struct KnownIssue {
    /// In one sentence.
    pub text: String,
    /// Whose memory it is.
    pub layer: &'static str,
}

impl JournalReader {
    /// What belongs to an open question.
    pub fn question_facts(
        &self,
        asking: &AskingRun,
        runtime: &Runtime,
    ) -> Result<QuestionFacts, Error> {
        let AskingRun { run, state, question, .. } = asking;
        let veil = Redactor::new(None);
        let place = StepPlace::find(self, run, &question.step)?;
        let recover = question.purpose == Purpose::Recover;
        let args = if recover { self.load(run, runtime).ok() } else { None };
        let args = args.and_then(|loaded| loaded.arguments(&question.step, runtime));
        let shown = |(name, value): (String, Value)| (name, veil.value(&value, VALUE + 1));
        let tool = place.as_ref().filter(|_| recover).and_then(|place| match &place.step.action {
            Action::Tool { tool, .. } => runtime.tool_facts(&tool.value),
            _ => None,
        });
        let edited = state.steps.get(&question.step).map_or(0, |record| record.edited);
        Ok(QuestionFacts {
            tool,
            edits_left: recover.then(|| MOST_EDITS.saturating_sub(edited)),
            variables: variables(asking, place.as_ref(), &veil),
            recent_steps: recent_steps(state, &veil),
            known_issues: self.known_issues(asking, runtime, &veil)?,
            failure: recover.then(|| failure(state, &question.step, &veil)),
            args: args.map(|args| args.into_iter().map(shown).collect()),
            place,
        })
    }

    fn known_issues(
        &self,
        asking: &AskingRun,
        runtime: &Runtime,
        veil: &Redactor<'_>,
    ) -> Result<Vec<KnownIssue>, Error> {
        let AskingRun { run, state, question, .. } = asking;
        let memory = runtime.memory();
        let tool = match self.source(&run.source)? {
            Some(source) => {
                let read = SkillFile::from_text(PathBuf::from(source.file), source.text);
                let mut tools = read.flows.iter().map(|flow| tool_of(flow, state, &question.step));
                tools.find(|tool| !tool.is_empty()).unwrap_or_default()
            }
            None => String::new(),
        };
        let issues: Vec<_> = match question.purpose {
            Purpose::Recover => {
                let record = state.steps.get(&question.step);
                let said = record.and_then(|record| record.process.as_ref());
                let said = said.map_or("", |process| process.stderr.as_str());
                let message = record.and_then(|record| record.message.as_deref());
                let error = format!("{}\n{said}", message.unwrap_or_default());
                let query = Query {
                    tool: &tool,
                    skill: Some(&run.skill),
                    step: Some(&question.step),
                    error: &error,
                    args: None,
                };
                memory.known_issues(&query).into_iter().map(|(_, issue)| issue).collect()
            }
            Purpose::Gate | Purpose::Ask if tool.is_empty() => Vec::new(),
            Purpose::Gate | Purpose::Ask => memory.issues_before(&[&tool]),
        };
        let shown = issues.iter().take(SHOWN).map(|issue| KnownIssue {
            text: veil.start(&sentence(&issue.value), VALUE + 1, usize::MAX),
            layer: issue.layer.word(),
        });
        Ok(shown.collect())
    }
}

fn variables(
    asking: &AskingRun,
    place: Option<&StepPlace>,
    veil: &Redactor<'_>,
) -> Map<String, Value> {
    let AskingRun { state: State { started, outputs, steps, .. }, question, .. } = asking;
    let mut shown = Map::new();
    let mut show = |name: String, value: &Value| {
        shown.insert(name, veil.value(value, VALUE + 1));
    };
    for (name, value) in &started.inputs {
        show(format!("inputs.{name}"), value);
    }
    if let Some(item) = started.parent.as_ref().and_then(|parent| parent.item.as_ref()) {
        show("item".to_owned(), &item.value);
    }
    let names = place.map(|place| match question.purpose {
        Purpose::Gate | Purpose::Ask => place.names_asked(),
        Purpose::Recover => place.names_used(),
    });
    let code = place.and_then(|place| match &place.step.action {
        Action::Compute { code, .. } if question.purpose == Purpose::Recover => Some(&*code.value),
        _ => None,
    });
    let read = outputs.keys().filter(|name| code.is_some_and(|code| has_word(code, name)));
    for name in names.unwrap_or_default().into_iter().chain(read.cloned()) {
        if let Some(value) = outputs.get(&name) {
            show(name, value);
        }
    }
    let kind = steps.get(&question.step).and_then(|record| record.kind.as_ref());
    if question.purpose == Purpose::Recover && kind == Some(&StepKind::Compute) {
        show("names".to_owned(), &json!(outputs.keys().collect::<Vec<_>>()));
    }
    shown
}

/// Whether a text has this word.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}
