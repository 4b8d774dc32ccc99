//! A step that stands in the wrong list, moved to the end of `steps`.

use super::Checker;
use crate::diagnostic::{Edit, within};
use crate::span::Span;
use crate::yaml::{Kind, NodeId};

impl Checker<'_> {
    /// The edits that move an item of `outputs` to the end of `steps`, where both
    /// are written with a line for each key.
    pub(super) fn moved_to_steps(&self, item: NodeId, skill: NodeId) -> Option<Vec<Edit>> {
        let (_, steps) = self.tree.entry(skill, "steps")?;
        let (outputs, listed) = self.tree.entry(skill, "outputs")?;
        let Kind::List(steps) = &self.tree.node(steps).kind else { return None };
        let Kind::List(listed) = &self.tree.node(listed).kind else { return None };
        // They move one after the other, so that they stay in order.
        let first = listed.iter().find(|one| self.step_key(**one).is_some());
        if first != Some(&item) {
            return None;
        }
        let (last, moved) = (self.lines_of(*steps.last()?)?, self.lines_of(item)?);
        // After the line in which the last step ends.
        let at = self.source.get(..=last.end)?.ends_with('\n').then_some(last.end + 1)?;
        let (from, to) = (self.indent(moved), self.indent(last));
        let text = self.source.get(moved.start..moved.end)?;
        let text: Option<String> = text.lines().map(|line| reindented(line, from, to)).collect();
        // A list of nothing is not one.
        let start = match listed.len() {
            1 => self.line_start(self.span(outputs).start),
            _ => moved.start,
        };
        let mut edits = vec![
            Edit { span: Span { start: at, end: at }, text: text? },
            Edit { span: Span { start, end: moved.end }, text: String::new() },
        ];
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        Some(edits)
    }

    /// The lines of an item of a list that begins with `- ` in a line of its own.
    fn lines_of(&self, item: NodeId) -> Option<Span> {
        let span = self.span(item);
        let start = self.line_start(span.start);
        let before = self.source.get(start..span.start)?;
        let own = before.trim_start().starts_with('-') && before.trim_end().ends_with('-');
        let end = span.start + within(self.source.get(span.start..span.end)?).len();
        let rest = self.source.get(end..)?;
        let rest = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let plain = rest.trim().is_empty() || rest.trim_start().starts_with('#');
        (own && plain).then_some(Span { start, end: end + rest.len() })
    }

    fn line_start(&self, at: usize) -> usize {
        self.source[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    /// How many spaces stand before these lines.
    fn indent(&self, lines: Span) -> usize {
        let text = &self.source[lines.start..lines.end];
        text.len() - text.trim_start_matches(' ').len()
    }
}

/// A line that stood behind so many spaces, behind so many; `None` if it does not.
fn reindented(line: &str, from: usize, to: usize) -> Option<String> {
    match line.get(from..) {
        Some(rest) if line[..from].trim().is_empty() => Some(format!("{}{rest}\n", " ".repeat(to))),
        _ => line.trim().is_empty().then(|| "\n".to_owned()),
    }
}
