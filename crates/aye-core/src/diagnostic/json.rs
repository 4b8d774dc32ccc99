//! Diagnostics for programs.

use serde::Serialize;

use super::{Diagnostic, Severity, Source};
use crate::span::Span;

/// A diagnostic with places as lines and columns, both from one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JsonDiagnostic {
    /// `error` or `warning`.
    pub severity: Severity,
    /// A stable word to look it up by.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The file, as it was named.
    pub file: String,
    /// Line of the first character.
    pub line: usize,
    /// Column of the first character, in characters.
    pub column: usize,
    /// Line of the end.
    pub end_line: usize,
    /// Column one past the last character.
    pub end_column: usize,
    /// All places with their remarks, the main one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<JsonLabel>,
}

/// One place of a [`JsonDiagnostic`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JsonLabel {
    /// The remark; may be empty.
    pub text: String,
    /// Line of the first character.
    pub line: usize,
    /// Column of the first character, in characters.
    pub column: usize,
    /// Line of the end.
    pub end_line: usize,
    /// Column one past the last character.
    pub end_column: usize,
}

/// The form for programs.
pub fn to_json(diagnostic: &Diagnostic, source: &Source<'_>) -> JsonDiagnostic {
    let main = label(diagnostic.span(), "", source);
    JsonDiagnostic {
        severity: diagnostic.severity,
        code: diagnostic.code,
        message: diagnostic.message.clone(),
        hint: diagnostic.hint.clone(),
        file: source.name.to_owned(),
        line: main.line,
        column: main.column,
        end_line: main.end_line,
        end_column: main.end_column,
        labels: diagnostic.labels.iter().map(|(span, text)| label(*span, text, source)).collect(),
    }
}

fn label(span: Span, text: &str, source: &Source<'_>) -> JsonLabel {
    let (start, end) = (source.position(span.start), source.position(span.end.max(span.start)));
    JsonLabel {
        text: text.to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}
