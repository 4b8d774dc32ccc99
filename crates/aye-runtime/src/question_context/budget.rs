//! An object of a limited size.

use serde_json::{Map, Value};

/// Fields that together take no more than so many bytes of JSON.
pub(crate) struct Budget {
    fields: Map<String, Value>,
    left: usize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { fields: Map::new(), left: bytes.saturating_sub("{}".len()) }
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Adds a field if there is room for it.
    pub(crate) fn add(&mut self, name: &str, value: Value) {
        // With a colon and a comma.
        let taken = text_size(name) + size(&value) + 2;
        if taken <= self.left {
            self.left -= taken;
            self.fields.insert(name.to_owned(), value);
        }
    }

    pub(crate) fn into_fields(self) -> Map<String, Value> {
        self.fields
    }
}

/// How many bytes of JSON a value takes.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text_size(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string().len(),
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            2 + fields.iter().map(|(name, item)| text_size(name) + size(item) + 2).sum::<usize>()
        }
    }
}

/// The same for a text, with its quotes.
fn text_size(text: &str) -> usize {
    2 + text.chars().map(char_size).sum::<usize>()
}

/// How many bytes of JSON a character takes inside a text.
pub(super) fn char_size(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        c => c.len_utf8(),
    }
}
