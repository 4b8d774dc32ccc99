//! What is learned from how a step went. It is committed with the events that
//! it is learned from.

use aye_core::error_code::ErrorCode;
use aye_core::event::{
    BadOutcome, Event, EventKind, MemoryKind, ProcessRecord, Remembered, RetryReason, StepFailed,
};
use aye_core::input::{End, Finished, Input};
use aye_core::journal::{Ended, Phase, StepStatus, Transition};
use aye_core::machine::Machine;
use aye_core::question::Purpose;
use aye_core::text::World;
use serde_json::Value;

use crate::error::Error;
use crate::lessons;
use crate::memory::{Ending, Lesson, Memory, Seen};

use super::drive::Driver;
use super::fixes::changed;
use super::known::tool_of;
use super::lane::LaneId;
use super::pending_lessons::{OpenFailure, PendingLessons};

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
        let world = self.world();
        let Self { lanes, lessons, .. } = self;
        let Some(lane) = lanes.get(id) else { return };
        let machine = &lane.machine;
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
            lessons.tries(id, step, Some(&fix));
        }
        let failed = step.filter(|step| {
            let status = state.steps.get(step).map(|record| record.status);
            matches!(status, Some(StepStatus::Failed | StepStatus::TimedOut | StepStatus::Waiting))
                && !machine.error_of(step).is_empty()
                && state.steps.get(step).is_none_or(|r| r.code != Some(ErrorCode::UsuallyFails))
        });
        if let Some(step) = failed {
            let error = machine.error_of(&step);
            lessons.failed(open_failure(machine, &world, id, &step, error));
        }
    }

    /// Memory takes in what these events say was learned. One that cannot be
    /// written stops nothing, and is told.
    pub(super) fn take_in(&mut self, id: LaneId, events: &[Event]) {
        let told = lessons::take_in(self.parts.store, &self.parts.memory, events);
        self.note(id, &told);
    }
}

fn open_failure(
    machine: &Machine,
    world: &World,
    lane: LaneId,
    step: &str,
    error: String,
) -> OpenFailure {
    let tool = tool_of(machine.flow(), machine.state(), step);
    let args = machine.original_arguments(step, world).map_or(Value::Null, Value::Object);
    OpenFailure { lane, step: step.to_owned(), tool, args, error, again: None }
}

/// Learns from the events of a run, with what is known from the ones before.
pub(super) struct Learner<'a> {
    pub(super) memory: &'a Memory,
    pub(super) machine: &'a Machine,
    pub(super) world: &'a World,
    pub(super) lane: LaneId,
    pub(super) pending: &'a mut PendingLessons,
}

impl Learner<'_> {
    /// What memory is to take in.
    pub(super) fn learn(&mut self, events: &[Event]) -> Vec<Remembered> {
        let mut learned = Vec::new();
        for event in events {
            match &event.kind {
                EventKind::StepFailed(failed) => learned.extend(self.saw_failed(failed)),
                EventKind::StepRetried { step, why, fix, .. } => {
                    self.pending.retried(self.lane, step, *why, fix.as_deref());
                }
                EventKind::StepCompleted(done) => learned.extend(self.saw_completed(&done.step)),
                EventKind::AutoHealTriggered(heal) => {
                    let fix = heal.fix.as_ref().map(|fix| &*fix.id);
                    self.pending.tries(self.lane, &heal.step, fix);
                }
                EventKind::AutoHealCompleted { step, healed: false, .. } => {
                    learned.extend(self.fix_ended(step, false));
                }
                _ => {}
            }
        }
        learned.extend(self.conclude_failures());
        learned
    }

    /// How the step ended tells whether the fix that was tried for it helps.
    fn fix_ended(&mut self, step: &str, worked: bool) -> Option<Remembered> {
        let fix = self.pending.fix_ended(self.lane, step)?;
        let lesson = Lesson::FixOutcome { fix: fix.clone(), worked, at: self.world.now };
        Some(Remembered { id: Some(fix), ..count(MemoryKind::Fix, step, &lesson) })
    }

    fn saw_failed(&mut self, failed: &StepFailed) -> Option<Remembered> {
        if !matches!(failed.outcome, BadOutcome::Failure | BadOutcome::Timeout) {
            return None;
        }
        let learned = self.fix_ended(&failed.step, false);
        if failed.code != Some(ErrorCode::UsuallyFails) {
            let said = failed.process.as_ref().map(ProcessRecord::said);
            let error = format!("{}\n{}", failed.message, said.unwrap_or_default());
            let error = error.trim().to_owned();
            let Self { machine, world, lane, .. } = self;
            let failure = open_failure(machine, world, *lane, &failed.step, error);
            self.pending.failed(failure);
        }
        learned
    }

    fn saw_completed(&mut self, step: &str) -> Vec<Remembered> {
        let mut learned: Vec<Remembered> = self.fix_ended(step, true).into_iter().collect();
        for pattern in self.pending.wrong_warnings(self.lane, step) {
            let lesson = Lesson::WrongWarning { pattern: pattern.clone() };
            let id = Some(pattern);
            learned.push(Remembered { id, ..count(MemoryKind::Usage, step, &lesson) });
        }
        let tool = tool_of(self.machine.flow(), self.machine.state(), step);
        let recovered = self.pending.has_failed(self.lane, step);
        if !recovered && !tool.is_empty() && self.memory.has_usage(&tool) {
            let args = self.machine.arguments(step, self.world);
            let args = args.map_or(Value::Null, Value::Object);
            let mask = |text: &str| self.machine.secrets().mask(text);
            let lesson = self.memory.success_lesson(&tool, &args, &mask);
            learned.extend(lesson.map(|lesson| count(MemoryKind::Usage, step, &lesson)));
        }
        learned
    }

    /// What is over is learned from.
    fn conclude_failures(&mut self) -> Vec<Remembered> {
        let phase = &self.machine.state().phase;
        let goes_on = |step: &str| match phase {
            Phase::Asking { question, .. } => question.step == step,
            Phase::Running { step: running, .. } => running == step,
            Phase::Transition(Transition::Retrying { step: again, .. }) => again == step,
            Phase::Transition(_) | Phase::Ended(_) => false,
        };
        let over = self.pending.over(self.lane, goes_on);
        over.iter().map(|failure| self.conclude(failure)).collect()
    }

    fn conclude(&self, failure: &OpenFailure) -> Remembered {
        let state = self.machine.state();
        let record = state.steps.get(&failure.step);
        let ending = match (record.map(|record| record.status), &state.phase) {
            (Some(StepStatus::Completed), _) => match failure.again {
                Some(RetryReason::Answer | RetryReason::Relayed) | None => Ending::Recovered,
                Some(_) => Ending::Healed,
            },
            // Anyone who cancels says nothing about how the tool is used.
            (_, Phase::Ended(Ended::Failed(_) | Ended::Cancelled(_))) => Ending::Failed,
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
            now: self.world.now,
        };
        let mask = |text: &str| self.machine.secrets().mask(text);
        count(MemoryKind::Usage, &failure.step, &seen.lesson(&mask))
    }
}

/// A lesson that only counts something.
fn count(kind: MemoryKind, step: &str, lesson: &Lesson) -> Remembered {
    let (step, lesson) = (Some(step.to_owned()), lesson.to_value());
    Remembered { step, lesson, ..Remembered::told(kind, String::new()) }
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
