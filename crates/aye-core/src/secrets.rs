//! Values that must not be written down.
//!
//! `forms` has the encodings in which a secret may appear. Touches nothing; output, journal and
//! messages are masked with it.

mod cuts;
mod escapes;
mod forms;
mod names;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use forms::forms;
pub use names::names_secret;

/// What stands in the place of a text that must not be shown.
pub(crate) const HIDDEN: &str = "***";

/// From so many characters on, what a variable with the name of a secret holds is one.
const FROM_NAME: usize = 8;

/// What stands in a journal in place of a secret.
pub fn secret_marker() -> Value {
    json!({ "$secret": true })
}

/// Whether a value is the marker of a secret.
pub fn is_secret(value: &Value) -> bool {
    value.get("$secret").is_some_and(|marker| marker == true)
}

/// A text that a secret may have a part in, as it may be written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// As it is.
    Plain(String),
    /// It touches a secret and has not been rendered.
    Secret(Unrendered),
}

/// What stands in the place of a text that touches a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unrendered {
    #[serde(rename = "$secret")]
    secret: bool,
}

impl Text {
    /// A text that touches a secret.
    pub(crate) fn secret() -> Self {
        Self::Secret(Unrendered { secret: true })
    }

    /// The text, if it may be shown.
    pub fn plain(self) -> Option<String> {
        match self {
            Self::Plain(text) => Some(text),
            Self::Secret(_) => None,
        }
    }
}

/// The secrets of a run; they live in memory only. A host that restores a
/// machine before every input gives it those that the last one ended with.
///
/// Inputs and answers are kept apart because `inputs.token` and the result
/// `token` of a step are two names. A value that was replaced is still masked.
#[derive(Clone, Default, PartialEq)]
pub struct Secrets {
    inputs: IndexMap<String, String>,
    answers: IndexMap<String, String>,
    /// Inputs that a secret is only a part of: all of them is hidden.
    mixed: IndexSet<String>,
    replaced: Vec<String>,
    /// What only the names of variables say is secret.
    named: Vec<String>,
    /// Results that held a secret, as they were.
    revealed: IndexMap<String, Value>,
    /// Every form of all of them, the longest first.
    forms: Vec<String>,
}

impl Secrets {
    /// Keeps a secret input.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let value = value.into();
        self.learn(&value);
        let replaced = self.inputs.insert(name.into(), value);
        self.replaced.extend(replaced);
    }

    /// The secret input of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.inputs.get(name).map(String::as_str)
    }

    /// Keeps a secret answer under the name of its step's result.
    pub fn insert_answer(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let value = value.into();
        self.learn(&value);
        let replaced = self.answers.insert(name.into(), value);
        self.replaced.extend(replaced);
    }

    /// The secret answer behind the result of this name.
    pub fn answer(&self, name: &str) -> Option<&str> {
        self.answers.get(name).map(String::as_str)
    }

    /// Keeps a result that held a secret as it was: later steps get it, nobody
    /// else does.
    pub(crate) fn reveal(&mut self, name: impl Into<String>, value: Value) {
        self.revealed.insert(name.into(), value);
    }

    /// A result that held a secret, as it was.
    pub(crate) fn revealed(&self, name: &str) -> Option<&Value> {
        self.revealed.get(name)
    }

    /// Masks the secrets of another run too.
    pub fn mask_also(&mut self, other: &Self) {
        let theirs = other.inputs.values().chain(other.answers.values()).chain(&other.replaced);
        for value in theirs {
            self.learn(value);
            self.replaced.push(value.clone());
        }
        for value in &other.named {
            self.learn(value);
            self.named.push(value.clone());
        }
    }

    /// Masks from now on what a variable of the environment holds whose name says that it is a
    /// secret.
    pub(crate) fn learn_env(&mut self, value: &str) {
        self.learn(value);
        self.replaced.push(value.to_owned());
    }

    /// Masks from now on what a step puts into a variable whose name says that it is a secret,
    /// although nothing else does.
    pub(crate) fn learn_named(&mut self, value: &str) {
        self.learn(value);
        self.named.push(value.to_owned());
    }

    /// Those that are secret for another reason than the name of a variable; nothing if that is
    /// all of them.
    pub(crate) fn without_named(&self) -> Option<Self> {
        if self.named.is_empty() {
            return None;
        }
        let mut others = Self { named: Vec::new(), forms: Vec::new(), ..self.clone() };
        for value in self.inputs.values().chain(self.answers.values()).chain(&self.replaced) {
            others.learn(value);
        }
        Some(others)
    }

    /// Whether the name of a variable says that its value is a secret, and that
    /// is not known yet.
    pub(crate) fn is_news(&self, name: &str, value: &str) -> bool {
        is_named_secret(name, value) && !self.forms.iter().any(|known| known == value.trim())
    }

    /// Takes inputs as they may be written down. One that holds a secret, such
    /// as an address with a token in it, becomes a secret itself.
    pub fn hide(&mut self, inputs: IndexMap<String, Value>) -> IndexMap<String, Value> {
        let mut hidden = IndexMap::new();
        for (name, value) in inputs {
            let masked = self.mask_value(&value);
            let value = match (self.get(&name), value) {
                (Some(_), _) => secret_marker(),
                (None, Value::String(text)) if masked != text => {
                    if masked != HIDDEN {
                        self.mixed.insert(name.clone());
                    }
                    self.insert(name.clone(), text);
                    secret_marker()
                }
                (None, _) => masked,
            };
            hidden.insert(name, value);
        }
        hidden
    }

    /// The inputs that a secret is only a part of: what else they say is hidden with it.
    pub(crate) fn mixed(&self) -> impl Iterator<Item = &str> {
        self.mixed.iter().map(String::as_str)
    }

    /// Others of the same names. What comes out differently with them depends
    /// on a secret.
    pub(crate) fn disguised(&self) -> Self {
        let other = |value: &String| "*".repeat(value.chars().count() + 1);
        let others = |values: &IndexMap<String, String>| {
            values.iter().map(|(name, value)| (name.clone(), other(value))).collect()
        };
        let (inputs, answers) = (others(&self.inputs), others(&self.answers));
        Self { inputs, answers, ..Self::default() }
    }

    fn learn(&mut self, value: &str) {
        self.forms.extend(forms(value));
        // Longest first, so that one secret inside another leaves nothing.
        self.forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.forms.dedup();
    }

    /// All of them in every form in which they may show, the longest first.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().map(String::as_str)
    }

    /// Whether there is nothing to mask.
    pub(super) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The text with every secret in it replaced by `***`, also where an escape
    /// sequence or the end of a line cuts it, and what a shortened text has left of one.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for value in self.values() {
            if masked.contains(value) {
                masked = masked.replace(value, HIDDEN);
            }
        }
        if self.is_empty() {
            return masked;
        }
        if escapes::has_hidden(&masked) {
            masked = escapes::mask_shown(&masked, &self.forms);
        }
        if escapes::has_lines(&masked) {
            masked = escapes::mask_over_lines(&masked, &self.forms);
        }
        cuts::mask_beside_cuts(&masked, &self.forms).unwrap_or(masked)
    }

    /// A value with every secret inside it masked.
    pub fn mask_value(&self, value: &Value) -> Value {
        if self.is_empty() {
            return value.clone();
        }
        match value {
            Value::String(text) => Value::String(self.mask(text)),
            // A secret made of digits is read as a number where data is read.
            Value::Number(number) => {
                let text = number.to_string();
                let masked = self.mask(&text);
                if masked == text { value.clone() } else { Value::String(masked) }
            }
            Value::Array(items) => items.iter().map(|item| self.mask_value(item)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, item)| (self.mask(key), self.mask_value(item)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }
}

fn is_named_secret(name: &str, value: &str) -> bool {
    value.chars().count() >= FROM_NAME && names_secret(name)
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.inputs.keys().chain(self.answers.keys())).finish()
    }
}
