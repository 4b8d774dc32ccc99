//! Where a step is written, in the text that its run was started with.

use std::path::PathBuf;

use aye_core::diagnostic::Source;
use aye_core::skill::{Action, Ask, Step};
use aye_core::text::names_in_with;
use serde_json::Value;

use crate::compute::PythonExpressions;
use crate::error::Error;
use crate::fmt::escape_control_lines;
use crate::skills::{SkillFile, skill_name};
use crate::store::RunRow;

use super::journal_reader::JournalReader;

/// A step as it is written.
pub struct StepPlace {
    /// The file, as the run names it.
    pub file: String,
    /// Its first and last line.
    pub lines: (usize, usize),
    /// Those lines.
    pub source: String,
    /// What it means.
    pub step: Step,
}

impl StepPlace {
    /// Finds a step of a run; `None` if it is not in the text.
    pub(super) fn find(
        journal: &JournalReader,
        run: &RunRow,
        step: &str,
    ) -> Result<Option<Self>, Error> {
        let Some(kept) = journal.source(&run.source)? else { return Ok(None) };
        let read = SkillFile::from_text(PathBuf::from(&kept.file), kept.text);
        let mut flows: Vec<_> = read.flows.iter().collect();
        flows.sort_by_key(|flow| skill_name(flow) != run.skill);
        let found = flows
            .into_iter()
            .find_map(|flow| flow.nodes.iter().find_map(|node| within(&node.step, step)));
        let Some(found) = found else { return Ok(None) };
        let source = Source::new(&run.file, &read.text);
        let first = source.position(found.span.start).line;
        let last = source.position(found.span.end.saturating_sub(1)).line.max(first);
        let lines: Vec<&str> = (first..=last).map(|line| source.line(line)).collect();
        Ok(Some(Self {
            file: run.file.clone(),
            lines: (first, last),
            source: escape_control_lines(lines.join("\n").trim_end()),
            step: found.clone(),
        }))
    }

    /// The names that the question before or in the step uses.
    pub(super) fn names_asked(&self) -> Vec<String> {
        self.step.question().map(|ask| names(asked(ask))).unwrap_or_default()
    }

    /// The names that what the step does uses.
    pub(super) fn names_used(&self) -> Vec<String> {
        let mut texts: Vec<&str> = Vec::new();
        match &self.step.action {
            Action::Command { program, args } => {
                texts.push(&program.value);
                texts.extend(args.iter().map(|arg| arg.value.as_str()));
            }
            Action::Shell { script } => texts.push(&script.value),
            Action::Tool { args, .. } => strings(args, &mut texts),
            Action::Skill { inputs, .. } => {
                inputs.values().for_each(|value| strings(value, &mut texts));
            }
            Action::ForEach(each) => strings(&each.items, &mut texts),
            Action::Return { text } => texts.push(&text.value),
            Action::Ask(_) | Action::Compute { .. } | Action::Note => {}
        }
        texts.extend(self.step.env.values().flatten().map(|text| text.value.as_str()));
        let more = [&self.step.cwd, &self.step.stdin].into_iter().flatten();
        texts.extend(more.map(|text| text.value.as_str()));
        texts.extend(self.step.condition.as_ref().map(|text| text.value.as_str()));
        names(texts)
    }
}

fn asked(ask: &Ask) -> Vec<&str> {
    let mut texts = vec![ask.message.value.as_str()];
    texts.extend(ask.title.iter().chain(&ask.details).map(|text| text.value.as_str()));
    for option in &ask.options {
        texts.push(&option.label.value);
        texts.extend(option.description.as_ref().map(|text| text.value.as_str()));
    }
    texts
}

fn strings<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, texts)),
        Value::Object(map) => map.values().for_each(|item| strings(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The first part of each name; what cannot be read names nothing.
fn names(texts: Vec<&str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        for name in names_in_with(text, Some(&PythonExpressions)).unwrap_or_default() {
            let first = name.split('.').next().unwrap_or(&name).to_owned();
            if !found.contains(&first) {
                found.push(first);
            }
        }
    }
    found
}

/// The step of this name: itself, or one that it holds.
fn within<'a>(step: &'a Step, name: &str) -> Option<&'a Step> {
    if step.name.value == name {
        return Some(step);
    }
    step.action.body().iter().chain(&step.then).find_map(|inner| within(inner, name))
}
