//! What each input means where the run stands.

use crate::event::{Event, EventKind, PauseReason, Remembered, Stopping};
use crate::input::{Attach, Input, Request};
use crate::journal::{Phase, Transition};
use crate::question::Channel;
use crate::text::World;

use super::refusal::Refusal;
use super::run::Machine;
use super::validate_answer::validate_answer;

/// What came of an input.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the events have to be committed before anything is done"]
pub struct Reaction {
    /// To be committed in one go.
    pub events: Vec<Event>,
    /// Why the input did not fit; an answer is recorded all the same.
    pub refusal: Option<Refusal>,
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
            (Phase::Ended(_), Input::Request(Request::Answer { question, answer, .. })) => {
                let refusal = Refusal::NotOpen(question.clone());
                self.record_refused(question, answer, &refusal, world, events);
                Err(refusal)
            }
            (Phase::Ended(_), Input::Remembered { learned: false, .. }) => Err(Refusal::Ended),
            (_, Input::Remembered { learned, what }) => {
                // What is only told changes nothing.
                let what = Box::new(Remembered { fix: None, ..self.masked_memory(what) });
                let kind = match learned {
                    true => EventKind::MemoryLearned(what),
                    false => {
                        EventKind::MemoryRecalled(Box::new(Remembered { lesson: None, ..*what }))
                    }
                };
                self.emit(kind, world, events);
                Ok(())
            }
            (Phase::Ended(_), Input::Retry(retry)) => self.reopen(retry, world, events),
            (
                Phase::Transition(_) | Phase::Running { .. } | Phase::Asking { .. },
                Input::Retry(_),
            ) => Err(Refusal::NotFailed),
            (
                Phase::Ended(_),
                Input::Attach(_)
                | Input::Inspected(_)
                | Input::Acquired
                | Input::Blocked(_)
                | Input::Deadlock { .. }
                | Input::Queued { .. }
                | Input::Dequeued { .. }
                | Input::Finished(_)
                | Input::Request(
                    Request::Hold { .. } | Request::Advise { .. } | Request::Cancel { .. },
                )
                | Input::Tick { .. }
                | Input::Shown(_)
                | Input::Continued { .. }
                | Input::Interrupt { .. }
                | Input::CancelledAround { .. }
                | Input::Leave { .. }
                | Input::Rest { .. },
            ) => Err(Refusal::Ended),

            (
                Phase::Transition(_) | Phase::Running { .. } | Phase::Asking { .. },
                Input::Attach(Attach { driver, epoch }),
            ) => {
                let current = self.state.epoch;
                if epoch < current {
                    return Err(Refusal::Stale { epoch, current });
                }
                if epoch == current && self.state.paused.is_none() {
                    return Err(Refusal::Driven);
                }
                let cancelled = self.cancelled_by();
                self.epoch = Some(epoch);
                self.emit(
                    EventKind::SkillResumed {
                        driver,
                        suspended_ms: None,
                        turn: None,
                        ended: None,
                        epoch,
                    },
                    world,
                    events,
                );
                if epoch > current {
                    self.lose_running_step(world, events);
                }
                if let (Some((by, reason)), Phase::Transition(_)) = (cancelled, &self.state.phase) {
                    // It had been cancelled before its driver died.
                    self.cancel_lost(&by, reason.as_deref(), world, events);
                }
                self.advance(world, events);
                Ok(())
            }

            (Phase::Transition(_), Input::Acquired) => self.acquired(world, events),
            (Phase::Transition(_), Input::Blocked(blocked)) => self.blocked(blocked, world, events),
            (Phase::Transition(_), Input::Deadlock { holder }) => {
                self.deadlocked(&holder, world, events)
            }
            (
                Phase::Running { .. } | Phase::Asking { .. },
                Input::Acquired | Input::Blocked(_) | Input::Deadlock { .. },
            ) => Err(Refusal::NoName),

            (Phase::Transition(_), Input::Inspected(inspected)) => {
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                if self.state.needs_name() {
                    return Err(Refusal::NothingToInspect);
                }
                self.go_on_with(*inspected, world, events);
                Ok(())
            }
            (Phase::Running { .. } | Phase::Asking { .. }, Input::Inspected(_)) => {
                Err(Refusal::NothingToInspect)
            }
            (
                Phase::Running { step, execution: running, .. },
                input @ (Input::Queued { execution } | Input::Dequeued { execution }),
            ) => {
                let queued = matches!(input, Input::Queued { .. });
                if running != execution || self.state.is_queued() == queued {
                    return Err(Refusal::NotRunning(execution));
                }
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                let kind = match queued {
                    true => EventKind::StepQueued { step, execution },
                    false => EventKind::StepDequeued { step, execution },
                };
                self.emit(kind, world, events);
                Ok(())
            }
            (
                Phase::Transition(_) | Phase::Asking { .. },
                Input::Queued { execution } | Input::Dequeued { execution },
            ) => Err(Refusal::NotRunning(execution)),
            (
                Phase::Running { step, execution, deadline, nested, healing, .. },
                Input::Finished(finished),
            ) => {
                if execution != finished.execution {
                    return Err(Refusal::NotRunning(finished.execution));
                }
                // Only who started it can know how it ended.
                let current = self.state.epoch;
                if finished.epoch != current {
                    return Err(Refusal::Stale { epoch: finished.epoch, current });
                }
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                match healing.filter(|_| self.state.stopping.is_none()) {
                    Some(healing) => self.healed(step, &healing, finished, world, events),
                    None => self.step_finished(step, deadline, nested, finished, world, events),
                }
                Ok(())
            }
            (Phase::Transition(_) | Phase::Asking { .. }, Input::Finished(finished)) => {
                Err(Refusal::NotRunning(finished.execution))
            }

            (
                Phase::Asking { question: open, .. },
                Input::Request(Request::Answer { question, answer, .. }),
            ) => {
                let answer = self.established(answer);
                let verdict = if open.id == question {
                    self.in_time(&open, world.now)
                        .and_then(|()| validate_answer(&open, &answer, &self.state.agreement()))
                        .and_then(|()| self.validate_edits(&open, &answer, world))
                        .and_then(|()| match answer.prompter {
                            Channel::Memory if !self.may_recall(&open) => {
                                let why =
                                    "a fix from memory was tried already; now a person decides";
                                Err(Refusal::NotAllowed(why.to_owned()))
                            }
                            _ => Ok(()),
                        })
                } else {
                    Err(Refusal::OtherQuestion(question.clone(), open.id.clone()))
                };
                match verdict {
                    Ok(()) => {
                        self.accept(&open, answer, world, events);
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
                Phase::Transition(_) | Phase::Running { .. },
                Input::Request(Request::Answer { question, answer, .. }),
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
                Phase::Transition(_) | Phase::Running { .. },
                Input::Request(Request::Hold { question, .. } | Request::Advise { question, .. }),
            ) => Err(Refusal::NotOpen(question)),
            (
                Phase::Asking { question: open, advice: before, .. },
                Input::Request(Request::Advise { question, advice }),
            ) => {
                if open.id != question {
                    return Err(Refusal::OtherQuestion(question, open.id));
                }
                self.in_time(&open, world.now)?;
                self.advise(&open, before.len(), advice, world, events)
            }

            (
                Phase::Running { step, nested, execution, .. },
                Input::Request(Request::Cancel { by, reason, .. }),
            ) => {
                // What had not begun is not in doubt.
                if (nested || self.state.is_queued()) && self.is_abandoned() {
                    let failed = self.stopped_step(step.clone(), execution, &by, reason.as_deref());
                    self.emit(EventKind::StepFailed(Box::new(failed)), world, events);
                    self.cancel(Some(step), by, reason.as_deref(), world, events);
                } else if self.is_abandoned() {
                    self.lose_running_step(world, events);
                    self.cancel(Some(step), by, reason.as_deref(), world, events);
                } else {
                    let reason = reason.map(|reason| self.secrets.mask(&reason));
                    self.stop(Stopping::Cancelled { by, reason }, world, events);
                }
                Ok(())
            }
            (
                Phase::Asking { question, .. },
                Input::Request(Request::Cancel { by, reason, .. }),
            ) => {
                let began = !self.state.is_before_step();
                if began && self.is_driven() && self.cleans_up(&question.step) {
                    self.cancel_question(&question, &by, reason.as_deref(), true, world, events);
                } else {
                    self.cancel(Some(question.step), by, reason.as_deref(), world, events);
                }
                Ok(())
            }
            (
                Phase::Transition(Transition::Retrying { step, .. }),
                Input::Request(Request::Cancel { by, reason, .. }),
            ) if self.is_driven() && !self.state.needs_name() && self.cleans_up(&step) => {
                let reason = reason.as_deref();
                let failed = self.cancelled_step(step, 0, &by, reason, world.now);
                self.emit(EventKind::StepFailed(Box::new(failed)), world, events);
                self.advance(world, events);
                Ok(())
            }
            (Phase::Transition(_), Input::Request(Request::Cancel { by, reason, .. })) => {
                let step = self.state.current.clone();
                self.cancel(step, by, reason.as_deref(), world, events);
                Ok(())
            }

            (Phase::Asking { question, limit_ms, .. }, Input::Tick { shown }) => {
                self.expire(&question, limit_ms, shown, world, events);
                self.advance(world, events);
                Ok(())
            }
            (Phase::Asking { question, still_ms, .. }, Input::Shown(shown)) => {
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                self.shown(&question, still_ms, shown, world, events);
                Ok(())
            }
            (Phase::Transition(_), Input::Tick { .. }) => {
                self.stop_waiting_in_time(world, events);
                self.advance(world, events);
                Ok(())
            }
            // The process that runs a step keeps its limits.
            (Phase::Running { .. }, Input::Tick { .. }) => Ok(()),
            (Phase::Transition(_) | Phase::Running { .. }, Input::Shown(_)) => Ok(()),

            (
                Phase::Transition(_) | Phase::Running { .. } | Phase::Asking { .. },
                Input::Continued { after },
            ) => {
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                // Without a limit there is no time to give back.
                if self.state.deadline().is_some() {
                    let driver = self.state.driver.clone();
                    let ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                    let resumed = EventKind::SkillResumed {
                        driver,
                        suspended_ms: Some(ms),
                        turn: None,
                        ended: None,
                        epoch: self.state.epoch,
                    };
                    self.emit(resumed, world, events);
                }
                Ok(())
            }

            (Phase::Running { .. }, Input::Interrupt { signal }) => {
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                self.stop(Stopping::Interrupted { signal }, world, events);
                Ok(())
            }
            (Phase::Transition(_) | Phase::Asking { .. }, Input::Interrupt { signal }) => {
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                self.pause(PauseReason::Interrupted, Some(signal), world, events);
                Ok(())
            }

            (
                Phase::Transition(_) | Phase::Running { .. } | Phase::Asking { .. },
                Input::CancelledAround { by, reason },
            ) if self.state.finally.is_none() => {
                let cancel = Request::Cancel { by, reason, now: false };
                self.react(Input::Request(cancel), world, events)
            }
            (Phase::Asking { question, .. }, Input::CancelledAround { by, reason })
                if self.is_in_doubt(&question.step) =>
            {
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                self.cancel_question(&question, &by, reason.as_deref(), false, world, events);
                Ok(())
            }
            (
                Phase::Transition(_) | Phase::Running { .. } | Phase::Asking { .. },
                Input::CancelledAround { .. },
            ) => Ok(()),

            (Phase::Running { nested: false, .. }, Input::Leave { .. }) => Err(Refusal::Busy),
            (
                Phase::Running { nested: true, .. } | Phase::Transition(_) | Phase::Asking { .. },
                Input::Leave { message },
            ) => {
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                if self.skip_unanswered(world, events) {
                    return Ok(());
                }
                self.pause(PauseReason::Waiting, Some(message), world, events);
                Ok(())
            }

            (Phase::Running { nested: false, .. } | Phase::Transition(_), Input::Rest { .. }) => {
                Err(Refusal::Busy)
            }
            (
                Phase::Running { nested: true, .. } | Phase::Asking { .. },
                Input::Rest { message },
            ) => {
                if !self.is_driven() {
                    return Err(Refusal::NotDriven);
                }
                self.pause(PauseReason::Resting, Some(message), world, events);
                Ok(())
            }
        }
    }
}
