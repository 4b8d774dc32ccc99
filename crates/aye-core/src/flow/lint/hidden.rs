//! Steps whose result a built-in name hides.

use crate::diagnostic::Diagnostic;
use crate::skill::Template;
use crate::text::{BUILT_IN, keys};

use super::super::locate;
use super::TemplateLinter;

/// What `run` itself has.
pub(super) const OF_RUN: [&str; 7] =
    ["id", "environment", "user", "started", "status", "error", "failed_step"];

impl TemplateLinter<'_> {
    /// A built-in name where the result of a step with that name was meant.
    pub(super) fn hidden_result(&self, dotted: &str, template: &Template) -> Option<Diagnostic> {
        let mut parts = dotted.split('.');
        let (name, key) = (parts.next()?, parts.next());
        if !BUILT_IN.contains(&name) || !self.hidden.contains(name) {
            return None;
        }
        let means_step = match (name, key) {
            ("branch" | "workspace" | "worktree" | "now" | "today", _) | (_, None) => true,
            ("run", Some(key)) if OF_RUN.contains(&key) => false,
            (_, Some(key)) => keys::is_of_step(key),
        };
        if !means_step {
            return None;
        }
        let message = format!("`{dotted}` is not the result of step `{name}`");
        let hint = format!(
            "add `output: {name}_result` to the step and write `{name}_result`, or `steps.{name}.stdout`"
        );
        Some(
            Diagnostic::error("built-in-name", message)
                .label(
                    locate::name_in(self.source, template.span, dotted),
                    format!("`{name}` is a built-in name"),
                )
                .hint(hint),
        )
    }
}
