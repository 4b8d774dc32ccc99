//! The end of a step's action.

use std::sync::Arc;

use jiff::Timestamp;

use crate::error_code::ErrorCode;
use crate::event::{
    BadOutcome, Event, EventKind, MemoryKind, PauseReason, ProcessRecord, Proposal, Remembered,
    StepCompleted, StepFailed, Stopping,
};
use crate::flow::Target;
use crate::input::{End, Finished};
use crate::journal::Phase;
use crate::secrets::without_markers;
use crate::skill::format_duration;
use crate::text::World;

use super::run::Machine;

impl Machine {
    /// A step that was running when its driver died: nobody knows.
    pub(super) fn lose_running_step(&mut self, world: &World, events: &mut Vec<Event>) {
        // Nested runs know themselves how far they are.
        let Phase::Running { step, execution, nested: false, .. } = self.state.phase.clone() else {
            return;
        };
        // It had not begun: it still waits.
        if self.state.is_queued() {
            return;
        }
        let failed = StepFailed {
            message: "Aye ended while the step ran: its outcome is unknown".to_owned(),
            ..failed(step, execution, BadOutcome::Unknown)
        };
        self.emit(EventKind::StepFailed(Box::new(failed)), world, events);
    }

    /// Something for memory without secrets in it.
    pub(super) fn masked_memory(&self, what: Remembered) -> Remembered {
        let lesson = what.lesson.map(|lesson| Box::new(self.secrets.mask_value(&lesson)));
        // The id may hold the name of a file that a block chose.
        let id = what.id.map(|id| self.secrets.mask(&id));
        Remembered { id, message: self.secrets.mask(&what.message), lesson, ..what }
    }

    pub(super) fn step_finished(
        &mut self,
        step: String,
        limit: Option<Timestamp>,
        nested: bool,
        finished: Finished,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let Finished { execution, end, process, took, known, learned, note, agreed, log, .. } =
            finished;
        let duration_ms = took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        let process = process.map(|process| self.masked(process));
        let stopping = self.state.stopping.clone();
        let mut kind = match (end, &stopping) {
            // It ended before the stop reached it; its clean-up is due all the same.
            (End::Exited { .. }, Some(Stopping::Cancelled { by, reason }))
                if self.cleans_up(&step) =>
            {
                let (name, reason) = (step.clone(), reason.as_deref());
                let cancelled = self.cancelled_step(name, execution, by, reason, world.now);
                let ended = exit_message(process.as_ref());
                let message = format!("{}; by then: {ended}", cancelled.message);
                EventKind::StepFailed(Box::new(StepFailed {
                    message,
                    process,
                    duration_ms,
                    ..cancelled
                }))
            }
            (End::Exited { value, parsed }, _) => {
                if process.as_ref().is_none_or(|process| process.exit_code == Some(0)) {
                    let output = self.output_name(&step);
                    // What a run inside has given, and no process knows any more.
                    let lost = without_markers(&value).filter(|_| nested);
                    let is_lost = lost.is_some();
                    let given = (lost.unwrap_or(value), parsed);
                    let shown = (!self.secrets.is_empty()).then(|| {
                        let (value, parsed) = &given;
                        let parsed = parsed.as_ref().map(|p| self.secrets.mask_value(p));
                        (self.secrets.mask_value(value), parsed)
                    });
                    let (hidden, (value, parsed)) = match shown.filter(|shown| *shown != given) {
                        None if is_lost => {
                            Arc::make_mut(&mut self.secrets).lose(&output);
                            (true, given)
                        }
                        None => (false, given),
                        Some(shown) if is_lost => {
                            Arc::make_mut(&mut self.secrets).lose(&output);
                            (true, shown)
                        }
                        Some(shown) => {
                            // Later steps get what it is; nobody else does.
                            let (value, parsed) = given;
                            let secrets = Arc::make_mut(&mut self.secrets);
                            if let Some(parsed) = parsed {
                                secrets.reveal(format!("{output}_parsed"), parsed);
                            }
                            secrets.reveal(output.clone(), value);
                            (true, shown)
                        }
                    };
                    let done = StepCompleted {
                        output,
                        step: step.clone(),
                        execution,
                        value,
                        parsed,
                        process,
                        duration_ms,
                        hidden,
                        note,
                        agreed,
                        marked_by: None,
                        log: None,
                    };
                    self.guarded(done, world)
                } else {
                    let failed = StepFailed {
                        message: exit_message(process.as_ref()),
                        hint: process.as_ref().and_then(|process| self.memory_hint(&step, process)),
                        process,
                        ..failed(step.clone(), execution, BadOutcome::Failure)
                    };
                    let failed = self.guarded_failure(failed, world);
                    let leads_to = self.way_of_code(&failed);
                    EventKind::StepFailed(Box::new(StepFailed { leads_to, ..failed }))
                }
            }
            (End::Failed { code, message, hint, proposal }, _) => {
                let failed = StepFailed {
                    code: Some(code),
                    message: self.secrets.mask(&message),
                    hint: hint.map(|hint| self.secrets.mask(&hint)),
                    proposal: proposal.map(|proposal| self.masked_proposal(*proposal)),
                    duration_ms,
                    ..failed(step.clone(), execution, BadOutcome::Failure)
                };
                EventKind::StepFailed(Box::new(self.guarded_failure(failed, world)))
            }
            (End::Declined { expired, by, message }, _) => {
                let outcome = if expired { BadOutcome::Expired } else { BadOutcome::Declined };
                EventKind::StepFailed(Box::new(StepFailed {
                    message: self.secrets.mask(&message),
                    by,
                    duration_ms,
                    ..failed(step.clone(), execution, outcome)
                }))
            }
            (End::TimedOut, _) => {
                // The timer and the clock may differ by a hair: if the run's
                // limit was the nearer one, it is the one that is up.
                let winding_down = if limit.is_some() && limit == self.state.started.deadline {
                    self.begin_winding_down(world.now)
                } else {
                    self.run_expired(world.now)
                };
                let node = self.node(&step).map(|(_, node)| &node.step);
                let own = node.and_then(|step| self.own_limit(step));
                let is_named = node.and_then(|step| self.named_limit(step)) == own;
                let finally = self.state.finally.as_ref();
                let message = match (&winding_down, own) {
                    _ if finally.is_some_and(|it| limit == Some(it.until)) => {
                        "the time for `finally` (`cleanup`) was up".to_owned()
                    }
                    (Some(_), _) => "the run's time limit was up".to_owned(),
                    (None, Some(limit)) if is_named => {
                        format!("timed out after {}", format_duration(limit))
                    }
                    (None, Some(limit)) => {
                        format!("timed out after {} (`max_step_timeout`)", format_duration(limit))
                    }
                    (None, None) => "timed out".to_owned(),
                };
                let message = match note {
                    Some(progress) => format!("{message}; {progress}"),
                    None => message,
                };
                EventKind::StepFailed(Box::new(StepFailed {
                    code: Some(ErrorCode::Timeout),
                    message,
                    process,
                    duration_ms,
                    winding_down,
                    ..failed(step.clone(), execution, BadOutcome::Timeout)
                }))
            }
            (End::Stopped, Some(Stopping::Cancelled { by, reason })) => {
                let (name, reason) = (step.clone(), reason.as_deref());
                let cancelled = self.cancelled_step(name, execution, by, reason, world.now);
                EventKind::StepFailed(Box::new(StepFailed { process, duration_ms, ..cancelled }))
            }
            (End::Stopped, Some(Stopping::Interrupted { .. }) | None) if nested => {
                // Its runs are paused where they are; nothing is in doubt.
                let signal = match stopping {
                    Some(Stopping::Interrupted { signal }) => Some(signal),
                    Some(Stopping::Cancelled { .. }) | None => None,
                };
                return self.pause(PauseReason::Interrupted, signal, world, events);
            }
            (End::Stopped, Some(Stopping::Interrupted { .. }) | None) => {
                EventKind::StepFailed(Box::new(StepFailed {
                    code: Some(ErrorCode::Cancelled),
                    message: "Aye was told to stop while the step ran".to_owned(),
                    process,
                    ..failed(step.clone(), execution, BadOutcome::Interrupted)
                }))
            }
            (End::NotStarted { code, exit_code, message, hint }, _) => {
                let process = exit_code
                    .map(|code| ProcessRecord { exit_code: Some(code), ..Default::default() });
                EventKind::StepFailed(Box::new(StepFailed {
                    code: Some(code),
                    message: self.secrets.mask(&message),
                    hint: hint.map(|hint| self.secrets.mask(&hint)),
                    process,
                    ..failed(step.clone(), execution, BadOutcome::Failure)
                }))
            }
        };
        match &mut kind {
            EventKind::StepCompleted(done) => done.log = log,
            EventKind::StepFailed(failed) => failed.log = log,
            _ => {}
        }
        let stopped = matches!(&kind, EventKind::StepFailed(failed) if failed.outcome == BadOutcome::Cancelled);
        let interrupted = matches!(&kind, EventKind::StepFailed(failed) if failed.outcome == BadOutcome::Interrupted);
        let failed = matches!(&kind, EventKind::StepFailed(failed)
            if matches!(failed.outcome, BadOutcome::Failure | BadOutcome::Timeout));
        let completed = matches!(&kind, EventKind::StepCompleted(_));
        for what in learned {
            // What a step wrote down counts if it was completed, and only then.
            if completed || what.kind != MemoryKind::State {
                let what = self.masked_memory(what);
                self.emit(EventKind::MemoryLearned(Box::new(what)), world, events);
            }
        }
        self.emit(kind, world, events);
        if let (true, None, Some(known)) = (failed, &stopping, known)
            && !self.is_cleaning_up()
            && self.rule_for(&step).is_none()
        {
            self.recall_fix(&step, &known, world, events);
        }
        match stopping {
            // It ended by itself before the stop reached it: the run ends here all the same.
            Some(Stopping::Cancelled { by, reason }) if !stopped => {
                self.cancel(Some(step), by, reason.as_deref(), world, events);
            }
            Some(Stopping::Interrupted { signal }) => {
                self.pause(PauseReason::Interrupted, Some(signal), world, events);
            }
            Some(Stopping::Cancelled { .. }) => self.advance(world, events),
            None if interrupted => self.pause(PauseReason::Interrupted, None, world, events),
            None => self.advance(world, events),
        }
    }

    /// A program that got no more memory fails in its own way; where that is
    /// likely, the limit is named.
    fn memory_hint(&self, step: &str, process: &ProcessRecord) -> Option<String> {
        const MIB: u64 = 1 << 20;
        let limit = self.node(step)?.1.step.max_memory?;
        let said = process.said().to_lowercase();
        let much = process.peak_memory.is_some_and(|peak| peak >= limit / 2);
        let likely = much || said.contains("memory") || said.contains("alloc");
        let shown = match limit % MIB {
            0 => format!("{} MiB", limit / MIB),
            _ => format!("{limit} bytes"),
        };
        likely.then(|| format!("`max_memory` allows each of its processes {shown}"))
    }

    fn masked_proposal(&self, proposal: Proposal) -> Box<Proposal> {
        let mask = |text: &str| self.secrets.mask(text);
        let (why, diff) = (mask(&proposal.why), mask(&proposal.diff));
        Box::new(Proposal { why, diff, code: proposal.code })
    }

    pub(super) fn masked(&self, mut process: ProcessRecord) -> ProcessRecord {
        process.stdout = self.secrets.mask(&process.stdout);
        process.stderr = self.secrets.mask(&process.stderr);
        process
    }

    /// Where the skill sends exactly this exit code.
    fn way_of_code(&self, failed: &StepFailed) -> Option<String> {
        let process = failed.process.as_ref().filter(|process| process.signal.is_none())?;
        let (_, node) = self.node(&failed.step).filter(|_| !failed.guarded)?;
        match node.routes.codes.get(&process.exit_code?)? {
            Target::Step(target) => Some(self.flow.nodes[*target].step.name.value.clone()),
            Target::End(end) => self.flow.endings[*end].name.clone(),
        }
    }

    pub(super) fn output_name(&self, step: &str) -> String {
        let named = self.node(step).and_then(|(_, node)| node.step.output.as_ref());
        named.map_or_else(|| step.to_owned(), |output| output.value.clone())
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
        proposal: None,
        process: None,
        duration_ms: None,
        guarded: false,
        leads_to: None,
        by: None,
        winding_down: None,
        log: None,
    }
}

/// The same number on every system there is.
const SIGXCPU: i32 = 24;

fn exit_message(process: Option<&ProcessRecord>) -> String {
    match process {
        Some(ProcessRecord { signal: Some(SIGXCPU), .. }) => {
            "it used up its processor time (`max_cpu`)".to_owned()
        }
        Some(ProcessRecord { signal_name: Some(name), .. }) => format!("ended by {name}"),
        Some(ProcessRecord { signal: Some(signal), .. }) => format!("ended by signal {signal}"),
        Some(ProcessRecord { exit_code: Some(code), .. }) => format!("exit code {code}"),
        Some(_) | None => "failed".to_owned(),
    }
}
