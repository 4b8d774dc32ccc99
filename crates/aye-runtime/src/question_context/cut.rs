//! Texts for others: secrets masked first, then cut to a length, and harmless.

use std::io::{self, Write};

use aye_core::secrets::{Secrets, is_secret};
use serde_json::Value;

use crate::fmt::escape_control_lines;

use super::budget::char_size;

/// What stands where something was cut.
const ELLIPSIS: char = '…';
/// More of a text is not looked at: no cut reaches as far.
const WINDOW: usize = 8 * 1024;

/// Hides secrets, however long the texts are that hold them.
pub struct Redactor<'a> {
    secrets: Option<&'a Secrets>,
    /// The bytes of the longest of them.
    longest: usize,
}

impl<'a> Redactor<'a> {
    /// Hides these. A reader of the journal knows none and needs none.
    pub fn new(secrets: Option<&'a Secrets>) -> Self {
        let longest = secrets.and_then(|all| all.values().map(str::len).max()).unwrap_or(0);
        Self { secrets, longest }
    }

    /// The whole of a text, as far as anyone reads.
    pub fn whole(&self, text: &str) -> String {
        self.start(text, usize::MAX, usize::MAX)
    }

    /// Whether there is something in a text that must not be shown.
    pub fn hides(&self, text: &str) -> bool {
        self.mask(text) != text
    }

    /// The beginning of a text: at most so many characters, and so many bytes
    /// inside the quotes of JSON.
    pub fn start(&self, text: &str, chars: usize, bytes: usize) -> String {
        let (seen, cut) = match text.len() > self.window() {
            false => (self.mask(text), false),
            true => {
                let seen = &text[..floor(text, self.window())];
                let mut masked = self.mask(seen);
                // The first part of a secret that continues behind the window.
                masked.truncate(floor(&masked, masked.len().saturating_sub(self.longest)));
                (masked, true)
            }
        };
        let seen = escape_control_lines(&seen);
        match kept(&seen.chars(), chars, bytes, cut) {
            None => seen,
            Some(count) => seen.chars().take(count).chain([ELLIPSIS]).collect(),
        }
    }

    /// The end of a text, with the same limits.
    pub fn end(&self, text: &str, chars: usize, bytes: usize) -> String {
        let (seen, cut) = match text.len() > self.window() {
            false => (self.mask(text), false),
            true => {
                let masked = self.mask(&text[ceil(text, text.len() - self.window())..]);
                let from = ceil(&masked, self.longest.min(masked.len()));
                (masked[from..].to_owned(), true)
            }
        };
        let seen = escape_control_lines(&seen);
        match kept(&seen.chars().rev(), chars, bytes, cut) {
            None => seen,
            Some(count) => {
                let skipped = seen.chars().count() - count;
                [ELLIPSIS].into_iter().chain(seen.chars().skip(skipped)).collect()
            }
        }
    }

    /// A value; one that is too long becomes the beginning of its text, because
    /// half a list is another list.
    pub fn value(&self, value: &Value, chars: usize) -> Value {
        match value {
            Value::Array(_) | Value::Object(_) if !is_secret(value) => {
                let is_long = |text: &str| text.chars().count() > chars;
                let written = self.beginning(value);
                if is_long(&written) {
                    return self.start(&written, chars, chars * 4).into();
                }
                let shown = self.masked(value);
                let written = shown.to_string();
                match is_long(&written) {
                    true => self.start(&written, chars, chars * 4).into(),
                    false => shown,
                }
            }
            Value::String(text) => self.start(text, chars, chars * 4).into(),
            other => self.masked(other),
        }
    }

    /// As much of a value's text as a reader will look at.
    fn beginning(&self, value: &Value) -> String {
        let mut budget = Bounded { bytes: Vec::new(), most: self.window() + 1 };
        // Stopped where it is long enough: that is not an error.
        let _ = serde_json::to_writer(&mut budget, value);
        String::from_utf8_lossy(&budget.bytes).into_owned()
    }

    fn window(&self) -> usize {
        WINDOW + 2 * self.longest
    }

    fn mask(&self, text: &str) -> String {
        self.secrets.map_or_else(|| text.to_owned(), |secrets| secrets.mask(text))
    }

    /// The whole value, with what is secret in it masked and every text made
    /// harmless.
    pub fn masked(&self, value: &Value) -> Value {
        if is_secret(value) {
            return Value::from("***");
        }
        match value {
            Value::String(text) => escape_control_lines(&self.mask(text)).into(),
            Value::Array(items) => items.iter().map(|item| self.masked(item)).collect(),
            Value::Object(map) => {
                let name = |name: &str| escape_control_lines(&self.mask(name));
                map.iter().map(|(key, item)| (name(key), self.masked(item))).collect()
            }
            // A number can be a secret too.
            other => {
                self.secrets.map_or_else(|| other.clone(), |secrets| secrets.mask_value(other))
            }
        }
    }
}

/// How many characters stay, with room for the ellipsis; `None` keeps all.
fn kept(
    text: &(impl Iterator<Item = char> + Clone),
    chars: usize,
    bytes: usize,
    cut: bool,
) -> Option<usize> {
    let count = |chars: usize, bytes: usize| {
        let mut used = 0;
        let fits = |c: &char| {
            used += char_size(*c);
            used <= bytes
        };
        text.clone().take(chars).take_while(fits).count()
    };
    let all = count(chars, bytes);
    if !cut && text.clone().nth(all).is_none() {
        return None;
    }
    Some(count(chars.saturating_sub(1), bytes.saturating_sub(ELLIPSIS.len_utf8())))
}

/// The last place before `at` where the text can be cut.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first place from `at` on where the text can be cut.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Takes so many bytes and no more.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.most - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        match taken {
            0 if !bytes.is_empty() => Err(io::Error::other("long enough")),
            taken => Ok(taken),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
