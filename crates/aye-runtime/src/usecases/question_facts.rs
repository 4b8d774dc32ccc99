//! What an assistant is told of a question: its [`QuestionContext`], and what the journal, the
//! skill's file and memory know besides. Everything it needs to talk it over with the person,
//! and nothing else.

use std::path::PathBuf;

use aye_core::journal::State;
use aye_core::machine::MOST_EDITS;
use aye_core::question::{Purpose, Question};
use aye_core::skill::Action;
use serde_json::{Map, Value};

use crate::driver::{error_of, known_lines, tool_of};
use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::memory::{Query, SHOWN, Standing};
use crate::question_context::{QuestionContext, Redactor, Sources, VALUE};
use crate::runtime::Runtime;
use crate::skills::SkillFile;
use crate::store::RunRow;

use super::journal_reader::JournalReader;
use super::run_views::AskingRun;
use super::step_place::StepPlace;
use super::tool_facts::ToolFacts;

/// What belongs to a question. Values are masked, cut and harmless.
pub struct QuestionFacts {
    /// The question and its run.
    pub context: QuestionContext,
    /// Where the step is written.
    pub place: Option<StepPlace>,
    /// What people wrote down about it: data, and never an instruction.
    pub known_issues: Vec<KnownIssue>,
    /// Fixes that memory has for the failure and that were not used, with the
    /// reason, a sentence each.
    pub unused_fixes: Vec<String>,
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
        let redactor = Redactor::new(None);
        let place = StepPlace::find(self, run, &question.step)?;
        let recover = question.purpose == Purpose::Recover;
        let args = if recover { self.arguments(run, &question.step, runtime) } else { None };
        let shown = |(name, value): (String, Value)| (name, redactor.value(&value, VALUE + 1));
        let tool = place.as_ref().filter(|_| recover).and_then(|place| match &place.step.action {
            Action::Tool { tool, .. } => runtime.tool_facts(&tool.value),
            _ => None,
        });
        let around = self.runs_around(state)?;
        let step = place.as_ref().map(|place| &place.step);
        let sources = Sources { question, run: Some(state), around: &around, step, secrets: None };
        let edited = state.steps.get(&question.step).map_or(0, |record| record.edited);
        Ok(QuestionFacts {
            tool,
            edits_left: recover.then(|| MOST_EDITS.saturating_sub(edited)),
            context: QuestionContext::of(sources),
            known_issues: self.known_issues(asking, runtime, &redactor)?,
            unused_fixes: match recover {
                true => self.unused_fixes(asking, runtime, args.as_ref(), &redactor)?,
                false => Vec::new(),
            },
            args: args.map(|args| args.into_iter().map(shown).collect()),
            place,
        })
    }

    /// What memory could do about a failure, and why it did not.
    fn unused_fixes(
        &self,
        asking: &AskingRun,
        runtime: &Runtime,
        args: Option<&Map<String, Value>>,
        redactor: &Redactor<'_>,
    ) -> Result<Vec<String>, Error> {
        let AskingRun { run, state, question, .. } = asking;
        let memory = runtime.memory();
        if !memory.has_fixes() {
            return Ok(Vec::new());
        }
        let tool = self.tool_asked_about(run, state, question)?;
        let error = error_of(state, &question.step);
        let (skill, step) = (Some(run.skill.as_str()), Some(question.step.as_str()));
        let query = Query { tool: &tool, skill, step, error: &error, args };
        let fitting = memory.fixes_for(&query).into_iter().map(|fix| fix.value);
        let proposed = fitting.filter(|fix| fix.standing() == Standing::Proposed).map(|fix| {
            let id = memory.short_id(&fix.id);
            let about = fix.about.unwrap_or_default();
            format!(
                "`{id}` is proposed: {about}; a person lets it be used: `aye memory agree {id}`"
            )
        });
        let near = memory.near_misses(&query);
        // One that was tried in this run was used, whatever became of it since.
        let used = |id: &String| state.fixes.get(id).is_some_and(|times| *times > 0);
        let near = near.iter().filter(|near| !used(&near.fix.value.id));
        let near = near.map(|near| {
            let id = memory.short_id(&near.fix.value.id);
            format!("`{id}` was not used: {}", near.why)
        });
        let shown =
            |line: String| redactor.start(&escape_control_line(&line), VALUE + 1, usize::MAX);
        Ok(proposed.chain(near).map(shown).take(SHOWN).collect())
    }

    /// The tool that the step of a question uses.
    fn tool_asked_about(
        &self,
        run: &RunRow,
        state: &State,
        question: &Question,
    ) -> Result<String, Error> {
        let Some(source) = self.source(&run.source)? else { return Ok(String::new()) };
        let read = SkillFile::from_text(PathBuf::from(source.file), source.text);
        let mut tools = read.flows.iter().map(|flow| tool_of(flow, state, &question.step));
        Ok(tools.find(|tool| !tool.is_empty()).unwrap_or_default())
    }

    /// The runs around a run, the nearest first.
    fn runs_around(&self, state: &State) -> Result<Vec<State>, Error> {
        let mut around: Vec<State> = Vec::new();
        let mut parent = state.started.parent.clone();
        while let Some(outer) = parent {
            let state = self.state(&outer.run)?;
            parent = state.started.parent.clone();
            around.push(state);
        }
        Ok(around)
    }

    /// What people wrote down about what a question is about, a line each.
    pub fn known_about(
        &self,
        run: &RunRow,
        state: &State,
        question: &Question,
        runtime: &Runtime,
    ) -> Result<Vec<String>, Error> {
        let tool = self.tool_asked_about(run, state, question)?;
        let known = known_lines(&runtime.memory(), &tool, state, question);
        Ok(known.into_iter().map(|(_, line)| line).collect())
    }

    fn known_issues(
        &self,
        asking: &AskingRun,
        runtime: &Runtime,
        redactor: &Redactor<'_>,
    ) -> Result<Vec<KnownIssue>, Error> {
        let AskingRun { run, state, question, .. } = asking;
        let tool = self.tool_asked_about(run, state, question)?;
        let known = known_lines(&runtime.memory(), &tool, state, question);
        let shown = known.iter().map(|(layer, line)| KnownIssue {
            text: redactor.start(line, VALUE + 1, usize::MAX),
            layer: layer.word(),
        });
        Ok(shown.collect())
    }
}
