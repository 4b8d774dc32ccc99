//! The outside as it was when someone was asked.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use serde_json::Value;

use super::scope::{Expressions, Names, RemoteScope};

/// Names of the outside with what they stood for; `null` for nothing.
pub(crate) type Outside = IndexMap<String, Value>;

/// Looks names up and notes what they stand for.
pub(crate) struct Recorder {
    inner: Arc<dyn Names>,
    seen: Mutex<Outside>,
}

impl Recorder {
    pub(crate) fn new(inner: Arc<dyn Names>) -> Self {
        Self { inner, seen: Mutex::default() }
    }

    /// What was looked up so far.
    pub(crate) fn seen(&self) -> Outside {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, name: String, value: Option<Value>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(name, value.unwrap_or_default());
    }
}

impl Names for Recorder {
    fn env(&self, name: &str) -> Option<String> {
        let value = self.inner.env(name);
        self.note(format!("env.{name}"), value.clone().map(Value::String));
        value
    }

    fn look_up(&self, name: &str) -> Option<Value> {
        let value = self.inner.look_up(name);
        self.note(name.to_owned(), value.clone());
        value
    }

    fn expressions(&self) -> Option<&dyn Expressions> {
        self.inner.expressions()
    }

    fn remote_scope(&self) -> Option<&dyn RemoteScope> {
        self.inner.remote_scope()
    }

    fn unfrozen(&self) -> Option<&dyn Names> {
        self.inner.unfrozen().or(Some(&*self.inner))
    }
}

/// Names that stand for what they stood for; the others are looked up.
pub(crate) struct Frozen {
    pub(crate) inner: Arc<dyn Names>,
    pub(crate) values: Arc<Outside>,
}

impl Names for Frozen {
    fn env(&self, name: &str) -> Option<String> {
        match self.values.get(&format!("env.{name}")) {
            Some(Value::String(value)) => Some(value.clone()),
            Some(_) => None,
            None => self.inner.env(name),
        }
    }

    fn look_up(&self, name: &str) -> Option<Value> {
        match self.values.get(name) {
            Some(Value::Null) => None,
            Some(value) => Some(value.clone()),
            None => self.inner.look_up(name),
        }
    }

    fn expressions(&self) -> Option<&dyn Expressions> {
        self.inner.expressions()
    }

    fn remote_scope(&self) -> Option<&dyn RemoteScope> {
        self.inner.remote_scope()
    }

    fn unfrozen(&self) -> Option<&dyn Names> {
        self.inner.unfrozen().or(Some(&*self.inner))
    }
}
