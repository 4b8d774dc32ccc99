//! The name of a run's `concurrency`, and whether the run holds it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::RunId;

/// A name that one run at a time can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The name.
    pub name: String,
    /// The run has it.
    pub held: bool,
    /// It waits for it.
    pub waiting: Option<Waiting>,
}

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The run that has to end first.
    pub holder: RunId,
    /// How many runs wait in front of this one.
    pub ahead: u32,
    /// Since when.
    pub since: Timestamp,
}

/// Why a run does not get its name yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// The run that has to end first.
    pub holder: RunId,
    /// How many runs wait in front of this one.
    pub ahead: u32,
}

impl Claim {
    /// A name that the run does not have yet.
    pub(crate) fn new(name: String) -> Self {
        Self { name, held: false, waiting: None }
    }

    pub(crate) fn acquire(&mut self) {
        self.held = true;
        self.waiting = None;
    }

    pub(crate) fn wait(&mut self, holder: RunId, ahead: u32, at: Timestamp) {
        let since = self.waiting.as_ref().map_or(at, |waiting| waiting.since);
        self.waiting = Some(Waiting { holder, ahead, since });
    }

    /// The run is over: the name is free.
    pub(crate) fn release(&mut self) {
        self.held = false;
        self.waiting = None;
    }

    /// Whether the run waits, and says so with these words.
    pub(crate) fn is_blocked_by(&self, blocked: &Blocked) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| {
            waiting.holder == blocked.holder && waiting.ahead == blocked.ahead
        })
    }
}
