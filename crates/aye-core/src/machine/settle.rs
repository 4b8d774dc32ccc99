//! Which way a run takes when a step has ended, and how the run ends.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use crate::error_code::ErrorCode;
use crate::event::{CancelReason, Event, EventKind, FailReason, Range, RunEnd, WindDownReason};
use crate::flow::Route;
use crate::journal::{Phase, Settled, StepOutcome, Transition};
use crate::secrets::may_hide;
use crate::skill::{Action, EndStatus, OnError, Step};
use crate::text::{self, World};

use super::run::Machine;
use super::stop::cancel_message;

impl Machine {
    /// A step ended: which way now?
    pub(super) fn settled(&mut self, settled: Settled, world: &World, events: &mut Vec<Event>) {
        let Settled { step, outcome, answer, last, fix } = settled;
        let in_finally = self.state.finally.is_some();
        // One that was in doubt when a run around this one was cancelled is over; `finally` is not.
        if in_finally && outcome == StepOutcome::Cancelled && last {
            return self.end_finally(None, world, events);
        }
        let Some((id, node)) = self.node(&step) else {
            let message = format!("the skill has no step `{step}`");
            return self.fail_run(
                FailReason::StepFailed,
                &message,
                Some(step),
                None,
                world,
                events,
            );
        };
        let asks = self.asks_about(&node.step, &outcome);
        // What is done about a failure may need a yes, and nobody is asked about one in `finally`.
        let repaired = !in_finally && self.heal(&step, &outcome, world, events)
            || !self.is_cleaning_up() && self.apply_fix(&step, &outcome, fix, world, events);
        if repaired || self.try_again(&step, &outcome, world, events) {
            return;
        }
        let route = match self.is_alone() {
            true => Route::alone(&outcome),
            false => match (in_finally, &outcome) {
                (true, StepOutcome::Cancelled) => {
                    self.flow.route(id, &StepOutcome::Failure(None), None)
                }
                _ => self.flow.route(id, &outcome, answer.as_deref()),
            },
        };
        // What is blocked waits for a person, whatever the skill would do.
        let blocked = asks && self.is_blocked(&step);
        match route {
            _ if blocked => {
                let question = self.pose_failed(&step, world);
                self.emit(EventKind::ConfirmationRequired(Box::new(question)), world, events);
            }
            Route::To(target) => self.go(target, world, events),
            Route::Done => self.finish_well(None, world, events),
            Route::Uncaught if asks => {
                let question = self.pose_failed(&step, world);
                self.emit(EventKind::ConfirmationRequired(Box::new(question)), world, events);
            }
            Route::Uncaught => self.uncaught(step, outcome, last, world, events),
        }
    }

    /// Whether one step is run alone (`--only`), so that nothing follows it.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.state.started.range, Some(Range::Only(_)))
    }

    /// Whether a step was held back because such calls usually fail.
    pub(super) fn is_blocked(&self, step: &str) -> bool {
        let record = self.state.steps.get(step);
        record.is_some_and(|record| record.code == Some(ErrorCode::UsuallyFails))
    }

    /// Whether someone is asked what to do about this end of a step, if
    /// nothing else is done about it.
    fn asks_about(&self, step: &Step, outcome: &StepOutcome) -> bool {
        if self.state.winding_down.is_some() || self.is_cleaning_up() {
            return false;
        }
        let failed = matches!(outcome, StepOutcome::Failure(_) | StepOutcome::Timeout);
        match step.on_error {
            _ if failed && self.is_blocked(&step.name) => true,
            Some(OnError::Ask) => failed || *outcome == StepOutcome::Guarded,
            Some(OnError::Fail | OnError::Continue | OnError::AutoHeal) => false,
            // The person who was asked inside a nested step has decided already.
            None => {
                let someone = self.state.driver.attended && !self.state.yes;
                failed && someone && !step.action.is_nested()
            }
        }
    }

    /// An outcome that nothing catches decides the run.
    fn uncaught(
        &mut self,
        step: String,
        outcome: StepOutcome,
        last: bool,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        if self.state.winding_down.is_some() {
            let note = match (last, outcome) {
                (false, StepOutcome::Failure(_) | StepOutcome::Guarded | StepOutcome::Timeout) => {
                    format!("clean-up step `{step}` failed")
                }
                (_, _) => String::new(),
            };
            return self.wound_down(&note, world, events);
        }
        let message =
            self.state.steps.get(&step).and_then(|r| r.message.clone()).unwrap_or_default();
        let mut told = format!("step `{step}`: {message}");
        let heals = self.node(&step).is_some_and(|(_, node)| {
            node.step.on_error == Some(OnError::AutoHeal) && !self.can_heal(&node.step)
        });
        if heals && matches!(outcome, StepOutcome::Failure(_) | StepOutcome::Timeout) {
            told.push_str(" (`on_error: auto_heal`, but no heal rule is for it)");
        }
        match outcome {
            StepOutcome::Success
            | StepOutcome::Skipped
            | StepOutcome::Failure(_)
            | StepOutcome::Guarded => {
                self.fail_run(FailReason::StepFailed, &told, Some(step), None, world, events);
            }
            StepOutcome::Timeout | StepOutcome::RunTimeout => {
                self.fail_run(FailReason::StepTimedOut, &told, Some(step), None, world, events);
            }
            StepOutcome::Declined { expired, by } => {
                let why = if expired { CancelReason::Expired } else { CancelReason::Declined };
                let (message, step, state) = (Some(message), Some(step), None);
                self.end_run(RunEnd::Cancelled { why, by, message, step, state }, world, events);
            }
            StepOutcome::Cancelled => {
                let (why, by) = (CancelReason::Cancelled, None);
                let (message, step, state) = (Some(message), Some(step), None);
                self.end_run(RunEnd::Cancelled { why, by, message, step, state }, world, events);
            }
        }
    }

    pub(super) fn finish_at(&mut self, end: usize, world: &World, events: &mut Vec<Event>) {
        let ending = self.flow.endings[end].clone();
        if self.state.finally.is_some() {
            return self.end_finally(None, world, events);
        }
        if self.state.winding_down.is_some() {
            return self.wound_down("", world, events);
        }
        let (status, led) = match ending.status {
            EndStatus::ByOutcome => self.led_to(ending.name.as_deref()),
            status => (status, None),
        };
        let name = ending.name.clone().unwrap_or_default();
        let message = match led.as_ref().and_then(|led| self.state.steps.get_key_value(&led.step)) {
            Some((step, record)) => {
                let why = record.message.as_deref().unwrap_or("failed");
                format!("ended in `{name}`: step `{step}`: {why}")
            }
            None => format!("ended in `{name}`"),
        };
        match status {
            EndStatus::Completed | EndStatus::ByOutcome => {
                self.finish_well(ending.name, world, events);
            }
            EndStatus::Failed => {
                let step = self.state.current.clone();
                let why = FailReason::FinalState;
                self.fail_run(why, &message, step, ending.name, world, events);
            }
            EndStatus::Cancelled => {
                let by = match led.map(|led| led.outcome) {
                    Some(StepOutcome::Declined { by, .. }) => by,
                    _ => None,
                };
                let (why, message) = (CancelReason::FinalState, Some(message));
                let (step, state) = (self.state.current.clone(), ending.name);
                self.end_run(RunEnd::Cancelled { why, by, message, step, state }, world, events);
            }
        }
    }

    /// How the run ends at a final state that does not say it, and the end of
    /// the step that led there.
    fn led_to(&self, name: Option<&str>) -> (EndStatus, Option<Settled>) {
        let settled = match &self.state.phase {
            // A final state that acts has ended itself; what counts is how it was reached.
            Phase::Transition(Transition::Settled(last)) if name == Some(last.step.as_str()) => {
                self.state.entered_after.clone()
            }
            Phase::Transition(Transition::Settled(last)) => Some(last.clone()),
            _ => None,
        };
        let status = settled.as_ref().and_then(|settled| {
            let (node, _) = self.node(&settled.step)?;
            Some(self.flow.status_after(node, &settled.outcome))
        });
        (status.unwrap_or(EndStatus::Completed), settled)
    }

    fn finish_well(&mut self, state: Option<String>, world: &World, events: &mut Vec<Event>) {
        if self.state.winding_down.is_some() {
            return self.wound_down("", world, events);
        }
        let mut outputs = IndexMap::new();
        let mut given = Vec::new();
        if let Some(value) = self.returned() {
            given.push(("result".to_owned(), value));
        } else if !self.is_alone() {
            let scope = self.scope(world);
            for output in &self.flow.skill.outputs {
                match text::render_value(&output.value, &scope) {
                    Ok(value) => given.push((output.name.value.clone(), value)),
                    Err(error) => {
                        let place = self.at(output.span);
                        let message = format!("output `{}`: {error}{place}", output.name.value);
                        let why = FailReason::Output;
                        return self.fail_run(why, &message, None, state, world, events);
                    }
                }
            }
        }
        for (name, value) in given {
            let masked = self.secrets.mask_value(&value);
            // The step around this run gets what it is; nobody else does.
            if masked != value || may_hide(&value) {
                Arc::make_mut(&mut self.secrets).reveal_output(&name, value);
            }
            outputs.insert(name, masked);
        }
        self.end_run(RunEnd::Completed { state, outputs }, world, events);
    }

    /// What a `return` step said, if the run ended there.
    fn returned(&self) -> Option<Value> {
        let (_, node) = self.node(self.state.current.as_ref()?)?;
        let Action::Return { .. } = node.step.action else { return None };
        self.results().get(&self.output_name(&node.step.name)).cloned()
    }

    /// The end of a run that was stopped, after its clean-up.
    pub(super) fn wound_down(&mut self, note: &str, world: &World, events: &mut Vec<Event>) {
        if let Some(end) = self.end_wound_down(note) {
            self.end_run(end, world, events);
        }
    }

    pub(super) fn end_wound_down(&self, note: &str) -> Option<RunEnd> {
        let winding = self.state.winding_down.clone()?;
        let noted = |text: &str| match note {
            "" => text.to_owned(),
            note => format!("{text}; {note}"),
        };
        let (step, state) = (self.state.current.clone(), None);
        Some(match winding.why {
            WindDownReason::RunTimeout => {
                let message = self.secrets.mask(&noted("the run's time limit was up"));
                RunEnd::Failed { why: FailReason::RunTimedOut, message, step, state }
            }
            WindDownReason::Cancelled => {
                let by = winding.by;
                let told = match &by {
                    Some(by) => cancel_message(by, winding.reason.as_deref()),
                    None => "cancelled".to_owned(),
                };
                let (why, message) = (CancelReason::Cancelled, Some(noted(&told)));
                RunEnd::Cancelled { why, by, message, step, state }
            }
        })
    }

    pub(super) fn fail_run(
        &mut self,
        why: FailReason,
        message: &str,
        step: Option<String>,
        state: Option<String>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let message = self.secrets.mask(message);
        self.end_run(RunEnd::Failed { why, message, step, state }, world, events);
    }
}
