//! Stopping: cancelling, pausing, and winding down within a budget.

use jiff::Timestamp;

use crate::event::{CancelReason, Event, Fact, PauseReason, WindDownReason, WindingDown};
use crate::text::World;

use super::run::{Machine, after};

/// Why the running step is to be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stopping {
    /// Somebody cancelled the run.
    Cancel { by: String, reason: Option<String> },
    /// Aye was told to stop.
    Interrupt { signal: String },
}

impl Machine {
    pub(super) fn cancel(
        &mut self,
        step: Option<String>,
        by: String,
        reason: Option<&str>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        self.emit(
            Fact::SkillCancelled {
                why: CancelReason::Cancelled,
                message: Some(cancel_message(&by, reason)),
                by: Some(by),
                step,
            },
            world,
            events,
        );
    }

    pub(super) fn pause(
        &mut self,
        why: PauseReason,
        message: Option<String>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        self.attached = false;
        if self.state.paused.is_none() {
            self.emit(Fact::SkillPaused { why, message }, world, events);
        }
    }

    /// The run's own limit is up and nothing winds it down yet.
    pub(super) fn run_expired(&self, now: Timestamp) -> Option<WindingDown> {
        if self.state.winding_down.is_some() {
            return None;
        }
        let deadline = self.state.started.deadline?;
        (now >= deadline).then(|| self.wind_down(WindDownReason::RunTimeout, None, now))
    }

    pub(super) fn wind_down(
        &self,
        why: WindDownReason,
        by: Option<String>,
        now: Timestamp,
    ) -> WindingDown {
        match &self.state.winding_down {
            // The budget is spent once.
            Some(winding) => winding.clone(),
            None => WindingDown { why, until: after(now, self.flow.skill.cleanup), by },
        }
    }
}

pub(super) fn cancel_message(by: &str, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("cancelled by {by}: {reason}"),
        None => format!("cancelled by {by}"),
    }
}
