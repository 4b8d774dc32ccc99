//! What people wrote down about errors, shown where they happen again.

use std::sync::Arc;

use aye_core::event::{BadOutcome, Event, EventKind};
use aye_core::skill::Action;
use serde_json::{Map, Value, json};

use crate::compute::{Host, Quiet};
use crate::fmt::escape_control_line;
use crate::memory::{Issue, Memory, Query, SHOWN, Standing};

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

impl Driver<'_> {
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
            let query = Query {
                tool: &tool,
                skill: Some(&machine.state().started.skill),
                step: Some(&failed.step),
                error: &error,
                args: None,
            };
            let known = self.parts.memory.known_issues(&query);
            let mut lines: Vec<String> =
                known.iter().take(SHOWN).map(|(_, issue)| sentence(&issue.value)).collect();
            let proposed = self.proposed(&query);
            lines.extend(proposed.iter().map(|fix| self.proposal(fix)));
            self.lessons.proposed(proposed);
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

    fn proposal(&self, fix: &str) -> String {
        let id = self.parts.memory.short_id(fix);
        format!(
            "memory has a fix for this, `{id}`, that nobody agreed to on this machine; \
             `aye memory agree {id}` shows what it does and asks"
        )
    }
}

/// The tool or program that a step uses, as memory knows it.
pub fn tool_of(
    flow: &aye_core::flow::Flow,
    state: &aye_core::journal::State,
    step: &str,
) -> String {
    let action = flow.find(step).map(|node| &flow.nodes[node].step.action);
    match action {
        Some(Action::Tool { tool, .. }) => tool.value.clone(),
        Some(Action::Command { .. }) => {
            let command = state.steps.get(step).and_then(|record| record.command.as_deref());
            command.and_then(|line| line.split_whitespace().next()).map(program).unwrap_or_default()
        }
        Some(
            Action::Shell { .. }
            | Action::Ask(_)
            | Action::Compute { .. }
            | Action::Skill { .. }
            | Action::ForEach(_)
            | Action::Return { .. }
            | Action::Note,
        )
        | None => String::new(),
    }
}

/// The name of a program, wherever it is.
pub(super) fn program(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// What a compute block can ask memory.
pub(super) struct Remembering {
    pub(super) memory: Arc<Memory>,
    pub(super) quiet: Quiet,
}

impl Host for Remembering {
    fn memory(
        &mut self,
        function: &str,
        args: &[Value],
        named: &Map<String, Value>,
    ) -> Result<Value, String> {
        if function != "check_known_issues" {
            return self.quiet.memory(function, args, named);
        }
        let given = |at: usize, name: &str| {
            let value = args.get(at).or_else(|| named.get(name));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (tool, error) = (given(0, "tool_name"), given(1, "error_text"));
        let query = Query { tool: &tool, error: &error, ..Query::default() };
        let known = self.memory.known_issues(&query);
        let matches: Vec<Value> = known
            .iter()
            .map(|(_, issue)| {
                let issue = &issue.value;
                json!({
                    "pattern": issue.pattern.to_string(),
                    "meaning": issue.meaning,
                    "fix": issue.fix,
                    "commands": issue.commands,
                    "tags": issue.tags,
                })
            })
            .collect();
        Ok(json!({ "has_known_issues": !matches.is_empty(), "matches": matches }))
    }

    fn log(&mut self, line: &str) {
        self.quiet.log(line);
    }

    fn emit(&mut self, name: &str, data: Value) {
        self.quiet.emit(name, data);
    }
}
