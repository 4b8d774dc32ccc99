//! Whether a value may be given to an input.

use serde_json::Value;

use super::{InputSpec, InputType};
use crate::diagnostic::{quote, quote_list};
use crate::pattern::{BadPattern, Work};
use crate::value::{as_text, kind_in_words};

/// Why a value does not fit an input. Reads on from "the value of `x` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputMismatch {
    /// Not of the input's type.
    #[error("must be {}, not {found}", .expected.words())]
    Type {
        /// The input's type.
        expected: InputType,
        /// What the value is, in words.
        found: &'static str,
    },
    /// Not one of the values allowed.
    #[error("must be {allowed}")]
    Enum {
        /// The values, in words.
        allowed: String,
    },
    /// Not what `match` asks for.
    #[error("does not match {}", quote(.pattern))]
    Pattern {
        /// The regular expression.
        pattern: String,
    },
}

impl InputType {
    /// The type in words, with its article.
    pub fn words(self) -> &'static str {
        match self {
            Self::String | Self::Secret => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "`true` or `false`",
            Self::Array => "a list",
            Self::Object => "a mapping",
        }
    }

    pub(super) fn holds(self, value: &Value) -> bool {
        match self {
            Self::String | Self::Secret => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

impl InputSpec {
    /// Whether someone has to give it.
    pub fn has_to_be_given(&self) -> bool {
        self.required && self.default.is_none() && self.from.is_none()
    }

    /// Whether a value, templates resolved, may be given to this input.
    pub fn check(&self, value: &Value) -> Result<(), InputMismatch> {
        self.check_with(&mut Work::default(), value)
    }

    pub(super) fn check_with(&self, work: &mut Work, value: &Value) -> Result<(), InputMismatch> {
        if !self.kind.holds(value) {
            return Err(InputMismatch::Type { expected: self.kind, found: kind_in_words(value) });
        }
        if !self.choices.is_empty() && !self.choices.contains(value) {
            let shown: Vec<String> = self.choices.iter().map(as_text).collect();
            let allowed = quote_list(shown.iter().map(String::as_str), "or");
            return Err(InputMismatch::Enum { allowed });
        }
        match (&self.pattern, value.as_str()) {
            (Some(pattern), Some(text)) => match work.is_match(pattern, text) {
                Ok(false) | Err(BadPattern::TooMuch) => {
                    Err(InputMismatch::Pattern { pattern: pattern.value.clone() })
                }
                // One that does not compile was an error of the file.
                Ok(true) | Err(BadPattern::Invalid(_)) => Ok(()),
            },
            (Some(_), None) | (None, _) => Ok(()),
        }
    }
}
