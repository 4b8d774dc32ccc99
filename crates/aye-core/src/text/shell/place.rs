//! Putting a value in its place.

use std::collections::HashMap;

use crate::error_code::ErrorCode;
use crate::text::TextError;

use super::VALUE_PREFIX;
use super::pieces::{Piece, quote_all};
use super::word::legible;

/// How many variables one script may have.
const MAX_VALUES: usize = 1_000;
/// Linux takes no longer string into a program's environment.
const MAX_VALUE: usize = 128 * 1024 - 32;
/// All of them together: arguments and environment share about 2 MiB.
const MAX_TOTAL: usize = 1024 * 1024;

/// How the place is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Not at all: the value is one word.
    Word,
    /// In double quotes.
    Double,
    /// In single quotes.
    Single,
    /// In a here-document.
    Here,
    /// Where a shell calculates.
    Number,
    /// In a comment.
    Comment,
}

/// A part of the script as it is shown.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Bit {
    Text(String),
    Value(String, Style),
}

impl Bit {
    pub(super) fn show(&self, mask: &impl Fn(&str) -> String) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Value(value, style) => {
                let value = mask(value);
                match style {
                    Style::Word => legible(&value),
                    Style::Double => escape(&value, "\\\"$`"),
                    Style::Single => value.replace('\'', r"'\''"),
                    Style::Here => escape(&value, "\\$`"),
                    Style::Number => value,
                    Style::Comment => value.replace(['\n', '\r'], " "),
                }
            }
        }
    }
}

fn escape(value: &str, special: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.chars() {
        if special.contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// The script as far as it is written.
#[derive(Default)]
pub(super) struct Placed {
    pub(super) text: String,
    pub(super) values: Vec<(String, String)>,
    pub(super) shown: Vec<Bit>,
    /// Equal values share a variable: room in the environment is scarce.
    known: HashMap<String, usize>,
    total: usize,
    /// How many values were placed so far.
    pub(super) count: usize,
}

impl Placed {
    /// A script without values.
    pub(super) fn untouched(pieces: &[Piece]) -> Self {
        let mut placed = Self::default();
        for piece in pieces {
            if let Piece::Text(text) | Piece::Verbatim(text) = piece {
                placed.literal(text);
            }
        }
        placed
    }

    pub(super) fn literal(&mut self, text: &str) {
        self.text.push_str(text);
        self.show(text);
    }

    fn show(&mut self, text: &str) {
        match self.shown.last_mut() {
            Some(Bit::Text(last)) => last.push_str(text),
            Some(Bit::Value(..)) | None => self.shown.push(Bit::Text(text.to_owned())),
        }
    }

    /// Puts a value there, as its place needs it.
    pub(super) fn put(&mut self, piece: &Piece, style: Style) -> Result<(), TextError> {
        self.count += 1;
        match (piece, style) {
            (Piece::Text(text) | Piece::Verbatim(text), _) => self.literal(text),
            (Piece::Value(value), _) => self.put_text(value, style)?,
            // As it stands there, each word is whole already.
            (Piece::Quoted(words), Style::Word) => {
                for (index, word) in words.iter().enumerate() {
                    if index > 0 {
                        self.literal(" ");
                    }
                    self.put_text(word, style)?;
                }
            }
            (Piece::Quoted(words), Style::Number) => self.put_text(&words.join(" "), style)?,
            // Inside quotes it is for the next shell that reads it.
            (Piece::Quoted(words), _) => self.put_text(&quote_all(words), style)?,
        }
        Ok(())
    }

    fn put_text(&mut self, value: &str, style: Style) -> Result<(), TextError> {
        let written = match style {
            Style::Comment => String::new(),
            Style::Number => number(value)?,
            Style::Word => format!("\"${{{}}}\"", self.variable(value)?),
            Style::Double | Style::Here => format!("${{{}}}", self.variable(value)?),
            Style::Single => format!("'\"${{{}}}\"'", self.variable(value)?),
        };
        self.text.push_str(&written);
        let shown = if style == Style::Number { written } else { value.to_owned() };
        self.shown.push(Bit::Value(shown, style));
        Ok(())
    }

    /// The name of the variable that holds this value.
    fn variable(&mut self, value: &str) -> Result<String, TextError> {
        if let Some(index) = self.known.get(value) {
            return Ok(format!("{VALUE_PREFIX}{index}"));
        }
        if value.contains('\0') {
            return Err(TextError {
                code: ErrorCode::InjectionDetected,
                ..TextError::new("a value contains a zero byte, which no shell can hold")
            });
        }
        let index = self.values.len() + 1;
        self.total += value.len() + VALUE_PREFIX.len() + 8;
        let too_much = if index > MAX_VALUES {
            Some(format!("the script uses more than {MAX_VALUES} values"))
        } else if value.len() > MAX_VALUE {
            Some(format!("a value of {} bytes is too long for a script", value.len()))
        } else if self.total > MAX_TOTAL {
            Some("the values of the script are longer than 1 MiB together".to_owned())
        } else {
            None
        };
        if let Some(message) = too_much {
            return Err(TextError {
                code: ErrorCode::ResourceLimit,
                hint: Some("pass the data through `stdin:` or a file".to_owned()),
                ..TextError::new(message)
            });
        }
        let name = format!("{VALUE_PREFIX}{index}");
        self.values.push((name.clone(), value.to_owned()));
        self.known.insert(value.to_owned(), index);
        Ok(name)
    }
}

/// An integer as a shell's arithmetic takes it: bash would run what it finds
/// in anything else.
fn number(value: &str) -> Result<String, TextError> {
    match value.parse::<i64>() {
        // `3--5` would not be a difference.
        Ok(number) if number < 0 => Ok(format!("({number})")),
        Ok(number) => Ok(number.to_string()),
        Err(_) => Err(TextError {
            code: ErrorCode::InjectionDetected,
            hint: Some(
                "shells evaluate what stands there as an expression; only whole numbers may"
                    .to_owned(),
            ),
            ..TextError::new("a value in the script's arithmetic is not an integer")
        }),
    }
}
