//! What is wrong with a file, where, and what to write instead.
//!
//! Anyone who finds a problem makes a [`Diagnostic`] with byte spans; only the
//! last step, [`render()`] for people or [`to_json`] for programs, needs the
//! [`Source`] the spans point into. Text from a file never reaches a terminal
//! unescaped: see [`visible()`].
//!
//! Touches nothing. `aye check`, editors and assistants show the result.

mod allow;
mod fix;
mod json;
mod render;
mod source;
mod suggest;
mod visible;

use crate::span::Span;
use crate::word_enum;

pub use allow::without_allowed;
pub(crate) use fix::within;
pub use fix::{Edit, Fix, Unit};
pub use json::{JsonDiagnostic, JsonLabel, to_json};
pub use render::{render, render_within};
pub use source::{Position, Source};
pub use suggest::{did_you_mean, quote, quote_list, surely_meant};
pub use visible::{first_hidden, is_hidden, visible};

word_enum! {
    /// How bad it is.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// The file cannot be used.
        Error = "error",
        /// The file can be used, but probably does not mean what it says.
        Warning = "warning",
    }
}

/// One problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable word to look it up by, such as `unknown-key`.
    pub code: &'static str,
    /// One sentence, lower case, values in backticks.
    pub message: String,
    /// Places with a short remark each; the first is the one it is about.
    pub labels: Vec<(Span, String)>,
    /// What to write instead.
    pub hint: Option<String>,
    /// Changes that put it right; one of them is enough.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message.into())
    }

    /// A warning without a place yet.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message.into())
    }

    fn new(severity: Severity, code: &'static str, message: String) -> Self {
        Self { severity, code, message, labels: Vec::new(), hint: None, fixes: Vec::new() }
    }

    /// Adds a place; the first one added is the one the message is about.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hint = Some(text.into());
        self
    }

    /// Adds a hint, if there is one.
    #[must_use]
    pub fn hint_if(mut self, text: Option<impl Into<String>>) -> Self {
        self.hint = text.map(Into::into).or(self.hint);
        self
    }

    /// Adds a change that certainly puts it right, if there is a place for it.
    #[must_use]
    pub fn fix(mut self, span: impl Into<Option<Span>>, text: impl Into<String>) -> Self {
        self.fixes.extend(span.into().map(|span| Fix::one(span, text.into(), None)));
        self
    }

    /// Adds a change in several places that certainly puts it right, if there is one.
    #[must_use]
    pub fn fix_all(mut self, edits: impl Into<Option<Vec<Edit>>>) -> Self {
        self.fixes.extend(edits.into().map(|edits| Fix { edits, unit: None }));
        self
    }

    /// Adds a change that puts it right if numbers are meant in this unit.
    #[must_use]
    pub fn fix_in(mut self, unit: Unit, span: Span, text: impl Into<String>) -> Self {
        self.fixes.push(Fix::one(span, text.into(), Some(unit)));
        self
    }

    /// Whether the file cannot be used because of this.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The place it is about; the start of the file if it has none.
    pub fn span(&self) -> Span {
        self.labels.first().map(|(span, _)| *span).unwrap_or_default()
    }
}

/// Sorts by place, errors before warnings at the same place.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| (d.span().start, d.severity, d.span().end));
}

/// The closing line: `2 errors, 1 warning`. `None` if there is nothing to say.
pub fn summary<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Option<String> {
    let (mut errors, mut warnings) = (0, 0);
    for diagnostic in diagnostics {
        match diagnostic.severity {
            Severity::Error => errors += 1,
            Severity::Warning => warnings += 1,
        }
    }
    let parts: Vec<String> = [(errors, "error"), (warnings, "warning")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}{}", if count == 1 { "" } else { "s" }))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
