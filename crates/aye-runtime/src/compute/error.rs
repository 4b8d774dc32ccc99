//! What went wrong in a block.

use std::fmt;
use std::ops::Range;

use aye_core::secrets::is_secret;
use aye_core::text::Scope;
use serde_json::Value;

use super::block::Block;

/// Why a block gave no result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComputeError {
    /// The exception (`KeyError`, `SyntaxError`, …), or `Limit` for time,
    /// memory and the like, `Result` for a result that is missing or no data,
    /// `Cancelled`.
    pub kind: String,
    /// What happened. It may quote values: mask secrets before it is shown.
    pub message: String,
    /// What to write instead.
    pub hint: Option<Box<str>>,
    /// Where.
    pub place: Option<Box<Place>>,
    /// Names in scope and the types of their values.
    pub names: Vec<(String, String)>,
    /// The names of the inputs and the types of their values.
    pub inputs: Vec<(String, String)>,
}

/// A place in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The skill's file.
    pub file: Option<String>,
    /// The line of the block, from 1.
    pub line: usize,
    /// The line of the file, from 1.
    pub file_line: Option<usize>,
    /// That line.
    pub source: String,
    /// The characters of that line it is about.
    pub columns: Range<usize>,
}

impl ComputeError {
    pub(super) fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), message: message.into(), ..Self::default() }
    }

    /// Says where in the code of the block.
    pub(super) fn at(mut self, block: &Block, bytes: Range<usize>) -> Self {
        let code = &block.code;
        let at = (0..=bytes.start.min(code.len())).rev().find(|at| code.is_char_boundary(*at));
        let at = at.unwrap_or_default();
        let start = code[..at].rfind('\n').map_or(0, |before| before + 1);
        let line = code[..at].matches('\n').count() + 1;
        let text = code[start..].lines().next().unwrap_or_default();
        let column = code[start..at].chars().count();
        let wide = code.get(at..bytes.end).map_or(0, |text| text.chars().count());
        let last = text.chars().count().max(column + 1);
        self.place = Some(Box::new(Place {
            file: block.file.clone(),
            line,
            file_line: (block.line > 0)
                .then(|| if block.one_line { block.line } else { block.line + line - 1 }),
            source: text.to_owned(),
            columns: column..(column + wide.max(1)).min(last),
        }));
        self
    }

    /// Says which names there were.
    pub(super) fn with_names(mut self, scope: &Scope) -> Self {
        let kind = |value: &Value| match is_secret(value) {
            true => "secret",
            false => type_of(value),
        };
        let inputs = scope.inputs.iter();
        self.inputs = inputs.map(|(name, value)| (name.clone(), kind(value).to_owned())).collect();
        let known = |name: String| {
            let value = scope.value(&name)?;
            Some((name, type_of(&value).to_owned()))
        };
        self.names = scope.names_in_scope().into_iter().filter_map(known).collect();
        self
    }

    /// Says which names the block itself had set; they hide those of the run.
    pub(super) fn with_own_names(mut self, own: Vec<(String, String)>) -> Self {
        self.names.retain(|(name, _)| !own.iter().any(|(own, _)| own == name));
        self.names.extend(own);
        self
    }

    /// The error for people: place, line, caret, hint, names in scope.
    pub fn render(&self) -> String {
        let mut text = self.to_string();
        if let Some(place) = &self.place {
            text.push_str(&place.render());
        }
        if let Some(hint) = &self.hint {
            text.push_str(&format!("\nhint: {hint}"));
        }
        if self.kind != "SyntaxError" && !(self.names.is_empty() && self.inputs.is_empty()) {
            text.push_str(&format!("\nin scope: {}", self.in_scope()));
        }
        text
    }

    fn in_scope(&self) -> String {
        let inputs = match self.inputs.as_slice() {
            [] => "inputs (none)".to_owned(),
            inputs => {
                let inputs = inputs.iter().map(|(name, kind)| format!("{name}: {kind}"));
                format!("inputs ({})", inputs.collect::<Vec<_>>().join(", "))
            }
        };
        let names = self.names.iter().map(|(name, kind)| format!("{name} ({kind})"));
        std::iter::once(inputs).chain(names).collect::<Vec<_>>().join(", ")
    }
}

impl Place {
    fn render(&self) -> String {
        let mut text = format!("\n  at line {} of the block", self.line);
        if let (Some(file), Some(line)) = (&self.file, self.file_line) {
            text.push_str(&format!(" ({file}:{line})"));
        }
        let gutter = self.line.to_string();
        let blank = " ".repeat(gutter.len());
        // Tabs stay tabs, so that the caret stands where it should.
        let before = self.source.chars().take(self.columns.start);
        let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let caret = "^".repeat(self.columns.len().max(1));
        text.push_str(&format!("\n  {gutter} | {}\n  {blank} | {indent}{caret}", self.source));
        text
    }
}

impl fmt::Display for ComputeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind.as_str() {
            "Limit" | "Cancelled" | "Result" => f.write_str(&self.message),
            kind if self.message.is_empty() => f.write_str(kind),
            kind => write!(f, "{kind}: {}", self.message),
        }
    }
}

impl std::error::Error for ComputeError {}

/// The type of a value as a block sees it.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "None",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}
