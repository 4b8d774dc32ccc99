//! Changes that put a file right.

use crate::span::Span;

/// What a number without a unit stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

/// A change that puts right what a diagnostic says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What is replaced, in the order of the text.
    pub edits: Vec<Edit>,
    /// Right only if numbers without a unit are meant in this one.
    pub unit: Option<Unit>,
}

/// One place of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What stands there afterwards. Lines after the first begin in the column
    /// in which the first one does.
    pub text: String,
}

impl Fix {
    /// One place.
    pub(super) fn one(span: Span, text: String, unit: Option<Unit>) -> Self {
        Self { edits: vec![Edit { span, text }], unit }
    }

    /// Whether it is certain, numbers being meant in this unit.
    pub fn is_certain(&self, unit: Option<Unit>) -> bool {
        self.unit.is_none() || self.unit == unit
    }

    /// From the first place to the last.
    pub fn span(&self) -> Span {
        let start = self.edits.first().map_or(0, |edit| edit.span.start);
        let end = self.edits.last().map_or(start, |edit| edit.span.end);
        Span { start, end }
    }

    /// The text with this change made; `None` if it does not fit the text.
    pub fn apply(&self, text: &str) -> Option<String> {
        let mut text = text.to_owned();
        let kept: String = self.edits.iter().map(|edit| edit.text.as_str()).collect();
        for edit in self.edits.iter().rev() {
            text = edit.apply(&text, &kept)?;
        }
        Some(text)
    }
}

impl Edit {
    /// The text with this place changed; `kept` is all that the change puts in.
    fn apply(&self, text: &str, kept: &str) -> Option<String> {
        let Span { start, end } = self.span;
        let (before, covered) = (text.get(..start)?, text.get(start..end)?);
        let gone = if covered.contains('\n') { within(covered) } else { covered };
        let after = text.get(start + gone.len()..)?;
        // A comment between the lines would be lost.
        let lost = |line: &str| line.contains('#') && !kept.contains(line.trim());
        if gone.contains('\n') && gone.lines().any(lost) {
            return None;
        }
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        // Between braces there are no lines of their own.
        if self.text.contains('\n') && !line.chars().all(|c| matches!(c, ' ' | '-')) {
            return None;
        }
        // Whole lines leave no empty one behind.
        let whole = self.text.is_empty() && line.is_empty() && !gone.is_empty();
        let after = if whole { after.strip_prefix('\n').unwrap_or(after) } else { after };
        let indent = format!("\n{}", " ".repeat(line.chars().count()));
        Some(format!("{before}{}{after}", self.text.replace('\n', &indent)))
    }
}

/// What a span covers without the blank lines and comments at its end: they
/// belong to what follows a block.
pub(crate) fn within(mut covered: &str) -> &str {
    loop {
        covered = covered.trim_end();
        match covered.rsplit_once('\n') {
            Some((before, last)) if last.trim_start().starts_with('#') => covered = before,
            Some(_) | None => return covered,
        }
    }
}
