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

/// Whether something was hidden in a value that was written down, or may have been.
pub(crate) fn may_hide(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(HIDDEN),
        Value::Array(items) => items.iter().any(may_hide),
        Value::Object(map) => {
            is_secret(value) || map.iter().any(|(key, item)| key.contains(HIDDEN) || may_hide(item))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The value with `***` where the marker of a secret stands; nothing if there is none.
pub(crate) fn without_markers(value: &Value) -> Option<Value> {
    match value {
        value if is_secret(value) => Some(HIDDEN.into()),
        Value::Array(items) => {
            let parts: Vec<_> = items.iter().map(without_markers).collect();
            let or_as_it_is = |(part, item): (Option<Value>, &Value)| part.unwrap_or(item.clone());
            let some = parts.iter().any(Option::is_some);
            some.then(|| parts.into_iter().zip(items).map(or_as_it_is).collect())
        }
        Value::Object(map) => {
            let mut map = map.clone();
            let mut some = false;
            for item in map.values_mut() {
                if let Some(part) = without_markers(item) {
                    (*item, some) = (part, true);
                }
            }
            some.then_some(Value::Object(map))
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

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
    /// Lists, mappings and numbers that hold a secret, and inputs that only the name of a variable
    /// hides, as they are.
    data: IndexMap<String, Value>,
    /// Inputs that a secret is only a part of: all of them is hidden.
    mixed: IndexSet<String>,
    /// The values of such inputs, here and in the runs around.
    parts: Vec<String>,
    replaced: Vec<String>,
    /// What only the names of variables say is secret.
    named: Vec<String>,
    /// Results that held a secret, as they were.
    revealed: IndexMap<String, Value>,
    /// What the run gave as a whole, where a secret was in it.
    outputs: IndexMap<String, Value>,
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

    /// The input of this name, if a secret is in it.
    pub(crate) fn input(&self, name: &str) -> Option<Value> {
        let text = || self.get(name).map(Value::from);
        self.data.get(name).cloned().or_else(text)
    }

    /// Whether an input is known that the journal does not have.
    pub fn knows_input(&self, name: &str) -> bool {
        self.inputs.contains_key(name) || self.data.contains_key(name)
    }

    /// Whether a secret is only a part of this value, which is hidden as a whole.
    pub(crate) fn is_part(&self, value: &str) -> bool {
        self.parts.iter().any(|part| part == value)
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

    /// Forgets a result that held a secret: what takes its place is not known.
    pub(crate) fn lose(&mut self, name: &str) {
        self.revealed.shift_remove(name);
    }

    /// Keeps what the run gives as a whole as it is.
    pub(crate) fn reveal_output(&mut self, name: &str, value: Value) {
        self.outputs.insert(name.to_owned(), value);
    }

    /// What the run gave as a whole, as it was.
    pub(crate) fn output(&self, name: &str) -> Option<&Value> {
        self.outputs.get(name)
    }

    /// Those that a run inside this one has: its results are its own.
    pub(crate) fn for_inside(&self) -> Self {
        Self { revealed: IndexMap::new(), outputs: IndexMap::new(), ..self.clone() }
    }

    /// Masks the secrets of another run too.
    pub fn mask_also(&mut self, other: &Self) {
        let theirs = other.inputs.values().chain(other.answers.values()).chain(&other.replaced);
        for value in theirs {
            if !self.others().any(|known| known == value) {
                self.learn(value);
                self.replaced.push(value.clone());
            }
        }
        for value in &other.named {
            if !self.named.contains(value) {
                self.learn(value);
                self.named.push(value.clone());
            }
        }
        for value in &other.parts {
            if !self.parts.contains(value) {
                self.parts.push(value.clone());
            }
        }
    }

    /// All but those that only the names of variables say are secret.
    fn others(&self) -> impl Iterator<Item = &String> {
        self.inputs.values().chain(self.answers.values()).chain(&self.replaced)
    }

    /// The secrets without the values that a secret is only a part of; nothing if there are no
    /// such values.
    pub(crate) fn without_parts(&self) -> Option<Self> {
        if self.parts.is_empty() {
            return None;
        }
        let mut others = Self { forms: Vec::new(), ..self.clone() };
        for value in self.others().chain(&self.named).filter(|value| !self.is_part(value)) {
            others.learn(value);
        }
        Some(others)
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
        for value in self.others() {
            others.learn(value);
        }
        Some(others)
    }

    /// Whether the name of a variable says that its value is a secret, and that
    /// is not known yet.
    pub(crate) fn is_news(&self, name: &str, value: &str) -> bool {
        is_named_secret(name, value) && !self.forms.iter().any(|known| known == value.trim())
    }

    /// Takes inputs as they may be written down. A text that holds a secret, such as an address
    /// with a token in it, becomes a secret itself; other data is kept here as it is.
    pub fn hide(&mut self, inputs: IndexMap<String, Value>) -> IndexMap<String, Value> {
        let mut hidden = IndexMap::new();
        for (name, value) in inputs {
            let masked = self.mask_value(&value);
            let value = match value {
                _ if self.knows_input(&name) => secret_marker(),
                value if masked == value => value,
                value => {
                    self.keep_input(&name, value);
                    secret_marker()
                }
            };
            hidden.insert(name, value);
        }
        hidden
    }

    /// Keeps an input that holds a secret: all of a text is hidden, and of other data what is
    /// secret in it. What only the name of a variable hides is not a secret under another name: a
    /// question shows it.
    pub fn keep_input(&mut self, name: &str, value: Value) {
        let others = self.without_named();
        let is_plain = others.is_some_and(|others| others.mask_value(&value) == value);
        match value {
            value if is_plain => drop(self.data.insert(name.to_owned(), value)),
            Value::String(text) => {
                if self.mask(&text) != HIDDEN {
                    self.mixed.insert(name.to_owned());
                    self.parts.push(text.clone());
                }
                self.insert(name, text);
            }
            value => drop(self.data.insert(name.to_owned(), value)),
        }
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
        let data = self.data.iter().map(|(name, value)| (name.clone(), self.mask_value(value)));
        Self { inputs, answers, data: data.collect(), ..Self::default() }
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
