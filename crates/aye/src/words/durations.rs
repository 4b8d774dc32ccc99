//! How long something took.

use std::time::Duration;

use aye_core::journal::StepRecord;
use aye_core::step_kind::StepKind;
use aye_runtime::clock::ms_between;

/// How long a step took, as far as it is known.
pub fn took(step: &StepRecord) -> Option<Duration> {
    let ms = match (step.duration_ms, step.started, step.ended) {
        (Some(ms), _, _) => ms,
        // Nobody knows how long a program took whose end nobody saw.
        (None, _, _) if matches!(step.kind, Some(StepKind::Command | StepKind::Shell)) => {
            return None;
        }
        (None, Some(started), Some(ended)) => ms_between(started, ended),
        (None, _, _) => return None,
    };
    Some(Duration::from_millis(ms))
}
