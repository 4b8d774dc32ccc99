//! Where diagnostics are collected.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::span::Span;

/// More than this helps nobody, and a hostile file could have a great many.
const MOST: usize = 100;

/// Names compared for "did you mean": comparing thousands takes time.
const ENOUGH: usize = 300;

/// The diagnostics so far.
pub(in crate::skill) struct Report {
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    left_out: usize,
    /// Places that could not be read: what decoding finds there says nothing.
    broken: HashSet<Span>,
}

impl Report {
    pub(super) fn new(found: Vec<Diagnostic>) -> Self {
        let mut report =
            Self { diagnostics: Vec::new(), errors: 0, left_out: 0, broken: HashSet::new() };
        let broken = found.iter().map(Diagnostic::span).collect();
        for diagnostic in found {
            report.push(diagnostic);
        }
        report.broken = broken;
        report
    }

    /// Counts what is a mere consequence of something reported already.
    pub(super) fn count(&mut self, diagnostic: &Diagnostic) {
        self.errors += usize::from(diagnostic.is_error());
    }

    /// Counts an error that nobody will see, to save wording it.
    pub(super) fn leave_out(&mut self) {
        self.errors += 1;
        self.left_out += 1;
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.count(&diagnostic);
        if self.broken.contains(&diagnostic.span()) {
            return;
        }
        // A node that several aliases stand for is wrong once.
        if self.is_full() {
            self.left_out += 1;
        } else if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// How many errors there were, those left out included.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// The candidate probably meant. Not looked for once nobody would see it.
    pub(super) fn suggestion<'a>(
        &self,
        word: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        if self.is_full() { None } else { did_you_mean(word, candidates.into_iter().take(ENOUGH)) }
    }

    /// Whether nobody will see what is reported from now on.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.len() >= MOST
    }

    pub(in crate::skill) fn finish(mut self) -> Vec<Diagnostic> {
        if self.left_out > 0 {
            let message = format!("{} more problems are not shown", self.left_out);
            let diagnostic = Diagnostic::error("too-many-problems", message)
                .label(Span { start: usize::MAX, end: usize::MAX }, "");
            self.diagnostics.push(diagnostic);
        }
        self.diagnostics
    }
}
