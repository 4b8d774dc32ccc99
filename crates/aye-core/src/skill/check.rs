//! From documents to a checked [`Skill`](super::Skill).
//!
//! [`Checker::file`] decodes the file, then each skill, each step and each
//! question by itself, and reports whatever is wrong on the way. The values it
//! builds may be stand-ins where something was wrong: a skill with an error
//! anywhere inside is dropped as a whole.
//!
//! One file for each part of a skill. Touches nothing. A checked skill goes to `flow`, problems go
//! to `diagnostic`.

mod action;
mod answers;
mod ask;
mod choices;
mod command_line;
mod exact_fix;
mod file;
mod finally;
mod guard;
mod heal;
mod hints;
mod input;
mod kept_output;
mod moved_step;
mod names;
mod nested;
mod problem;
mod report;
mod secret_source;
mod skill;
mod state;
mod step;
mod terms;

use std::collections::HashMap;

use serde::Deserialize;

use crate::diagnostic::{Diagnostic, surely_meant};
use crate::pattern::Work;
use crate::skill::Template;
use crate::skill::document::{instead_of, other_word};
use crate::skill::duration::{Period, parse_duration};
use crate::skill::size::{Size, parse_size};
use crate::span::{LineStarts, Span, Spanned};
use crate::yaml::decode::{Fault, Problem, Raw, Text, decode};
use crate::yaml::{NodeId, Tree};
use problem::Place;
use report::Report;

/// Keys that only the top of a skill or of a file has.
const TOP: [&str; 2] = ["step_limit", "workflows"];

/// Checks one file.
pub(super) struct Checker<'t> {
    tree: &'t Tree,
    /// The text of the file.
    source: &'t str,
    lines: LineStarts,
    /// Keys that are there under a wrong name, by the node they belong to; an
    /// empty one for a name that says nothing. They are not missing too.
    misspelt: HashMap<NodeId, Vec<&'static str>>,
    /// Every skill met so far: its name and where the whole of it stands.
    pub(super) declared: Vec<Spanned<String>>,
    pub(super) report: Report,
    /// The inputs of the skill that is checked.
    input_list: Vec<String>,
    /// What all patterns of the file may cost together.
    work: Work,
}

impl<'t> Checker<'t> {
    pub(super) fn new(tree: &'t Tree, source: &'t str, found: Vec<Diagnostic>) -> Self {
        Self {
            tree,
            source,
            lines: LineStarts::of(source),
            misspelt: HashMap::new(),
            declared: Vec::new(),
            report: Report::new(found),
            input_list: Vec::new(),
            work: Work::default(),
        }
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
            if self.report.is_full() {
                self.report.leave_out();
                continue;
            }
            if let Fault::UnknownKey { key, known } = &problem.fault {
                if key.starts_with("x-") && TOP.iter().any(|top| known.contains(top)) {
                    continue;
                }
                let meant = problem::suggestion(key, known, &self.report).unwrap_or_default();
                self.misspelt.entry(id).or_default().push(meant);
            }
            let renamed = self.renamed_key(&problem, id);
            let exact = self.exact_fix(&problem, id);
            let diagnostic = self.with_own_words(problem, id, place);
            self.report.push(match (exact, renamed) {
                (Some(edits), _) => diagnostic.fix_all(edits),
                (None, Some((span, key))) => diagnostic.fix(span, key),
                (None, None) => diagnostic,
            });
        }
        value
    }

    /// A misspelt key and the one that was surely meant, if it is not there too.
    fn renamed_key(&self, problem: &Problem, id: NodeId) -> Option<(Span, &'static str)> {
        let Fault::UnknownKey { key, known } = &problem.fault else { return None };
        let theirs = other_word(key, known).filter(|_| instead_of(key, known).is_none());
        let meant = theirs.or_else(|| surely_meant(key, known.iter().copied()))?;
        let free = self.tree.entry(id, meant).is_none() && !self.report.is_full();
        let span = problem.span.filter(|_| free)?;
        Some((span, known.iter().copied().find(|known| *known == meant)?))
    }

    /// Decodes one key of a node that has been decoded as a whole: only what is
    /// wrong with that key is news.
    fn decode_part<T: Deserialize<'t>>(&mut self, id: NodeId, place: &str) -> Option<T> {
        let (value, problems) = decode(self.tree, id);
        for problem in problems {
            if !matches!(problem.fault, Fault::UnknownKey { .. }) {
                let place = Place { words: place, not_here: &[] };
                let exact = self.exact_fix(&problem, id);
                let diagnostic = self.with_own_words(problem, id, place);
                self.report.push(diagnostic.fix_all(exact));
            }
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
                let mut diagnostic = Diagnostic::error("bad-duration", error.to_string())
                    .label(period.span, "")
                    .hint(error.hint());
                if error.is_endless() {
                    diagnostic = diagnostic.fix(period.span, "0");
                }
                for (unit, text) in error.readings() {
                    diagnostic = diagnostic.fix_in(unit, period.span, text);
                }
                self.report.push(diagnostic);
            })
            .ok()
    }

    fn size(&mut self, size: &Spanned<Size>) -> Option<u64> {
        parse_size(&size.0.0)
            .map_err(|error| {
                self.report.push(
                    Diagnostic::error("bad-size", error.to_string())
                        .label(size.span, "")
                        .hint(error.hint()),
                );
            })
            .ok()
    }

    /// Reports a key that a mapping does not have, at its beginning.
    fn missing(&mut self, id: NodeId, key: &str, place: &str, hint: impl Into<String>) {
        let Span { start, .. } = self.span(id);
        self.missing_at(Span { start, end: start }, id, key, place, hint);
    }

    /// Reports a key that a mapping does not have.
    fn missing_at(
        &mut self,
        span: Span,
        id: NodeId,
        key: &str,
        place: &str,
        hint: impl Into<String>,
    ) {
        let message = format!("{place} has no `{key}`");
        let diagnostic = Diagnostic::error("missing-key", message).label(span, "").hint(hint);
        if self.is_misspelt(id, key) {
            self.report.count(&diagnostic);
        } else {
            self.report.push(diagnostic);
        }
    }

    fn is_misspelt(&self, id: NodeId, key: &str) -> bool {
        self.misspelt.get(&id).is_some_and(|meant| meant.contains(&key))
    }
}

fn template(text: Spanned<Text>) -> Template {
    Spanned::new(text.value.0, text.span)
}

/// Whether text holds anything that is filled in at run time.
fn is_template(text: &str) -> bool {
    before_template(text) != text
}

/// What stands before the first template of a text, or all of it.
fn before_template(text: &str) -> &str {
    let begin = ["{{", "{%", "{#"].into_iter().filter_map(|open| text.find(open)).min();
    &text[..begin.unwrap_or(text.len())]
}
