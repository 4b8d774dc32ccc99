//! What is kept of what a program writes.

use super::Checker;
use super::step::flag;
use crate::diagnostic::Diagnostic;
use crate::kept_output::KeptOutput;
use crate::skill::document::StepDoc;

/// What a step says about its output.
pub(super) fn kept_output(doc: &StepDoc) -> KeptOutput {
    KeptOutput {
        stdout: doc.stdout.is_absent(),
        stderr: doc.stderr.is_absent(),
        log: doc.log.get().is_none_or(|log| log.value),
    }
}

impl Checker<'_> {
    /// Finds keys about output that a step does not have in our hands, or discards.
    pub(super) fn kept_output(&mut self, doc: &StepDoc, place: &str) {
        let streams = [("stdout", doc.stdout.key()), ("stderr", doc.stderr.key())];
        let log = ("log", doc.log.key());
        for (name, key) in streams.into_iter().chain([log]) {
            let Some(key) = key else { continue };
            let (other, why, about) = if flag(&doc.interactive) {
                (doc.interactive.key(), "is interactive", "its output goes to the terminal")
            } else if flag(&doc.tty) && name != "log" {
                (doc.tty.key(), "has `tty`", "both streams arrive as one")
            } else {
                continue;
            };
            let message = format!("{place} has `{name}` and {why}");
            let mut diagnostic = Diagnostic::error("conflicting-keys", message).label(key, "");
            if let Some(other) = other {
                diagnostic = diagnostic.label(other, about);
            }
            self.report.push(diagnostic);
        }
        if let (Some(stdout), Some(output), true) =
            (doc.stdout.key(), doc.output.key(), doc.foreach.is_absent())
        {
            self.report.push(
                Diagnostic::error(
                    "conflicting-keys",
                    format!("{place} has `output` and discards its standard output"),
                )
                .label(output, "a name for the result")
                .label(stdout, "its result is always empty"),
            );
        }
    }
}
