//! What is learned from how a step went.

use aye_core::error_code::ErrorCode;
use aye_core::event::{BadOutcome, Event, EventKind, ProcessRecord, RetryReason, StepFailed};
use aye_core::input::{End, Finished, Input};
use aye_core::journal::{Ended, Phase, StepStatus, Transition};
use aye_core::question::Purpose;
use serde_json::Value;

use crate::error::Error;
use crate::memory::{Ending, MemoryError, Seen};

use super::drive::Driver;
use super::fixes::changed;
use super::known::tool_of;
use super::lane::LaneId;
use super::pending_lessons::OpenFailure;

impl Driver<'_> {
    /// Tells a machine how a step ended, and what memory has to do with it.
    pub(super) fn tell_end(&mut self, id: LaneId, finished: Finished) -> Result<(), Error> {
        let epoch = self.epoch();
        let finished = self.with_memory(id, Finished { epoch, ..finished });
        self.apply(id, Input::Finished(finished), None)?;
        Ok(())
    }

    fn with_memory(&self, id: LaneId, mut finished: Finished) -> Finished {
        let machine = &self.lane(id).machine;
        let Phase::Running { step, healing: None, .. } = &machine.state().phase else {
            return finished;
        };
        match error_of(&finished) {
            Some(error) => finished.known = self.known_fix(machine, step, &error).map(Box::new),
            None => finished.learned.extend(self.remember_edits(machine, step)),
        }
        finished
    }

    /// A failure that another process has seen and that is not over yet.
    pub(super) fn restore_open_failure(&mut self, id: LaneId) {
        let machine = &self.lane(id).machine;
        let state = machine.state();
        let step = match &state.phase {
            Phase::Asking { question, .. } => Some(question.step.clone()),
            Phase::Transition(Transition::Retrying { step, .. }) => Some(step.clone()),
            Phase::Transition(Transition::Resolved { question, .. }) => Some(question.step.clone()),
            Phase::Transition(_) | Phase::Running { .. } => None,
            Phase::Ended(_) => state.failed_step().map(str::to_owned),
        };
        // A fix that waits behind a gate; one that did not help has been counted.
        let waits = match &state.phase {
            Phase::Asking { question, .. }
            | Phase::Transition(Transition::Resolved { question, .. }) => {
                question.purpose == Purpose::Gate
            }
            Phase::Transition(Transition::Retrying { .. }) => true,
            Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => false,
        };
        let fix = step.as_ref().and_then(|step| state.steps.get(step)?.fix.clone());
        if let (Some(step), Some(fix), true) = (&step, fix, waits) {
            self.lessons.tries(id, step, Some(&fix));
        }
        let machine = &self.lane(id).machine;
        let state = machine.state();
        let failed = step.filter(|step| {
            let status = state.steps.get(step).map(|record| record.status);
            matches!(status, Some(StepStatus::Failed | StepStatus::TimedOut | StepStatus::Waiting))
                && !machine.error_of(step).is_empty()
                && state.steps.get(step).is_none_or(|r| r.code != Some(ErrorCode::UsuallyFails))
        });
        if let Some(step) = failed {
            let error = machine.error_of(&step);
            self.failure(id, step, error);
        }
    }

    fn failure(&mut self, id: LaneId, step: String, error: String) {
        let machine = &self.lane(id).machine;
        let tool = tool_of(machine.flow(), machine.state(), &step);
        let args = machine.original_arguments(&step, &self.world());
        let args = args.map_or(Value::Null, Value::Object);
        self.lessons.failed(OpenFailure { lane: id, step, tool, args, error, again: None });
    }

    /// Learns from what has just been recorded.
    pub(super) fn learn(&mut self, id: LaneId, events: &[Event]) {
        for event in events {
            match &event.kind {
                EventKind::StepFailed(failed) => self.saw_failed(id, failed),
                EventKind::StepRetried { step, why, fix, .. } => {
                    self.lessons.retried(id, step, *why, fix.as_deref());
                }
                EventKind::StepCompleted(done) => self.saw_completed(id, &done.step),
                EventKind::AutoHealTriggered(heal) => {
                    self.lessons.tries(id, &heal.step, heal.fix.as_ref().map(|fix| &*fix.id));
                }
                EventKind::AutoHealCompleted { step, healed: false, .. } => {
                    self.fix_ended(id, step, false);
                }
                _ => {}
            }
        }
        self.conclude_troubles(id);
    }

    fn saw_failed(&mut self, id: LaneId, failed: &StepFailed) {
        if !matches!(failed.outcome, BadOutcome::Failure | BadOutcome::Timeout) {
            return;
        }
        self.fix_ended(id, &failed.step, false);
        if failed.code == Some(ErrorCode::UsuallyFails) {
            return;
        }
        let said = failed.process.as_ref().map(ProcessRecord::said);
        let error = format!("{}\n{}", failed.message, said.unwrap_or_default());
        self.failure(id, failed.step.clone(), error.trim().to_owned());
    }

    fn saw_completed(&mut self, id: LaneId, step: &str) {
        self.fix_ended(id, step, true);
        let recovered = self.lessons.has_failed(id, step);
        for pattern in self.lessons.wrong_warnings(id, step) {
            let kept = self.parts.memory.warning_was_wrong(&pattern);
            self.kept(id, kept);
        }
        let machine = &self.lane(id).machine;
        let tool = tool_of(machine.flow(), machine.state(), step);
        if !recovered && !tool.is_empty() && self.parts.memory.has_usage(&tool) {
            let args = machine.arguments(step, &self.world()).map_or(Value::Null, Value::Object);
            let mask = |text: &str| machine.secrets().mask(text);
            let kept = self.parts.memory.saw_success(&tool, &args, &mask);
            self.kept(id, kept);
        }
    }

    /// What is over is learned from.
    fn conclude_troubles(&mut self, id: LaneId) {
        let Self { lanes, lessons, .. } = self;
        let Some(lane) = lanes.get(id) else { return };
        let state = lane.machine.state();
        let still = |step: &str| match &state.phase {
            Phase::Asking { question, .. } => question.step == step,
            Phase::Running { step: running, .. } => running == step,
            Phase::Transition(Transition::Retrying { step: again, .. }) => again == step,
            Phase::Transition(_) | Phase::Ended(_) => false,
        };
        for failure in lessons.over(id, still) {
            self.conclude_trouble(id, &failure);
        }
    }

    fn conclude_trouble(&mut self, id: LaneId, failure: &OpenFailure) {
        let machine = &self.lane(id).machine;
        let state = machine.state();
        let record = state.steps.get(&failure.step);
        let ending = match (record.map(|record| record.status), &state.phase) {
            (Some(StepStatus::Completed), _) => match failure.again {
                Some(RetryReason::Answer | RetryReason::Relayed) | None => Ending::Recovered,
                Some(_) => Ending::Healed,
            },
            (_, Phase::Ended(Ended::Failed(_))) => Ending::Failed,
            (_, _) => Ending::Swallowed,
        };
        let edits = record.and_then(|record| record.edits.as_ref());
        let old = failure.args.as_object().cloned().unwrap_or_default();
        let helped = match (ending, edits) {
            (Ending::Recovered, Some(edits)) => Some(changed(&old, &edits.set)),
            (Ending::Healed, _) => record.and_then(|record| record.fix.clone()),
            (_, _) => None,
        };
        let seen = Seen {
            tool: &failure.tool,
            args: &failure.args,
            error: &failure.error,
            skill: Some(&state.started.skill),
            step: Some(&failure.step),
            run: Some(state.run.as_str()),
            ending,
            fix: helped.as_deref(),
            now: self.parts.clock.now(),
        };
        let mask = |text: &str| machine.secrets().mask(text);
        let kept = self.parts.memory.saw_failure(&seen, &mask);
        self.kept(id, kept.map(drop));
    }

    /// A memory that cannot be written stops nothing, and is told.
    fn kept(&mut self, id: LaneId, kept: Result<(), MemoryError>) {
        if let Err(error) = kept {
            self.note(id, &[format!("memory: nothing is learned from this: {error}")]);
        }
    }
}

/// What went wrong with a step, if it did.
fn error_of(finished: &Finished) -> Option<String> {
    let said = finished.process.as_ref().map(ProcessRecord::said);
    let message = match &finished.end {
        End::Exited { .. } => {
            let code = finished.process.as_ref().and_then(|process| process.exit_code);
            format!("exit code {}", code.filter(|code| *code != 0)?)
        }
        End::Failed { code: ErrorCode::UsuallyFails, .. } => return None,
        End::Failed { message, .. } | End::NotStarted { message, .. } => message.clone(),
        End::TimedOut => "timed out".to_owned(),
        End::Declined { .. } | End::Stopped => return None,
    };
    Some(format!("{message}\n{}", said.unwrap_or_default()).trim().to_owned())
}
