//! Values that must not be written down.

use indexmap::IndexMap;
use serde_json::{Value, json};

/// What stands in a journal in place of a secret.
pub fn secret_marker() -> Value {
    json!({ "$secret": true })
}

/// Whether a value is the marker of a secret.
pub fn is_secret(value: &Value) -> bool {
    value.get("$secret").is_some_and(|marker| marker == true)
}

/// The secrets of a run, by name; they live in memory only.
#[derive(Clone, Default, PartialEq)]
pub struct Secrets(IndexMap<String, String>);

impl Secrets {
    /// Keeps one.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// The secret of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The text with every secret in it replaced by `***`.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        // Longest first, so that one secret inside another leaves nothing.
        let mut values: Vec<&String> = self.0.values().filter(|v| !v.is_empty()).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        for value in values {
            if masked.contains(value.as_str()) {
                masked = masked.replace(value.as_str(), "***");
            }
        }
        masked
    }

    /// A value with every secret inside its strings masked.
    pub fn mask_value(&self, value: &Value) -> Value {
        if self.0.is_empty() {
            return value.clone();
        }
        match value {
            Value::String(text) => Value::String(self.mask(text)),
            Value::Array(items) => items.iter().map(|item| self.mask_value(item)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, item)| (key.clone(), self.mask_value(item)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
