//! What people wrote down about errors, shown where they happen again.

use aye_core::event::{BadOutcome, Event, EventKind};
use aye_core::journal::State;
use aye_core::question::{Purpose, Question};
use aye_core::skill::Action;
use serde_json::{Map, Value};

use crate::compute::{Host, Quiet};
use crate::fmt::escape_control_line;
use crate::memory::{Fix, Issue, Layer, Memory, NearMiss, Query, SHOWN, Standing, View};

use super::drive::Driver;
use super::lane::LaneId;

/// A known issue in one line.
pub fn sentence(issue: &Issue) -> String {
    let mut parts = vec![format!("known issue `{}`", issue.pattern)];
    parts.extend(issue.meaning.clone());
    parts.extend(issue.fix.as_ref().map(|fix| format!("fix: {fix}")));
    parts.extend(issue.commands.iter().map(|command| format!("try: {command}")));
    // People write these; a terminal must not obey them.
    escape_control_line(&parts.join("; "))
}

/// What is known about what a question is about, a line each: the failure, or the tool that a
/// yes starts.
pub fn known_lines(
    memory: &Memory,
    tool: &str,
    state: &State,
    question: &Question,
) -> Vec<(Layer, String)> {
    match question.purpose {
        Purpose::Recover => {
            let error = error_of(state, &question.step);
            let query = Query::at(tool, &state.started.skill, &question.step, &error);
            failure_lines(memory, &query)
        }
        Purpose::Gate | Purpose::Ask if tool.is_empty() => Vec::new(),
        Purpose::Gate | Purpose::Ask => {
            let known = memory.issues_before(&[tool]);
            let lines = known.iter().map(|issue| (issue.layer, sentence(&issue.value)));
            lines.take(SHOWN).collect()
        }
    }
}

/// What is known about a failure, a line each: known issues, then fixes in words.
fn failure_lines(memory: &Memory, query: &Query<'_>) -> Vec<(Layer, String)> {
    let issues = memory.known_issues(query).into_iter();
    let issues = issues.map(|(_, issue)| (issue.layer, sentence(&issue.value)));
    let fixes = if memory.has_fixes() { memory.fixes_for(query) } else { Vec::new() };
    let words = fixes.into_iter().filter(|fix| fix.value.standing() == Standing::Prose);
    let words = words.map(|fix| (fix.layer, in_words(&fix.value, &memory.short_id(&fix.value.id))));
    issues.chain(words).take(SHOWN).collect()
}

/// A fix in words in one line.
fn in_words(fix: &Fix, id: &str) -> String {
    let Fix { matches, about, from, .. } = fix;
    let about = about.as_deref().unwrap_or_default();
    let run = from.run.as_ref().map(|run| format!(" in run {run}")).unwrap_or_default();
    escape_control_line(&format!(
        "known fix of `{}`: {about}; `{id}` from {}{run}",
        matches.error, from.by
    ))
}

/// What a step that failed said.
pub fn error_of(state: &State, step: &str) -> String {
    let record = state.steps.get(step);
    let said = record.and_then(|record| record.process.as_ref());
    let said = said.map_or("", |process| process.stderr.as_str());
    let message = record.and_then(|record| record.message.as_deref());
    format!("{}\n{said}", message.unwrap_or_default())
}

impl Driver<'_> {
    /// What is known about what a question is about, a line each.
    pub(super) fn known_about(&self, id: LaneId, question: &Question) -> Vec<String> {
        let machine = &self.lane(id).machine;
        let tool = tool_of(machine.flow(), machine.state(), &question.step);
        let known = known_lines(&self.parts.memory, &tool, machine.state(), question);
        known.iter().map(|(_, line)| machine.secrets().mask(line)).collect()
    }

    /// Says what is known about the failures among these events.
    pub(super) fn advise(&mut self, id: LaneId, events: &[Event]) {
        for event in events {
            let EventKind::StepFailed(failed) = &event.kind else { continue };
            if !matches!(failed.outcome, BadOutcome::Failure | BadOutcome::Timeout) {
                continue;
            }
            let machine = &self.lane(id).machine;
            let said = failed.process.as_ref().map_or("", |process| process.stderr.as_str());
            let error = format!("{}\n{said}", failed.message);
            let tool = tool_of(machine.flow(), machine.state(), &failed.step);
            let args = machine.arguments(&failed.step, &self.world());
            let skill = &machine.state().started.skill;
            let query =
                Query { args: args.as_ref(), ..Query::at(&tool, skill, &failed.step, &error) };
            let known = failure_lines(&self.parts.memory, &query);
            let mut lines: Vec<String> = known.into_iter().map(|(_, line)| line).collect();
            let proposed = self.proposed(&query);
            lines.extend(proposed.iter().map(|fix| self.proposal(fix)));
            let uses = &machine.state().fixes;
            let used = |id: &String| uses.get(id).is_some_and(|times| *times > 0);
            let mut near = self.near_misses(&query);
            // One that was tried in this run was used, whatever became of it since.
            near.retain(|near| !used(&near.fix.value.id));
            lines.extend(near.iter().map(|near| self.near_miss(near)));
            self.lessons.proposed(proposed);
            self.lessons.proposed(near.into_iter().map(|near| near.fix.value.id).collect());
            self.note(id, &lines);
        }
    }
}

impl Driver<'_> {
    /// Fixes for a failure that nobody agreed to on this machine; each is told
    /// once in a run.
    fn proposed(&self, query: &Query<'_>) -> Vec<String> {
        if !self.parts.memory.has_fixes() {
            return Vec::new();
        }
        let fixes = self.parts.memory.fixes_for(query);
        if fixes.iter().any(|fix| fix.value.standing() == Standing::Active) {
            return Vec::new();
        }
        let fixes = fixes.into_iter().map(|fix| fix.value);
        let waits = fixes.filter(|fix| fix.standing() == Standing::Proposed);
        waits.map(|fix| fix.id).filter(|id| !self.lessons.is_proposed(id)).collect()
    }

    /// Fixes that nearly fit, each told once in a run; nothing where one fits.
    fn near_misses(&self, query: &Query<'_>) -> Vec<NearMiss> {
        if !self.parts.memory.has_fixes() || self.parts.memory.fix_for(query).is_some() {
            return Vec::new();
        }
        let near = self.parts.memory.near_misses(query).into_iter();
        near.filter(|near| !self.lessons.is_proposed(&near.fix.value.id)).collect()
    }

    fn near_miss(&self, near: &NearMiss) -> String {
        let id = self.parts.memory.short_id(&near.fix.value.id);
        escape_control_line(&format!(
            "memory has a fix for something like this, `{id}`; it was not used: {}; \
             `aye memory show {id}` shows it",
            near.why
        ))
    }

    fn proposal(&self, fix: &str) -> String {
        let id = self.parts.memory.short_id(fix);
        format!(
            "memory has a fix for this, `{id}`, that nobody agreed to on this machine; \
             `aye memory agree {id}` shows what it does and asks"
        )
    }
}

/// The tool or program that a step uses, as memory knows it.
pub fn tool_of(flow: &aye_core::flow::Flow, state: &State, step: &str) -> String {
    let action = flow.find(step).map(|node| &flow.nodes[node].step.action);
    if let Some(tool) = action.and_then(Action::tool) {
        return tool.to_owned();
    }
    let Some(named) = action.and_then(Action::command_program) else { return String::new() };
    let command = state.steps.get(step).and_then(|record| record.command.as_deref());
    let started = command.and_then(|line| line.split_whitespace().next());
    // Before it has started only what the skill says is known.
    let written = Some(named.as_str()).filter(|name| !name.contains('{'));
    started.or(written).map(program).unwrap_or_default()
}

/// The name of a program, wherever it is.
pub(super) fn program(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// What a compute block can ask memory.
pub(super) struct Remembering {
    pub(super) view: View,
    pub(super) quiet: Quiet,
}

impl Host for Remembering {
    fn memory(
        &mut self,
        function: &str,
        args: &[Value],
        named: &Map<String, Value>,
    ) -> Result<Value, String> {
        self.view.call(function, args, named)
    }

    fn log(&mut self, line: &str) {
        self.quiet.log(line);
    }

    fn emit(&mut self, name: &str, data: Value) {
        self.quiet.emit(name, data);
    }
}
