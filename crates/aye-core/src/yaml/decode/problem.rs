//! What can be wrong with a node, as data.

use std::fmt;

use serde::de::{self, Unexpected};

use crate::diagnostic::{quote, quote_list};
use crate::span::Span;

/// One thing wrong with one node.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Where; filled in on the way out, by the node that knows.
    pub span: Option<Span>,
    /// The key whose value it is.
    pub key: Option<String>,
    /// What.
    pub fault: Fault,
}

/// The ways in which a node may not fit a type.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// A key that the type does not have.
    UnknownKey {
        /// The key as written.
        key: String,
        /// The keys there are, aliases included.
        known: &'static [&'static str],
    },
    /// A key and its alias.
    RepeatedKey {
        /// The key.
        key: &'static str,
    },
    /// A key that is not there.
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// Not the kind of value, or not in range.
    Mismatch {
        /// What is there, in words.
        found: String,
        /// What was wanted, in words.
        expected: String,
    },
    /// Not one of the words there are.
    UnknownWord {
        /// The word as written.
        word: String,
        /// The words there are.
        known: &'static [&'static str],
    },
    /// Anything a type's own decoding may say.
    Other(String),
}

impl Problem {
    pub(super) fn new(fault: Fault) -> Self {
        Self { span: None, key: None, fault }
    }

    /// Adds place and key unless a node further inside did.
    pub(super) fn at(mut self, span: Span, key: Option<&str>) -> Self {
        self.span.get_or_insert(span);
        if self.key.is_none() {
            self.key = key.map(str::to_owned);
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::UnknownKey { key, .. } => write!(f, "unknown key {}", quote(key)),
            Fault::RepeatedKey { key } => write!(f, "`{key}` is given twice"),
            Fault::MissingKey { key } => write!(f, "`{key}` is missing"),
            Fault::Mismatch { found, expected } => write!(f, "expected {expected}, found {found}"),
            Fault::UnknownWord { word, known } => {
                let known = quote_list(known.iter().copied(), "or");
                write!(f, "{} is none of {known}", quote(word))
            }
            Fault::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Fault::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(Fault::Mismatch { found: found_words(found), expected: expected_words(expected) })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        Self::new(Fault::Mismatch {
            found: format!("{length} items"),
            expected: expected_words(expected),
        })
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::new(Fault::UnknownWord { word: word.to_owned(), known })
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(Fault::UnknownKey { key: key.to_owned(), known })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Fault::MissingKey { key })
    }

    fn duplicate_field(key: &'static str) -> Self {
        Self::new(Fault::RepeatedKey { key })
    }
}

fn found_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the number `{value}`"),
        Unexpected::Signed(value) => format!("the number `{value}`"),
        Unexpected::Float(value) => format!("the number `{value}`"),
        Unexpected::Str(text) if text.chars().count() > 40 || text.contains('\n') => {
            "text".to_owned()
        }
        Unexpected::Str(text) => format!("the text {}", quote(text)),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a mapping".to_owned(),
        other => other.to_string(),
    }
}

/// Serde's names of Rust types in the words of this program.
fn expected_words(expected: &dyn de::Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "a string" => "text",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        "a map" => "a mapping",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, zero or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        other => other,
    }
    .to_owned()
}
