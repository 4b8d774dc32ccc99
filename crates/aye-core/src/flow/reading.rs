//! Whether anything can read the result of a step.
//!
//! It searches for words and does not analyse: to keep a result that nothing reads
//! only costs space, but to cut one that something reads would be wrong.

use std::collections::BTreeSet;

use crate::skill::{Ask, Body, Step};

use super::graph::Flow;
use super::texts::{Kind, each_in_ask, each_string, each_text};

/// What gives every name there is at once, in blocks and in expressions.
/// `steps` does not: what is known of a step has no result in it.
pub(super) const EVERY_NAME: [&str; 4] = ["dir", "globals", "locals", "vars"];

impl Flow {
    /// Whether anything in this flow can read a result of this name: any step,
    /// what is inside of it, a repair, or an output.
    pub fn reads(&self, result: &str) -> bool {
        let repairs = self.skill.heal.iter().map(|rule| &rule.repair);
        let mut steps = self.nodes.iter().map(|node| &node.step).chain(repairs);
        let mut found = steps.any(|step| reads(step, result));
        for output in &self.skill.outputs {
            each_string(&output.value, &mut |text| found |= named_in(text, Kind::Template, result));
        }
        found
    }

    /// Whether a step may be the one whose result is that of all of them: the
    /// last, or one that belongs to it.
    pub fn may_end_with(&self, step: &str) -> bool {
        let Body::Steps(steps) = &self.skill.body else { return true };
        let last = steps.last().and_then(|last| self.find(&last.name));
        self.find(step) >= last
    }
}

/// Whether a step, or what is inside of it, can read a result of this name.
pub(crate) fn reads(step: &Step, result: &str) -> bool {
    let mut found = false;
    each_text(step, &BTreeSet::new(), &mut |text, kind, _| found |= named_in(text, kind, result));
    found
}

/// Whether a step, or what is inside of it, names this result: in what it does, what it
/// asks, its condition and its guards.
pub fn step_names(step: &Step, result: &str) -> bool {
    let mut found = false;
    each_text(step, &BTreeSet::new(), &mut |text, kind, _| {
        found |= is_word_of(evaluated(text, kind), result);
    });
    found
}

/// Whether a question names this result: in its texts, its default, or what is to be typed.
pub fn question_names(ask: &Ask, result: &str) -> bool {
    let mut found = false;
    each_in_ask(ask, &mut |text, kind| found |= is_word_of(evaluated(text, kind), result));
    found
}

/// Whether a step, or what is inside of it, can read how another one ended:
/// `steps.NAME.status`, `steps['NAME']`.
pub(crate) fn reads_outcome(step: &Step, name: &str) -> bool {
    let mut found = false;
    each_text(step, &BTreeSet::new(), &mut |text, kind, _| {
        let read = evaluated(text, kind);
        found |= is_word_of(read, "steps") && read.contains(name);
    });
    found
}

/// Whether a template can read what a step gave or how it ended.
pub(crate) fn template_reads(template: &str, step: &str, output: Option<&str>) -> bool {
    text_reads(template, Kind::Template, step, output)
}

/// The same of a condition.
pub(crate) fn condition_reads(condition: &str, step: &str, output: &str) -> bool {
    text_reads(condition, Kind::Condition, step, Some(output))
}

fn text_reads(text: &str, kind: Kind, step: &str, output: Option<&str>) -> bool {
    let named = |name: &str| named_in(text, kind, name);
    let read = evaluated(text, kind);
    let outcome = read.contains(step) || read.contains("steps[");
    is_word_of(read, "steps") && outcome
        || output.is_some_and(|name| named(name) || named(&format!("{name}_parsed")))
}

/// The part of a text that is evaluated.
pub(super) fn evaluated(text: &str, kind: Kind) -> &str {
    match kind {
        Kind::Template | Kind::Prose => between_braces(text),
        Kind::Condition | Kind::Code => text,
    }
}

fn named_in(text: &str, kind: Kind, result: &str) -> bool {
    let read = evaluated(text, kind);
    std::iter::once(result).chain(EVERY_NAME).any(|name| is_word_of(read, name))
}

/// The part of a template that may be more than plain text.
fn between_braces(template: &str) -> &str {
    let open = [template.find("{{"), template.find("{%")].into_iter().flatten().min();
    let close = template.rfind("}}").max(template.rfind("%}"));
    let range = open.zip(close).filter(|(open, close)| open < close);
    range.map_or("", |(open, close)| &template[open..close])
}

/// Whether a name stands in a text by itself; behind a dot it is the key of
/// something else, such as `steps.NAME`.
pub(super) fn is_word_of(text: &str, name: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(|c| in_word(c) || c == '.') && !after.starts_with(in_word)
    })
}
