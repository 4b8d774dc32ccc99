//! The progress of `finally`.

use indexmap::IndexMap;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::event::{Finishing, RunEnd};
use crate::journal::record::{StepRecord, StepStatus};

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
    /// The step that went wrong and what it said, where it is not the one at which the
    /// run ended.
    cause: Option<(String, String)>,
}

impl Finally {
    pub(super) fn begin(
        finishing: &Finishing,
        at: Timestamp,
        steps: &IndexMap<String, StepRecord>,
    ) -> Self {
        let Finishing { end, until } = finishing.clone();
        let cause = cause(&end, steps);
        Self { end, until, budget: until.duration_since(at), entered: Vec::new(), cause }
    }

    /// A step of it is tried again: those after it follow once more.
    pub(super) fn again(&mut self, step: &str, at: Timestamp) {
        let place = self.entered.iter().position(|entered| entered == step);
        self.entered.truncate(place.map_or(0, |place| place + 1));
        self.until = at.checked_add(self.budget).unwrap_or(self.until);
    }

    /// `run.status`, `run.error` and `run.failed_step` in templates.
    pub(crate) fn names(&self) -> Map<String, Value> {
        let said = self.end.message().unwrap_or_default();
        let (step, error) = match &self.cause {
            Some((step, why)) => (Some(step.as_str()), format!("{said}; step `{step}`: {why}")),
            None => (self.end.step(), said.to_owned()),
        };
        let names = json!({
            "status": self.end.status(),
            "error": error,
            "failed_step": step.unwrap_or_default(),
        });
        match names {
            Value::Object(names) => names,
            _ => Map::new(),
        }
    }
}

/// The step that went wrong last, where the run ended at one that went well: a
/// transition led from the failure to a clean-up.
fn cause(end: &RunEnd, steps: &IndexMap<String, StepRecord>) -> Option<(String, String)> {
    let at = steps.get(end.step()?)?;
    let went_wrong = |record: &StepRecord| match record.status {
        StepStatus::Failed
        | StepStatus::TimedOut
        | StepStatus::Cancelled
        | StepStatus::Interrupted
        | StepStatus::Unknown => true,
        StepStatus::Waiting | StepStatus::Running | StepStatus::Completed | StepStatus::Skipped => {
            false
        }
    };
    if at.status != StepStatus::Completed {
        return None;
    }
    let wrong = steps.iter().filter(|(_, record)| went_wrong(record));
    let (name, record) = wrong.max_by_key(|(_, record)| record.ended)?;
    let why = record.message.as_deref().unwrap_or(record.status.word());
    Some((name.clone(), why.to_owned()))
}
