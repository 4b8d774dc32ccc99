//! Stopping: cancelling, pausing, and winding down within a budget.

use jiff::Timestamp;

use crate::error_code::ErrorCode;
use crate::event::{
    BadOutcome, CancelReason, Event, EventKind, PauseReason, RunEnd, StepFailed, Stopping,
    WindDownReason, WindingDown,
};
use crate::flow::Target;
use crate::journal::StepStatus;
use crate::question::Question;
use crate::text::World;

use super::finish::failed;
use super::run::{Machine, after};

impl Machine {
    pub(super) fn cancel(
        &mut self,
        step: Option<String>,
        by: String,
        reason: Option<&str>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let message = Some(self.secrets.mask(&cancel_message(&by, reason)));
        let (why, by, state) = (CancelReason::Cancelled, Some(by), None);
        self.end_run(RunEnd::Cancelled { why, by, message, step, state }, world, events);
        self.advance(world, events);
    }

    /// Records that the running step is to be ended. The first cancel counts;
    /// an interrupt gives way to a cancel.
    pub(super) fn stop(&mut self, why: Stopping, world: &World, events: &mut Vec<Event>) {
        let replaces = match (&self.state.stopping, &why) {
            (None, _) => true,
            (Some(Stopping::Interrupted { .. }), Stopping::Cancelled { .. }) => true,
            (Some(_), _) => false,
        };
        if replaces {
            self.emit(EventKind::SkillStopping(why), world, events);
        }
    }

    pub(super) fn pause(
        &mut self,
        why: PauseReason,
        message: Option<String>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        if self.state.paused.is_none() {
            let message = message.map(|message| self.secrets.mask(&message));
            self.emit(EventKind::SkillPaused { why, message, duration_ms: None }, world, events);
        }
    }

    /// Cancels while a question is open: the clean-up of its step is due. If not `winds_down`, the
    /// rest of `finally` follows: the person who cancels the run around this one knows that the
    /// step was cut off.
    pub(super) fn cancel_question(
        &mut self,
        question: &Question,
        by: &str,
        reason: Option<&str>,
        winds_down: bool,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let (id, applied) = (question.id.clone(), None);
        let closed = EventKind::ConfirmationExpired { question: id, applied, withdrawn: true };
        self.emit(closed, world, events);
        let (step, execution) = (question.step.clone(), self.execution_of(question));
        let failed = match winds_down {
            true => self.cancelled_step(step, execution, by, reason, world.now),
            false => self.stopped_step(step, execution, by, reason),
        };
        self.emit(EventKind::StepFailed(Box::new(failed)), world, events);
        self.advance(world, events);
    }

    /// Whether nobody knows what became of a step.
    pub fn is_in_doubt(&self, step: &str) -> bool {
        let status = self.state.steps.get(step).map(|record| record.status);
        matches!(status, Some(StepStatus::Unknown | StepStatus::Interrupted))
    }

    /// Ends a run that had been cancelled when its driver died, after the step
    /// that was lost with it.
    pub(super) fn cancel_lost(
        &mut self,
        by: &str,
        reason: Option<&str>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let step = self.state.current.clone();
        match step.clone().filter(|step| self.cleans_up(step)) {
            Some(step) => {
                let failed = self.cancelled_step(step, 0, by, reason, world.now);
                self.emit(EventKind::StepFailed(Box::new(failed)), world, events);
            }
            None => self.cancel(step, by.to_owned(), reason, world, events),
        }
    }

    /// The end of the step in which the run was cancelled.
    pub(super) fn cancelled_step(
        &self,
        step: String,
        execution: u32,
        by: &str,
        reason: Option<&str>,
        now: Timestamp,
    ) -> StepFailed {
        let winding = WindingDown {
            why: WindDownReason::Cancelled,
            until: after(now, self.flow.skill.cleanup),
            by: Some(by.to_owned()),
            reason: reason.map(|reason| self.secrets.mask(reason)),
        };
        StepFailed {
            // The budget for clean-up is spent once.
            winding_down: Some(self.state.winding_down.clone().unwrap_or(winding)),
            ..self.stopped_step(step, execution, by, reason)
        }
    }

    /// Who cancelled the run, and why, while its running step is being ended.
    pub fn cancelled_by(&self) -> Option<(String, Option<String>)> {
        match &self.state.stopping {
            Some(Stopping::Cancelled { by, reason }) => Some((by.clone(), reason.clone())),
            Some(Stopping::Interrupted { .. }) | None => None,
        }
    }

    /// The end of a step that is nested or had not begun, whose run is cancelled
    /// while no process drives it; or of one in doubt, if a run around it is cancelled.
    pub(super) fn stopped_step(
        &self,
        step: String,
        execution: u32,
        by: &str,
        reason: Option<&str>,
    ) -> StepFailed {
        StepFailed {
            code: Some(ErrorCode::Cancelled),
            message: self.secrets.mask(&cancel_message(by, reason)),
            ..failed(step, execution, BadOutcome::Cancelled)
        }
    }

    /// Whether something is to be done when the run is cancelled in this step.
    pub(super) fn cleans_up(&self, step: &str) -> bool {
        // A step is not a clean-up of itself: its outcome may be in doubt.
        let target = self.node(step).and_then(|(id, node)| {
            node.routes.cancelled.filter(|target| *target != Target::Step(id))
        });
        !self.is_alone() && target.is_some() || self.has_finally_ahead()
    }

    /// The run's own limit is up and nothing winds it down yet.
    pub(super) fn run_expired(&self, now: Timestamp) -> Option<WindingDown> {
        let deadline = self.state.started.deadline?;
        if now >= deadline { self.begin_winding_down(now) } else { None }
    }

    /// Winds the run down for want of time, unless it is being wound down.
    pub(super) fn begin_winding_down(&self, now: Timestamp) -> Option<WindingDown> {
        match (&self.state.winding_down, &self.state.finally) {
            (Some(_), _) | (_, Some(_)) => None,
            (None, None) => Some(WindingDown {
                why: WindDownReason::RunTimeout,
                until: after(now, self.flow.skill.cleanup),
                by: None,
                reason: None,
            }),
        }
    }
}

pub(super) fn cancel_message(by: &str, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("cancelled by {by}: {reason}"),
        None => format!("cancelled by {by}"),
    }
}
