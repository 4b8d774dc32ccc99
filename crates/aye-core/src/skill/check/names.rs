//! Names: of skills, steps, states, inputs and outputs.

use std::collections::HashMap;

use super::Checker;
use crate::diagnostic::{Diagnostic, first_hidden, quote};
use crate::span::{Span, Spanned};

/// Names that templates always know.
pub(super) const BUILT_IN: &[&str] =
    &["inputs", "env", "branch", "workspace", "worktree", "now", "today", "run", "skill", "steps"];

/// `[A-Za-z_][A-Za-z0-9_-]*`
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// The nearest text that is a name.
pub(super) fn nearest_name(text: &str, dashes: bool) -> Option<String> {
    let mut name: String = text
        .trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || (c == '-' && dashes) { c } else { '_' })
        .collect();
    if name.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_') {
        name.insert(0, '_');
    }
    let useful = name.len() <= 64 && name.bytes().any(|b| b.is_ascii_alphabetic());
    useful.then_some(name)
}

impl Checker<'_> {
    /// Checks the name of a `what`.
    pub(super) fn name(&mut self, name: &Spanned<String>, what: &str) {
        if !is_name(name) {
            let rule = "letters, digits, `_` and `-`, not starting with a digit or `-`";
            self.bad_name(name, what, rule, true);
        }
    }

    /// Checks a name that templates use by itself, and that `key` gives: `a-b`
    /// would be a minus b.
    pub(super) fn variable(&mut self, name: &Spanned<String>, key: &str) {
        if !is_name(name) || name.contains('-') {
            let rule = "letters, digits and `_`, not starting with a digit";
            self.bad_name(name, "an output", rule, false);
        } else if BUILT_IN.contains(&name.as_str()) {
            self.report.push(
                Diagnostic::error("built-in-name", format!("`{}` is a built-in name", name.value))
                    .label(name.span, "templates already know this name")
                    .hint(format!("write `{key}: {}_result`, for instance", name.value)),
            );
        }
    }

    /// A step without `output` gives its result its own name; a built-in one
    /// stays out of reach.
    pub(super) fn hidden_result(&mut self, name: &Spanned<String>, what: &str) {
        if BUILT_IN.contains(&name.as_str()) {
            let message =
                format!("the result of {what} `{}` cannot be used in templates", name.value);
            self.report.push(
                Diagnostic::warning("built-in-name", message)
                    .label(name.span, "templates already know this name")
                    .hint(format!("add `output: {}_result`, for instance", name.value)),
            );
        }
    }

    fn bad_name(&mut self, name: &Spanned<String>, what: &str, rule: &str, dashes: bool) {
        let diagnostic =
            Diagnostic::error("bad-name", format!("{} cannot be the name of {what}", quote(name)))
                .label(name.span, format!("expected {rule}"));
        self.report.push(match nearest_name(name, dashes) {
            Some(better) => diagnostic.hint(format!("write `{better}`")).fix(name.span, better),
            None => diagnostic,
        });
    }

    /// Reports every name that was there before.
    pub(super) fn unique<'a>(
        &mut self,
        names: impl IntoIterator<Item = (&'a str, Span)>,
        code: &'static str,
        what: &str,
    ) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for (name, span) in names {
            if let Some(first) = seen.get(name) {
                self.report.push(
                    Diagnostic::error(code, format!("{what} {} is there twice", quote(name)))
                        .label(span, "again here")
                        .label(*first, "first here"),
                );
            } else {
                seen.insert(name, span);
            }
        }
    }

    /// Warns of characters that a person would not see as they are.
    pub(super) fn shown(&mut self, text: &Spanned<String>, what: &str) {
        if let Some(hidden) = first_hidden(text) {
            let code = u32::from(hidden);
            let message = format!("{what} holds the invisible character U+{code:04X}");
            self.report.push(
                Diagnostic::warning("hidden-characters", message)
                    .label(text.span, format!("it will be shown as `\\u{{{code:x}}}`")),
            );
        }
    }

    /// Reports text that says nothing; true if it says something.
    pub(super) fn not_empty(&mut self, text: &Spanned<String>, what: &str) -> bool {
        let empty = text.trim().is_empty();
        if empty {
            self.report.push(
                Diagnostic::error("empty-text", format!("{what} is empty")).label(text.span, ""),
            );
        }
        !empty
    }
}
