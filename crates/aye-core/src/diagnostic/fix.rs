//! Changes that put a file right.

use crate::span::Span;

/// What a number without a unit stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

/// A change that puts right what a diagnostic says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What is replaced.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
    /// Right only if numbers without a unit are meant in this one.
    pub unit: Option<Unit>,
}

impl Fix {
    /// Whether it is certain, numbers being meant in this unit.
    pub fn is_certain(&self, unit: Option<Unit>) -> bool {
        self.unit.is_none() || self.unit == unit
    }

    /// The text with this change made; `None` if it does not fit the text.
    pub fn apply(&self, text: &str) -> Option<String> {
        let (before, after) = (text.get(..self.span.start)?, text.get(self.span.end..)?);
        Some(format!("{before}{}{after}", self.text))
    }
}
