//! From documents to a checked [`Skill`](super::Skill).
//!
//! [`Checker::file`] decodes the file, then each skill, each step and each
//! question by itself, and reports whatever is wrong on the way. The values it
//! builds may be stand-ins where something was wrong: a skill with an error
//! anywhere inside is dropped as a whole.

mod action;
mod ask;
mod choices;
mod file;
mod input;
mod names;
mod problem;
mod report;
mod skill;
mod state;
mod step;

use serde::Deserialize;

use crate::diagnostic::Diagnostic;
use crate::skill::duration::{Period, parse_duration};
use crate::skill::{Span, Spanned, Template};
use crate::yaml::decode::{Raw, Text, decode};
use crate::yaml::{NodeId, Tree};
use problem::Place;
use report::Report;

/// Checks one file.
pub(super) struct Checker<'t> {
    tree: &'t Tree,
    pub(super) report: Report,
}

impl<'t> Checker<'t> {
    pub(super) fn new(tree: &'t Tree, found: Vec<Diagnostic>) -> Self {
        Self { tree, report: Report::new(found) }
    }

    /// Decodes a node and reports what does not fit. `place` completes the
    /// sentence "unknown key `x` in …".
    fn decode<T: Deserialize<'t>>(&mut self, id: NodeId, place: &str) -> Option<T> {
        self.decode_without(id, place, &[])
    }

    /// The same where some keys of the type are out of place.
    fn decode_without<T: Deserialize<'t>>(
        &mut self,
        id: NodeId,
        place: &str,
        not_here: &[&str],
    ) -> Option<T> {
        let (value, problems) = decode(self.tree, id);
        let place = Place { words: place, not_here };
        for problem in problems {
            let diagnostic = problem::diagnose(problem, place, &self.report);
            self.report.push(diagnostic);
        }
        value
    }

    /// The same for a node whose type is known.
    fn decode_raw<T: Deserialize<'t>>(&mut self, raw: Raw<T>, place: &str) -> Option<T> {
        self.decode(raw.id, place)
    }

    fn span(&self, id: NodeId) -> Span {
        self.tree.node(id).span
    }

    /// A duration, or `None` with an error reported.
    fn duration(&mut self, period: &Spanned<Period>) -> Option<std::time::Duration> {
        parse_duration(&period.0.0)
            .map_err(|error| {
                self.report.push(
                    Diagnostic::error("bad-duration", error.to_string())
                        .label(period.span, "")
                        .hint(error.hint()),
                );
            })
            .ok()
    }

    /// Reports a key that is not there. `after` is where it would be.
    fn missing(&mut self, key: &str, place: &str, after: Span, hint: impl Into<String>) {
        let span = Span { start: after.start, end: after.start.max(after.end) };
        self.report.push(
            Diagnostic::error("missing-key", format!("{place} has no `{key}`"))
                .label(span, "")
                .hint(hint),
        );
    }
}

fn template(text: Spanned<Text>) -> Template {
    Spanned::new(text.value.0, text.span)
}

/// Whether text holds anything that is filled in at run time.
fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}
