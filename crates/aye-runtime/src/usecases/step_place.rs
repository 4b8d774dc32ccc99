//! Where a step is written, in the text that its run was started with.

use std::path::PathBuf;

use aye_core::diagnostic::Source;
use aye_core::skill::Step;

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
}

/// The step of this name: itself, or one that it holds.
fn within<'a>(step: &'a Step, name: &str) -> Option<&'a Step> {
    if step.name.value == name {
        return Some(step);
    }
    step.action.body().iter().chain(&step.then).find_map(|inner| within(inner, name))
}
