//! How the events of steps change the state: their visits, attempts and ends.

use std::sync::Arc;

use jiff::Timestamp;

use crate::event::{
    BadOutcome, EventKind, FailReason, HealTriggered, MemoryKind, ProcessRecord, Remembered,
    RetryReason, SkipReason, StepCompleted, StepFailed, StepStarted,
};
use crate::journal::phase::{
    Ended, Healing, Phase, Resolution, Settled, StepOutcome, Transition, UnknownOutcome,
};
use crate::journal::record::{Changed, StepRecord, StepStatus};
use crate::journal::state::State;
use crate::step_kind::StepKind;

impl State {
    /// Whether the step that runs has not begun yet: it waits for a slot.
    pub fn is_queued(&self) -> bool {
        let Phase::Running { step, .. } = &self.phase else { return false };
        self.steps.get(step).is_some_and(|record| record.queued)
    }

    /// The step whose failure ended the run, if it can be tried again.
    pub fn failed_step(&self) -> Option<&str> {
        let again = matches!(
            self.phase,
            Phase::Ended(Ended::Failed(
                FailReason::StepFailed
                    | FailReason::StepTimedOut
                    | FailReason::Aborted
                    | FailReason::Finally
            ))
        );
        let step = self.decisive_step().filter(|_| again && self.winding_down.is_none())?;
        let status = |step: &str| self.steps.get(step).map(|record| record.status);
        let in_doubt = |step: &str| {
            matches!(status(step), Some(StepStatus::Unknown | StepStatus::Interrupted))
        };
        // `finally` would run again, and with it what nobody has settled.
        let doubtful = self.finally.iter().flat_map(|it| &it.entered).any(|step| in_doubt(step));
        // Aborted when its outcome was unknown: the person who retries it knows that.
        let aborted = matches!(self.phase, Phase::Ended(Ended::Failed(FailReason::Aborted)));
        let failed = matches!(status(step), Some(StepStatus::Failed | StepStatus::TimedOut))
            || aborted && in_doubt(step);
        (failed && !doubtful).then_some(step)
    }

    /// A run that failed continues: its last step has just failed.
    pub(super) fn reopen(&mut self, at: Timestamp) {
        let Some(step) = self.failed_step().map(str::to_owned) else { return };
        match (&self.phase, &mut self.finally) {
            (Phase::Ended(Ended::Failed(FailReason::Finally)), Some(finally)) => {
                finally.again(&step, at);
            }
            // It follows once more when the run has ended again.
            (_, finally) => *finally = None,
        }
        let record = self.steps.get(&step);
        let code = record.and_then(|record| record.process.as_ref()?.exit_code);
        self.yes = false;
        self.end_message = None;
        self.decided_by = None;
        self.current = Some(step.clone());
        self.settle(&step, StepOutcome::Failure(code));
    }

    /// The record of a step, counting a visit if the run comes from elsewhere.
    pub(super) fn enter(&mut self, step: &str, at: Timestamp) -> &mut StepRecord {
        let fresh = self.phase.is_between_visits();
        if let Phase::Transition(Transition::Settled(settled)) = &self.phase {
            self.entered_after = Some(settled.clone());
        }
        let steps = Arc::make_mut(&mut self.steps);
        let record = steps.entry(step.to_owned()).or_default();
        if fresh || record.visits == 0 {
            *record = StepRecord { visits: record.visits + 1, ..StepRecord::default() };
            self.visits += 1;
            self.current = Some(step.to_owned());
            if let Some(finally) = &mut self.finally {
                finally.entered.push(step.to_owned());
            }
            self.entered_at = at;
            // It stays: the next visit is compared with the same yes.
            if let Some(covered) = self.covered.get(step) {
                record.approved = Some(Arc::clone(&covered.approved));
                record.outside = Arc::clone(&covered.outside);
                self.entered_at = covered.at;
            }
        }
        record
    }

    pub(super) fn queued(&mut self, step: &str, queued: bool, at: Timestamp) {
        if let Some(record) = Arc::make_mut(&mut self.steps).get_mut(step) {
            record.queued = queued;
            // What it waited is not the time that it took.
            record.started = Some(at);
        }
    }

    pub(super) fn step_started(&mut self, started: &StepStarted, at: Timestamp) {
        self.executions = started.execution;
        let record = self.enter(&started.step, at);
        record.status = StepStatus::Running;
        record.queued = false;
        record.attempt = started.attempt;
        record.execution = started.execution;
        record.goes_on = started.goes_on.is_some();
        record.runs = match started.nested {
            true => started.goes_on.unwrap_or(started.execution),
            false => 0,
        };
        record.command.clone_from(&started.command);
        record.argv.clone_from(&started.argv);
        record.started = Some(at);
        record.ended = None;
        record.duration_ms = None;
        record.note = None;
        record.kind = Some(started.kind.clone());
        record.items.clone_from(&started.items);
        record.labels.clone_from(&started.labels);
        record.message = None;
        record.code = None;
        record.hint = None;
        record.leads_to = None;
        record.process = None;
        record.proposal = None;
        // A question's step acts by being asked: it cannot be half done.
        let asks = matches!(started.kind, StepKind::Confirm | StepKind::Choose | StepKind::Input);
        self.phase = if asks {
            record.status = StepStatus::Waiting;
            Phase::Transition(Transition::Posing { step: started.step.clone() })
        } else {
            Phase::Running {
                step: started.step.clone(),
                execution: started.execution,
                attempt: started.attempt,
                idempotent: started.idempotent,
                deadline: started.deadline,
                nested: started.nested,
                healing: None,
            }
        };
    }

    pub(super) fn heal_triggered(&mut self, heal: &HealTriggered) {
        let Phase::Transition(Transition::Settled(settled)) = &self.phase else { return };
        let outcome = settled.outcome.clone();
        self.executions = heal.execution;
        if let Some(record) = Arc::make_mut(&mut self.steps).get_mut(&heal.step) {
            record.heals += u32::from(heal.fix.is_none());
        }
        self.phase = Phase::Running {
            step: heal.step.clone(),
            execution: heal.execution,
            attempt: 1,
            idempotent: false,
            deadline: heal.deadline,
            nested: true,
            healing: Some(Healing { rule: heal.rule.clone(), outcome, fix: heal.fix.clone() }),
        };
    }

    pub(super) fn step_completed(&mut self, done: &StepCompleted, at: Timestamp) {
        let record = self.enter(&done.step, at);
        record.status = StepStatus::Completed;
        record.queued = false;
        record.ended = Some(at);
        record.process.clone_from(&done.process);
        record.duration_ms = spent(done.process.as_ref(), done.duration_ms);
        record.note.clone_from(&done.note);
        record.output = Some(done.output.clone());
        record.message = done.marked_by.as_ref().map(|who| format!("marked as done by {who}"));
        let asks = matches!(record.kind, Some(StepKind::Confirm | StepKind::Choose));
        let outputs = Arc::make_mut(&mut self.outputs);
        outputs.insert(done.output.clone(), done.value.clone());
        let parsed_name = format!("{}_parsed", done.output);
        if let Some(parsed) = &done.parsed {
            outputs.insert(parsed_name.clone(), parsed.clone());
        }
        self.hidden.retain(|name| *name != done.output && *name != parsed_name);
        if done.hidden {
            self.hidden.push(done.output.clone());
            self.hidden.extend(done.parsed.as_ref().map(|_| parsed_name));
        }
        self.agreed |= done.agreed;
        let chosen = asks.then(|| done.value.as_str()).flatten().map(str::to_owned);
        self.settle_by(&done.step, StepOutcome::Success, chosen);
    }

    pub(super) fn step_failed(&mut self, failed: &StepFailed, at: Timestamp) {
        let record = self.enter(&failed.step, at);
        record.status = failed.outcome.into();
        record.queued = false;
        record.ended = Some(at);
        record.message = Some(failed.message.clone());
        record.code.clone_from(&failed.code);
        record.hint.clone_from(&failed.hint);
        record.leads_to.clone_from(&failed.leads_to);
        record.proposal.clone_from(&failed.proposal);
        record.process.clone_from(&failed.process);
        record.duration_ms = spent(failed.process.as_ref(), failed.duration_ms);
        let attempt = record.attempt.max(1);
        let last = failed.winding_down.is_some();
        if last {
            self.ending_since = Some(at);
            self.winding_down.clone_from(&failed.winding_down);
        }
        let idempotent = matches!(&self.phase, Phase::Running { idempotent: true, .. });
        let unsure = |interrupted| {
            Phase::Transition(Transition::UnknownOutcome(UnknownOutcome {
                step: failed.step.clone(),
                attempt,
                idempotent,
                interrupted,
            }))
        };
        match failed.outcome {
            BadOutcome::Failure if failed.guarded => {
                self.settle_with(&failed.step, StepOutcome::Guarded, last);
            }
            BadOutcome::Failure => {
                let code = failed.process.as_ref().and_then(|process| process.exit_code);
                self.settle_with(&failed.step, StepOutcome::Failure(code), last);
            }
            BadOutcome::Timeout => {
                let outcome = if last { StepOutcome::RunTimeout } else { StepOutcome::Timeout };
                self.settle_with(&failed.step, outcome, last);
            }
            BadOutcome::Cancelled => self.settle_with(&failed.step, StepOutcome::Cancelled, last),
            BadOutcome::Declined | BadOutcome::Expired => {
                let expired = failed.outcome == BadOutcome::Expired;
                let outcome = StepOutcome::Declined { expired, by: failed.by.clone() };
                self.settle_with(&failed.step, outcome, last);
            }
            BadOutcome::Interrupted => self.phase = unsure(true),
            BadOutcome::Unknown => self.phase = unsure(false),
        }
    }

    pub(super) fn step_skipped(&mut self, skipped: &EventKind, at: Timestamp) {
        let EventKind::StepSkipped { step, why, by, message, answer } = skipped else { return };
        let record = self.enter(step, at);
        record.status = StepStatus::Skipped;
        record.ended = Some(at);
        record.message.clone_from(message);
        let outcome = match *why {
            SkipReason::Condition | SkipReason::Answer => StepOutcome::Skipped,
            SkipReason::Declined => StepOutcome::Declined { expired: false, by: by.clone() },
            SkipReason::Expired => StepOutcome::Declined { expired: true, by: None },
        };
        self.settle_by(step, outcome, answer.clone());
    }

    /// The step is tried once more.
    pub(super) fn step_retried(&mut self, retried: &EventKind, at: Timestamp) {
        let EventKind::StepRetried { step, attempt, why, not_before, edits, fix, answer } = retried
        else {
            return;
        };
        // What was agreed to at an earlier question names the time of that; so does what the
        // skill tries again by itself, which the yes to its own gate was for as well.
        let approved = self.steps.get(step).and_then(|record| record.approved.as_ref());
        let again = match approved {
            Some(approved) => {
                let by_itself = matches!(why, RetryReason::Policy | RetryReason::Healed);
                approved.asked_by.is_none() && !by_itself
            }
            None => true,
        };
        if again {
            self.entered_at = at;
        }
        let answered = match &self.phase {
            Phase::Transition(Transition::Resolved { resolution, .. }) => match &**resolution {
                Resolution::Answered(answer) => Some(Box::new(answer.clone())),
                Resolution::Expired(_) => None,
            },
            _ => None,
        };
        // Still the same visit to it.
        let steps = Arc::make_mut(&mut self.steps);
        let record = steps.entry(step.clone()).or_default();
        record.attempt = *attempt;
        record.status = StepStatus::Waiting;
        if again {
            record.outside = Arc::default();
        }
        record.fix.clone_from(fix);
        let by_person = matches!(why, RetryReason::Answer | RetryReason::Relayed);
        let items = !record.items.is_empty();
        record.goes_on = by_person && record.runs > 0 && (items || edits.is_none());
        record.retried_by = answer.clone().or(answered);
        record.handed_on = edits.clone().filter(|_| items);
        if let Some(edits) = edits.as_ref().filter(|_| !items) {
            record.edited += u32::from(by_person);
            if by_person {
                record.changes.push(Changed {
                    error: record.error(),
                    edits: edits.clone(),
                    relayed: *why == RetryReason::Relayed,
                    by: record.retried_by.as_ref().map(|answer| answer.by.clone()),
                });
            }
            record.edits = Some(edits.over(record.edits.take()));
            if let Some(approved) = &mut record.approved {
                Arc::make_mut(approved).edited = true;
            }
        }
        self.phase = Phase::Transition(Transition::Retrying {
            step: step.clone(),
            attempt: *attempt,
            why: *why,
            not_before: *not_before,
        });
    }

    /// A repair is over: what it was for stands as before.
    pub(super) fn heal_completed(&mut self, step: &str) {
        if let Phase::Running { healing: Some(healing), .. } = &self.phase {
            let outcome = healing.outcome.clone();
            let tried = healing.fix.as_ref().map(|fix| fix.id.clone());
            if let Some(record) = Arc::make_mut(&mut self.steps).get_mut(step) {
                record.fix = tried;
            }
            self.settle(step, outcome);
        }
    }

    /// A fix is about to be carried out.
    pub(super) fn recalled(&mut self, what: &Remembered) {
        if let (Some(fix), Phase::Transition(Transition::Settled(settled))) =
            (&what.fix, &mut self.phase)
        {
            settled.fix = Some(fix.clone());
            *self.fixes.entry(fix.id.clone()).or_insert(0) += 1;
        } else if let (MemoryKind::Fix, Some(id), None) = (what.kind, &what.id, &what.fix) {
            // It was said why it is not used.
            self.fixes.entry(id.clone()).or_insert(0);
        }
    }

    fn settle(&mut self, step: &str, outcome: StepOutcome) {
        self.settle_with(step, outcome, false);
    }

    fn settle_with(&mut self, step: &str, outcome: StepOutcome, last: bool) {
        let (step, answer) = (step.to_owned(), None);
        let settled = Settled { step, outcome, answer, last, fix: None };
        self.phase = Phase::Transition(Transition::Settled(settled));
    }

    fn settle_by(&mut self, step: &str, outcome: StepOutcome, answer: Option<String>) {
        let settled = Settled { step: step.to_owned(), outcome, answer, last: false, fix: None };
        self.phase = Phase::Transition(Transition::Settled(settled));
    }
}

/// How long a step took: its process, or what it did without one. What was
/// never started has used nothing, and took no time.
fn spent(process: Option<&ProcessRecord>, own: Option<u64>) -> Option<u64> {
    process.filter(|process| process.cpu_ms.is_some()).map(|process| process.duration_ms).or(own)
}
