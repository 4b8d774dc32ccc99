//! The progress of `finally`.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::event::{Finishing, RunEnd};

/// The steps of a run are over, and its `finally` runs or has run.
#[derive(Debug, Clone, PartialEq)]
pub struct Finally {
    /// How the run ends, unless a step of `finally` fails.
    pub end: RunEnd,
    /// When it must be over.
    pub until: Timestamp,
    /// How long it had in all.
    budget: SignedDuration,
    /// Its steps that were entered, in order.
    pub entered: Vec<String>,
}

impl Finally {
    pub(super) fn begin(finishing: &Finishing, at: Timestamp) -> Self {
        let Finishing { end, until } = finishing.clone();
        Self { end, until, budget: until.duration_since(at), entered: Vec::new() }
    }

    /// A step of it is tried again: those after it follow once more.
    pub(super) fn again(&mut self, step: &str, at: Timestamp) {
        let place = self.entered.iter().position(|entered| entered == step);
        self.entered.truncate(place.map_or(0, |place| place + 1));
        self.until = at.checked_add(self.budget).unwrap_or(self.until);
    }

    /// `run.status`, `run.error` and `run.failed_step` in templates.
    pub(crate) fn names(&self) -> Map<String, Value> {
        let names = json!({
            "status": self.end.status(),
            "error": self.end.message().unwrap_or_default(),
            "failed_step": self.end.step().unwrap_or_default(),
        });
        match names {
            Value::Object(names) => names,
            _ => Map::new(),
        }
    }
}
