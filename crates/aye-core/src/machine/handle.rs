//! What each input means where the run stands.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::event::{
    Answered, BadOutcome, CancelReason, Event, Fact, PauseReason, ProcessRecord, StepCompleted,
    StepFailed, WindDownReason, WindingDown,
};
use crate::id::QuestionId;
use crate::input::{End, Finished, Input, Request};
use crate::journal::{Phase, Resolution};
use crate::question::{Answer, Question};
use crate::text::World;

use super::answer::weigh;
use super::refusal::Refusal;
use super::run::{Machine, after};
use super::secrets::secret_marker;

/// How long a deadline can be held back in all.
const HOLD_LIMIT: SignedDuration = SignedDuration::from_mins(5);
/// How far one hold moves the deadline beyond now.
const HOLD_STEP: SignedDuration = SignedDuration::from_secs(30);

/// What came of an input.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the events have to be committed before anything is done"]
pub struct Reaction {
    /// To be committed in one go.
    pub events: Vec<Event>,
    /// Why the input did not fit; an answer is recorded all the same.
    pub refusal: Option<Refusal>,
}

/// Why the running step is to be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stopping {
    /// Somebody cancelled the run.
    Cancel { by: String, reason: Option<String> },
    /// Aye was told to stop.
    Interrupt { signal: String },
}

impl Machine {
    /// Tells the run something. It never fails: what does not fit is refused.
    pub fn handle(&mut self, input: Input, world: &World) -> Reaction {
        let mut events = Vec::new();
        let refusal = self.react(input, world, &mut events).err();
        Reaction { events, refusal }
    }

    fn react(
        &mut self,
        input: Input,
        world: &World,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        match (self.state.phase.clone(), input) {
            (Phase::Ended(_), Input::Request(Request::Answer { question, answer })) => {
                let refusal = Refusal::NotOpen(question.clone());
                self.record_refused(question, answer, &refusal, world, events);
                Err(refusal)
            }
            (
                Phase::Ended(_),
                Input::Attach(_)
                | Input::Finished(_)
                | Input::Request(Request::Hold { .. } | Request::Cancel { .. })
                | Input::Tick
                | Input::Interrupt { .. }
                | Input::Leave { .. },
            ) => Err(Refusal::Ended),

            (
                Phase::Between(_) | Phase::Running { .. } | Phase::Asking { .. },
                Input::Attach(driver),
            ) => {
                if self.attached {
                    return Err(Refusal::Driven);
                }
                self.attached = true;
                self.emit(Fact::SkillResumed { driver }, world, events);
                self.lose_running_step(world, events);
                self.advance(world, events);
                Ok(())
            }

            (Phase::Running { step, execution, .. }, Input::Finished(finished)) => {
                if execution != finished.execution {
                    return Err(Refusal::NotRunning(finished.execution));
                }
                self.step_finished(step, finished, world, events);
                Ok(())
            }
            (Phase::Between(_) | Phase::Asking { .. }, Input::Finished(finished)) => {
                Err(Refusal::NotRunning(finished.execution))
            }

            (
                Phase::Asking { question: open, agreed, asked_ms, .. },
                Input::Request(Request::Answer { question, answer }),
            ) => {
                let verdict = if open.id == question {
                    self.in_time(&open, world.now).and_then(|()| weigh(&open, &answer, &agreed))
                } else {
                    Err(Refusal::OtherQuestion(question.clone(), open.id.clone()))
                };
                match verdict {
                    Ok(()) => {
                        self.accept(&open, answer, asked_ms, world, events);
                        self.advance(world, events);
                        Ok(())
                    }
                    Err(refusal) => {
                        self.record_refused(question, answer, &refusal, world, events);
                        Err(refusal)
                    }
                }
            }
            (
                Phase::Between(_) | Phase::Running { .. },
                Input::Request(Request::Answer { question, answer }),
            ) => {
                let refusal = Refusal::NotOpen(question.clone());
                self.record_refused(question, answer, &refusal, world, events);
                Err(refusal)
            }

            (
                Phase::Asking { question: open, held_ms, .. },
                Input::Request(Request::Hold { question, by }),
            ) => {
                if open.id != question {
                    return Err(Refusal::OtherQuestion(question, open.id));
                }
                self.in_time(&open, world.now)?;
                self.hold(&open, held_ms, by, world, events)
            }
            (
                Phase::Between(_) | Phase::Running { .. },
                Input::Request(Request::Hold { question, .. }),
            ) => Err(Refusal::NotOpen(question)),

            (Phase::Running { step, .. }, Input::Request(Request::Cancel { by, reason })) => {
                if self.attached {
                    self.stopping = Some(Stopping::Cancel { by, reason });
                } else {
                    self.lose_running_step(world, events);
                    self.cancel(Some(step), by, reason.as_deref(), world, events);
                }
                Ok(())
            }
            (
                Phase::Between(_) | Phase::Asking { .. },
                Input::Request(Request::Cancel { by, reason }),
            ) => {
                let step = self.state.current.clone();
                self.cancel(step, by, reason.as_deref(), world, events);
                Ok(())
            }

            (Phase::Asking { question, .. }, Input::Tick) => {
                self.check_deadlines(&question, world, events);
                self.advance(world, events);
                Ok(())
            }
            // A running step's limits are kept by whoever runs it.
            (Phase::Between(_) | Phase::Running { .. }, Input::Tick) => Ok(()),

            (Phase::Running { .. }, Input::Interrupt { signal }) => {
                if !self.attached {
                    return Err(Refusal::NotDriven);
                }
                // A cancel that is under way already ends the run for good.
                self.stopping.get_or_insert(Stopping::Interrupt { signal });
                Ok(())
            }
            (Phase::Between(_) | Phase::Asking { .. }, Input::Interrupt { signal }) => {
                self.pause(PauseReason::Interrupted, Some(signal), world, events);
                Ok(())
            }

            (Phase::Running { .. }, Input::Leave { .. }) => Err(Refusal::Busy),
            (Phase::Between(_) | Phase::Asking { .. }, Input::Leave { message }) => {
                self.pause(PauseReason::Waiting, Some(message), world, events);
                Ok(())
            }
        }
    }

    /// A step that was running when its driver died: nobody knows.
    fn lose_running_step(&mut self, world: &World, events: &mut Vec<Event>) {
        let Phase::Running { step, execution, .. } = self.state.phase.clone() else {
            return;
        };
        self.stopping = None;
        let failed = StepFailed {
            message: "Aye ended while the step ran: its outcome is unknown".to_owned(),
            ..failed(step, execution, BadOutcome::Unknown)
        };
        self.emit(Fact::StepFailed(Box::new(failed)), world, events);
    }

    fn step_finished(
        &mut self,
        step: String,
        finished: Finished,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let Finished { execution, end, process } = finished;
        let process = process.map(|process| self.masked(process));
        let stopping = self.stopping.clone();
        let fact = match (end, &stopping) {
            (End::Exited { value }, _) => {
                if process.as_ref().is_none_or(|process| process.exit_code == Some(0)) {
                    let output = self.output_name(&step);
                    let value = self.secrets.mask_value(&value);
                    Fact::StepCompleted(Box::new(StepCompleted {
                        step: step.clone(),
                        execution,
                        output,
                        value,
                        process,
                        marked_by: None,
                    }))
                } else {
                    Fact::StepFailed(Box::new(StepFailed {
                        message: exit_message(process.as_ref()),
                        process,
                        ..failed(step.clone(), execution, BadOutcome::Failure)
                    }))
                }
            }
            (End::TimedOut, _) => {
                let winding_down = self.run_expired(world.now);
                let message = match &winding_down {
                    Some(_) => "the run's time limit was up".to_owned(),
                    None => "timed out".to_owned(),
                };
                Fact::StepFailed(Box::new(StepFailed {
                    code: Some("TIMEOUT".to_owned()),
                    message,
                    process,
                    winding_down,
                    ..failed(step.clone(), execution, BadOutcome::Timeout)
                }))
            }
            (End::Stopped, Some(Stopping::Cancel { by, reason })) => {
                Fact::StepFailed(Box::new(StepFailed {
                    code: Some("CANCELLED".to_owned()),
                    message: cancel_message(by, reason.as_deref()),
                    process,
                    winding_down: Some(self.wind_down(
                        WindDownReason::Cancelled,
                        Some(by.clone()),
                        world.now,
                    )),
                    ..failed(step.clone(), execution, BadOutcome::Cancelled)
                }))
            }
            (End::Stopped, Some(Stopping::Interrupt { .. }) | None) => {
                Fact::StepFailed(Box::new(StepFailed {
                    code: Some("CANCELLED".to_owned()),
                    message: "Aye was told to stop while the step ran".to_owned(),
                    process,
                    ..failed(step.clone(), execution, BadOutcome::Interrupted)
                }))
            }
            (End::NotStarted { code, exit_code, message, hint }, _) => {
                let process = exit_code
                    .map(|code| ProcessRecord { exit_code: Some(code), ..Default::default() });
                Fact::StepFailed(Box::new(StepFailed {
                    code: Some(code),
                    message: self.secrets.mask(&message),
                    hint: hint.map(|hint| self.secrets.mask(&hint)),
                    process,
                    ..failed(step.clone(), execution, BadOutcome::Failure)
                }))
            }
        };
        let stopped =
            matches!(&fact, Fact::StepFailed(failed) if failed.outcome == BadOutcome::Cancelled);
        let interrupted =
            matches!(&fact, Fact::StepFailed(failed) if failed.outcome == BadOutcome::Interrupted);
        self.emit(fact, world, events);
        self.stopping = None;
        match stopping {
            // It ended by itself before the stop reached it: the run ends here all the same.
            Some(Stopping::Cancel { by, reason }) if !stopped => {
                self.cancel(Some(step), by, reason.as_deref(), world, events);
            }
            Some(Stopping::Interrupt { signal }) => {
                self.pause(PauseReason::Interrupted, Some(signal), world, events);
            }
            Some(Stopping::Cancel { .. }) => self.advance(world, events),
            None if interrupted => self.pause(PauseReason::Interrupted, None, world, events),
            None => self.advance(world, events),
        }
    }

    fn accept(
        &mut self,
        open: &Question,
        mut answer: Answer,
        asked_ms: i64,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        if open.secret
            && let Some(text) = answer.value.as_str()
        {
            let name = self.output_name(&open.step);
            Arc::make_mut(&mut self.secrets).insert(name, text);
            answer.value = secret_marker();
        }
        let latency = world.now.as_millisecond() - asked_ms;
        let answered = Answered {
            question: open.id.clone(),
            answer,
            latency_ms: u64::try_from(latency).unwrap_or(0),
            refused: None,
        };
        self.emit(Fact::ConfirmationAnswered(Box::new(answered)), world, events);
    }

    fn record_refused(
        &mut self,
        question: QuestionId,
        mut answer: Answer,
        refusal: &Refusal,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        // It may be a mistyped secret.
        let secret = matches!(&self.state.phase, Phase::Asking { question, .. } if question.secret);
        if secret {
            answer.value = secret_marker();
        }
        let answered =
            Answered { question, answer, latency_ms: 0, refused: Some(refusal.to_string()) };
        self.emit(Fact::ConfirmationAnswered(Box::new(answered)), world, events);
    }

    /// Expiry is decided by the clock, not by a timer having fired.
    fn in_time(&self, question: &Question, now: Timestamp) -> Result<(), Refusal> {
        let deadline = [question.deadline, self.state.deadline()].into_iter().flatten().min();
        match deadline {
            Some(deadline) if now >= deadline => Err(Refusal::Expired(question.id.clone())),
            Some(_) | None => Ok(()),
        }
    }

    fn hold(
        &mut self,
        open: &Question,
        held_ms: i64,
        by: String,
        world: &World,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        // Without a deadline there is nothing to hold.
        let Some(before) = open.deadline else {
            return Ok(());
        };
        let left = HOLD_LIMIT - SignedDuration::from_millis(held_ms);
        let wanted = world.now.checked_add(HOLD_STEP).unwrap_or(before);
        let furthest = before.checked_add(left).unwrap_or(before);
        let deadline = wanted.min(furthest);
        if left <= SignedDuration::ZERO {
            return Err(Refusal::HeldEnough);
        }
        if deadline > before {
            let question = open.id.clone();
            self.emit(Fact::ConfirmationHeld { question, deadline, by }, world, events);
        }
        Ok(())
    }

    fn check_deadlines(&mut self, question: &Question, world: &World, events: &mut Vec<Event>) {
        let id = question.id.clone();
        let over = |deadline: Option<Timestamp>| deadline.is_some_and(|at| world.now >= at);
        if over(self.state.deadline()) {
            self.emit(Fact::ConfirmationExpired { question: id, applied: None }, world, events);
            let failed = StepFailed {
                code: Some("TIMEOUT".to_owned()),
                message: "the run's time limit was up while the question was open".to_owned(),
                winding_down: self.run_expired(world.now),
                ..failed(question.step.clone(), self.state.executions, BadOutcome::Timeout)
            };
            self.emit(Fact::StepFailed(Box::new(failed)), world, events);
        } else if over(question.deadline) {
            let applied = question.default.clone();
            self.emit(Fact::ConfirmationExpired { question: id, applied }, world, events);
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

    fn wind_down(&self, why: WindDownReason, by: Option<String>, now: Timestamp) -> WindingDown {
        match &self.state.winding_down {
            // The budget is spent once.
            Some(winding) => winding.clone(),
            None => WindingDown { why, until: after(now, self.flow.skill.cleanup), by },
        }
    }

    fn cancel(
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

    pub(super) fn output_name(&self, step: &str) -> String {
        let named = self.node(step).and_then(|(_, node)| node.step.output.as_ref());
        named.map_or_else(|| step.to_owned(), |output| output.value.clone())
    }

    fn masked(&self, mut process: ProcessRecord) -> ProcessRecord {
        process.stdout = self.secrets.mask(&process.stdout);
        process.stderr = self.secrets.mask(&process.stderr);
        process
    }

    /// What an answer or an expiry comes down to: the value taken.
    pub(super) fn value_of(resolution: &Resolution) -> Option<&str> {
        match resolution {
            Resolution::Answered(answer) => answer.value.as_str(),
            Resolution::Expired(applied) => applied.as_deref(),
        }
    }
}

pub(super) fn failed(step: String, execution: u32, outcome: BadOutcome) -> StepFailed {
    StepFailed {
        step,
        execution,
        outcome,
        code: None,
        message: String::new(),
        hint: None,
        process: None,
        winding_down: None,
    }
}

fn exit_message(process: Option<&ProcessRecord>) -> String {
    match process {
        Some(ProcessRecord { signal: Some(signal), .. }) => format!("ended by signal {signal}"),
        Some(ProcessRecord { exit_code: Some(code), .. }) => format!("exit code {code}"),
        Some(_) | None => "failed".to_owned(),
    }
}

fn cancel_message(by: &str, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("cancelled by {by}: {reason}"),
        None => format!("cancelled by {by}"),
    }
}
