//! How each event changes the state.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::event::{
    Answered, BadOutcome, Event, EventKind, FailReason, HealTriggered, Remembered, RetryReason,
    SkillStarted, SkipReason, StepCompleted, StepFailed, StepStarted, Stopping, VERSION,
};
use crate::question::{Purpose, Question};
use crate::step_kind::StepKind;

use super::phase::{Ended, Healing, Phase, Resolution, Settled, StepOutcome, Transition, Unsure};
use super::record::{Changed, StepRecord, StepStatus};
use super::state::State;

/// Why events are no journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// There is nothing.
    #[error("the journal is empty")]
    Empty,
    /// The first event must be `skill_started`.
    #[error("the journal begins with `{0}` instead of `skill_started`")]
    Beginning(&'static str),
    /// Written by a newer program.
    #[error("event {seq} has version {version}; this program knows up to {VERSION}")]
    Version {
        /// Which event.
        seq: u64,
        /// Its version.
        version: u32,
    },
    /// An event is missing or there twice.
    #[error("event {found} follows event {last}")]
    Gap {
        /// The last one applied.
        last: u64,
        /// The next one's number.
        found: u64,
    },
    /// It belongs to another run.
    #[error("event {0} belongs to another run")]
    Foreign(u64),
    /// It cannot happen where the run stands.
    #[error("event {seq}: `{kind}` does not fit while the run is {phase}")]
    Misfit {
        /// Which event.
        seq: u64,
        /// What it says.
        kind: &'static str,
        /// Where the run stands.
        phase: &'static str,
    },
}

impl State {
    /// The state after a run's first event.
    pub fn begin(event: &Event) -> Result<Self, FoldError> {
        let EventKind::SkillStarted(started) = &event.kind else {
            return Err(FoldError::Beginning(event.kind.name()));
        };
        check_version(event)?;
        if event.seq != 1 {
            return Err(FoldError::Gap { last: 0, found: event.seq });
        }
        let started: SkillStarted = SkillStarted::clone(started);
        let (driver, epoch) = (started.driver.clone(), started.epoch);
        let turn =
            started.parent.as_ref().map_or(0, |parent| parent.turn.unwrap_or(parent.execution));
        Ok(Self {
            run: event.run.clone(),
            seq: event.seq,
            started,
            started_at: event.at,
            updated_at: event.at,
            phase: Phase::Transition(Transition::Begun),
            driver,
            epoch,
            fixes: IndexMap::new(),
            turn,
            paused: None,
            stopping: None,
            executions: 0,
            visits: 0,
            questions: 0,
            secret_questions: Vec::new(),
            agreed: false,
            winding_down: None,
            outputs: Arc::default(),
            hidden: Vec::new(),
            steps: Arc::default(),
            current: None,
            entered_after: None,
            entered_at: event.at,
            results: IndexMap::new(),
            final_state: None,
            end_message: None,
            survivors: None,
            ended_by: None,
        })
    }

    /// The state after all these events.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, FoldError> {
        let mut events = events.into_iter();
        let mut state = Self::begin(events.next().ok_or(FoldError::Empty)?)?;
        for event in events {
            state.apply(event)?;
        }
        Ok(state)
    }

    /// Takes one more event in. On an error the state is as it was.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        check_version(event)?;
        if event.run != self.run {
            return Err(FoldError::Foreign(event.seq));
        }
        if event.seq != self.seq + 1 {
            return Err(FoldError::Gap { last: self.seq, found: event.seq });
        }
        if !self.fits(&event.kind) {
            let phase = phase_word(&self.phase);
            return Err(FoldError::Misfit { seq: event.seq, kind: event.kind.name(), phase });
        }
        self.seq = event.seq;
        self.updated_at = event.at;
        self.take(event);
        if self.paused.is_some() || !matches!(self.phase, Phase::Running { .. }) {
            self.stopping = None;
        }
        Ok(())
    }

    /// Whether a fact can happen where the run stands.
    fn fits(&self, kind: &EventKind) -> bool {
        let execution_runs = |execution: u32| matches!(&self.phase, Phase::Running { execution: e, .. } if *e == execution);
        let asks = |id: &crate::id::QuestionId| matches!(&self.phase, Phase::Asking { question, .. } if question.id == *id);
        let between = matches!(self.phase, Phase::Transition(_));
        let asking = matches!(self.phase, Phase::Asking { .. });
        let nested = matches!(self.phase, Phase::Running { nested: true, .. });
        match kind {
            EventKind::SkillStarted(_) => false,
            EventKind::SkillPaused { .. } => self.paused.is_none() && (between || asking || nested),
            EventKind::SkillStopping(why) => {
                let running = matches!(self.phase, Phase::Running { .. });
                let first = match (&self.stopping, why) {
                    (None, _) => true,
                    // A cancel ends the run for good; an interrupt gives way.
                    (Some(Stopping::Interrupted { .. }), Stopping::Cancelled { .. }) => true,
                    (Some(_), _) => false,
                };
                running && first && self.paused.is_none()
            }
            EventKind::SkillResumed { .. } => {
                !matches!(self.phase, Phase::Ended(_)) || self.failed_step().is_some()
            }
            EventKind::MemoryRecalled(what) => match &what.fix {
                None => !matches!(self.phase, Phase::Ended(_)),
                Some(_) => {
                    matches!(&self.phase, Phase::Transition(Transition::Settled(settled)) if what.step.as_ref() == Some(&settled.step))
                }
            },
            EventKind::MemoryLearned(_) => !matches!(self.phase, Phase::Ended(_)),
            EventKind::SkillCompleted { .. } | EventKind::SkillFailed { .. } => between,
            EventKind::SkillCancelled { .. } => between || asking,
            EventKind::StepStarted(started) => between && started.execution == self.executions + 1,
            EventKind::AutoHealTriggered(heal) => {
                matches!(&self.phase, Phase::Transition(Transition::Settled(settled)) if settled.step == heal.step)
                    && heal.execution == self.executions + 1
            }
            EventKind::AutoHealCompleted { execution, .. } => {
                matches!(&self.phase, Phase::Running { execution: e, healing: Some(_), .. } if e == execution)
            }
            EventKind::StepQueued { execution, .. } | EventKind::StepDequeued { execution, .. } => {
                execution_runs(*execution)
            }
            EventKind::StepCompleted(done) => between || execution_runs(done.execution),
            EventKind::StepFailed(failed) => between || execution_runs(failed.execution),
            EventKind::StepSkipped { .. } | EventKind::StepRetried { .. } => between,
            EventKind::ConfirmationRequired(_) => between,
            EventKind::ConfirmationHeld { question, .. } => asks(question),
            EventKind::ConfirmationAnswered(answered) => {
                answered.refused.is_some() || asks(&answered.question)
            }
            EventKind::ConfirmationExpired { question, .. } => asks(question),
        }
    }

    fn cut_off(&mut self, ended: Option<u32>) {
        if let Some(ended) = ended {
            *self.survivors.get_or_insert(0) += ended;
        }
    }

    fn take(&mut self, event: &Event) {
        let at = event.at;
        match &event.kind {
            EventKind::SkillStarted(_) => {}
            EventKind::SkillPaused { why, .. } => self.paused = Some(*why),
            EventKind::SkillStopping(why) => self.stopping = Some(why.clone()),
            EventKind::SkillResumed { driver, suspended_ms, turn, ended, epoch } => {
                self.paused = None;
                // Whoever takes it up wants it to go on; a cancel stands.
                if let Some(Stopping::Interrupted { .. }) = self.stopping {
                    self.stopping = None;
                }
                self.epoch = *epoch;
                self.turn = turn.unwrap_or(self.turn);
                self.cut_off(*ended);
                self.driver.clone_from(driver);
                self.reopen();
                if let Some(ms) = suspended_ms {
                    self.give_back(*ms);
                }
            }
            EventKind::SkillCompleted { state, outputs, .. } => {
                self.results.clone_from(outputs);
                self.final_state.clone_from(state);
                self.end(Ended::Completed);
            }
            EventKind::SkillFailed { why, message, state, .. } => {
                self.end_message = Some(message.clone());
                self.final_state.clone_from(state);
                self.end(Ended::Failed(*why));
            }
            EventKind::SkillCancelled { why, by, message, ended, .. } => {
                self.cut_off(*ended);
                self.end_message.clone_from(message);
                self.ended_by.clone_from(by);
                self.end(Ended::Cancelled(*why));
            }
            EventKind::StepStarted(started) => self.step_started(started, at),
            EventKind::StepQueued { step, .. } => self.queued(step, true, at),
            EventKind::StepDequeued { step, .. } => self.queued(step, false, at),
            EventKind::StepCompleted(done) => self.step_completed(done, at),
            EventKind::StepFailed(failed) => self.step_failed(failed, at),
            EventKind::StepSkipped { step, why, by, message } => {
                let record = self.enter(step, at);
                record.status = StepStatus::Skipped;
                record.ended = Some(at);
                record.message.clone_from(message);
                let close = match why {
                    SkipReason::Condition | SkipReason::Answer => StepOutcome::Skipped,
                    SkipReason::Declined => {
                        StepOutcome::Declined { expired: false, by: by.clone() }
                    }
                    SkipReason::Expired => StepOutcome::Declined { expired: true, by: None },
                };
                self.settle(step, close);
            }
            EventKind::StepRetried { step, attempt, why, not_before, edits, fix, answer } => {
                self.entered_at = at;
                let answered = match &self.phase {
                    Phase::Transition(Transition::Resolved { resolution, .. }) => {
                        match &**resolution {
                            Resolution::Answered(answer) => Some(Box::new(answer.clone())),
                            Resolution::Expired(_) => None,
                        }
                    }
                    _ => None,
                };
                // Still the same visit to it.
                let steps = Arc::make_mut(&mut self.steps);
                let record = steps.entry(step.clone()).or_insert_with(StepRecord::new);
                record.attempt = *attempt;
                record.status = StepStatus::Waiting;
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
                        });
                    }
                    record.edits = Some(edits.over(record.edits.take()));
                }
                self.phase = Phase::Transition(Transition::Retrying {
                    step: step.clone(),
                    attempt: *attempt,
                    why: *why,
                    not_before: *not_before,
                });
            }
            EventKind::AutoHealTriggered(heal) => self.heal_triggered(heal),
            EventKind::AutoHealCompleted { step, .. } => {
                if let Phase::Running { healing: Some(healing), .. } = &self.phase {
                    let close = healing.close.clone();
                    let tried = healing.fix.as_ref().map(|fix| fix.id.clone());
                    if let Some(record) = Arc::make_mut(&mut self.steps).get_mut(step) {
                        record.fix = tried;
                    }
                    self.settle(step, close);
                }
            }
            EventKind::MemoryRecalled(what) => self.recalled(what),
            EventKind::MemoryLearned(_) => {}
            EventKind::ConfirmationRequired(question) => self.ask(question, at),
            EventKind::ConfirmationHeld { deadline, .. } => self.held(*deadline, at),
            EventKind::ConfirmationAnswered(answered) => self.answered(answered),
            EventKind::ConfirmationExpired { applied, .. } => {
                self.resolve(Resolution::Expired(applied.clone()));
            }
        }
    }

    /// Whether the step that runs has not begun yet: it waits for a slot.
    pub fn is_queued(&self) -> bool {
        let Phase::Running { step, .. } = &self.phase else { return false };
        self.steps.get(step).is_some_and(|record| record.queued)
    }

    fn queued(&mut self, step: &str, queued: bool, at: jiff::Timestamp) {
        if let Some(record) = Arc::make_mut(&mut self.steps).get_mut(step) {
            record.queued = queued;
            // What it waited is not the time that it took.
            record.started = Some(at);
        }
    }

    /// The step whose failure ended the run, if it can be tried again.
    pub fn failed_step(&self) -> Option<&str> {
        let again = matches!(
            self.phase,
            Phase::Ended(Ended::Failed(
                FailReason::StepFailed | FailReason::StepTimedOut | FailReason::Aborted
            ))
        );
        let step = self.current.as_deref().filter(|_| again && self.winding_down.is_none())?;
        let status = self.steps.get(step).map(|record| record.status);
        matches!(status, Some(StepStatus::Failed | StepStatus::TimedOut)).then_some(step)
    }

    /// A run that failed goes on: its last step has just failed.
    fn reopen(&mut self) {
        let Some(step) = self.failed_step().map(str::to_owned) else { return };
        let record = self.steps.get(&step);
        let code = record.and_then(|record| record.process.as_ref()?.exit_code);
        self.end_message = None;
        self.settle(&step, StepOutcome::Failure(code));
    }

    /// A fix is about to be carried out.
    fn recalled(&mut self, what: &Remembered) {
        if let (Some(fix), Phase::Transition(Transition::Settled(settled))) =
            (&what.fix, &mut self.phase)
        {
            settled.fix = Some(fix.clone());
            *self.fixes.entry(fix.id.clone()).or_insert(0) += 1;
        }
    }

    /// Moves the limits of the run and of its running step: it stood still.
    fn give_back(&mut self, ms: u64) {
        let later = jiff::SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
        let shift = |at: &mut jiff::Timestamp| *at = at.checked_add(later).unwrap_or(*at);
        self.started.deadline.iter_mut().for_each(shift);
        if let Some(winding) = &mut self.winding_down {
            shift(&mut winding.until);
        }
        if let Phase::Running { deadline, .. } = &mut self.phase {
            deadline.iter_mut().for_each(shift);
        }
    }

    fn step_started(&mut self, started: &StepStarted, at: jiff::Timestamp) {
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
        record.started = Some(at);
        record.ended = None;
        record.kind = Some(started.kind.clone());
        record.items.clone_from(&started.items);
        record.message = None;
        record.code = None;
        record.hint = None;
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

    fn heal_triggered(&mut self, heal: &HealTriggered) {
        let Phase::Transition(Transition::Settled(settled)) = &self.phase else { return };
        let close = settled.close.clone();
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
            healing: Some(Healing { rule: heal.rule.clone(), close, fix: heal.fix.clone() }),
        };
    }

    fn step_completed(&mut self, done: &StepCompleted, at: jiff::Timestamp) {
        let record = self.enter(&done.step, at);
        record.status = StepStatus::Completed;
        record.queued = false;
        record.ended = Some(at);
        record.process.clone_from(&done.process);
        record.message = done.marked_by.as_ref().map(|who| format!("marked as done by {who}"));
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
        self.settle(&done.step, StepOutcome::Success);
    }

    fn step_failed(&mut self, failed: &StepFailed, at: jiff::Timestamp) {
        let record = self.enter(&failed.step, at);
        record.status = failed.outcome.into();
        record.queued = false;
        record.ended = Some(at);
        record.message = Some(failed.message.clone());
        record.code.clone_from(&failed.code);
        record.hint.clone_from(&failed.hint);
        record.proposal.clone_from(&failed.proposal);
        record.process.clone_from(&failed.process);
        let attempt = record.attempt.max(1);
        let last = failed.winding_down.is_some();
        if last {
            self.winding_down.clone_from(&failed.winding_down);
        }
        let idempotent = matches!(&self.phase, Phase::Running { idempotent: true, .. });
        let unsure = |interrupted| {
            Phase::Transition(Transition::Unsure(Unsure {
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
                let close = if last { StepOutcome::RunTimeout } else { StepOutcome::Timeout };
                self.settle_with(&failed.step, close, last);
            }
            BadOutcome::Cancelled => self.settle_with(&failed.step, StepOutcome::Cancelled, last),
            BadOutcome::Declined | BadOutcome::Expired => {
                let expired = failed.outcome == BadOutcome::Expired;
                let close = StepOutcome::Declined { expired, by: failed.by.clone() };
                self.settle_with(&failed.step, close, last);
            }
            BadOutcome::Interrupted => self.phase = unsure(true),
            BadOutcome::Unknown => self.phase = unsure(false),
        }
    }

    fn ask(&mut self, question: &Question, at: jiff::Timestamp) {
        self.questions += 1;
        if question.secret {
            self.secret_questions.push(question.id.clone());
        }
        // Asking what to do about a step is still the same visit to it.
        if question.purpose != Purpose::Recover {
            self.enter(&question.step, at);
        }
        self.phase = Phase::Asking {
            question: Box::new(question.clone()),
            asked_ms: at.as_millisecond(),
            agreed: Vec::new(),
            agreed_on: None,
            held_ms: 0,
            still_ms: None,
        };
    }

    /// The open question has another deadline, or none for the time being.
    fn held(&mut self, deadline: Option<jiff::Timestamp>, at: jiff::Timestamp) {
        let Phase::Asking { question, held_ms, still_ms, .. } = &mut self.phase else {
            return;
        };
        let before = std::mem::replace(&mut question.deadline, deadline);
        let later = |now: jiff::Timestamp, than: jiff::Timestamp| {
            now.as_millisecond() - than.as_millisecond()
        };
        match (before, deadline) {
            (Some(before), Some(deadline)) => *held_ms += later(deadline, before),
            (Some(before), None) => *still_ms = Some(later(before, at).max(0)),
            (None, _) => *still_ms = None,
        }
    }

    fn answered(&mut self, answered: &Answered) {
        let Phase::Asking { question, agreed, agreed_on, .. } = &mut self.phase else {
            return;
        };
        if answered.refused.is_some() || question.id != answered.question {
            return;
        }
        let answer = &answered.answer;
        if question.commits(&answer.value) {
            agreed.push(answer.by.clone());
            *agreed_on = Some(answer.value.clone());
            if (agreed.len() as u64) < u64::from(question.approvals) {
                return;
            }
            self.agreed |= question.purpose == Purpose::Ask && question.is_guarded();
        }
        self.resolve(Resolution::Answered(answer.clone()));
    }

    fn resolve(&mut self, resolution: Resolution) {
        if let Phase::Asking { question, .. } = &self.phase {
            let (question, resolution) = (question.clone(), Box::new(resolution));
            self.phase = Phase::Transition(Transition::Resolved { question, resolution });
        }
    }

    fn settle(&mut self, step: &str, close: StepOutcome) {
        self.settle_with(step, close, false);
    }

    fn settle_with(&mut self, step: &str, close: StepOutcome, last: bool) {
        let step = step.to_owned();
        self.phase =
            Phase::Transition(Transition::Settled(Settled { step, close, last, fix: None }));
    }

    fn end(&mut self, ended: Ended) {
        self.phase = Phase::Ended(ended);
        self.paused = None;
    }

    /// The record of a step, counting a visit if the run comes from elsewhere.
    fn enter(&mut self, step: &str, at: jiff::Timestamp) -> &mut StepRecord {
        let fresh = self.phase.is_between_visits();
        if let Phase::Transition(Transition::Settled(settled)) = &self.phase {
            self.entered_after = Some(settled.clone());
        }
        let steps = Arc::make_mut(&mut self.steps);
        let record = steps.entry(step.to_owned()).or_insert_with(StepRecord::new);
        if fresh || record.visits == 0 {
            *record = StepRecord { visits: record.visits + 1, ..StepRecord::new() };
            self.visits += 1;
            self.current = Some(step.to_owned());
            self.entered_at = at;
        }
        record
    }
}

fn check_version(event: &Event) -> Result<(), FoldError> {
    if event.v > VERSION {
        return Err(FoldError::Version { seq: event.seq, version: event.v });
    }
    Ok(())
}

fn phase_word(phase: &Phase) -> &'static str {
    match phase {
        Phase::Transition(_) => "between steps",
        Phase::Running { .. } => "running a step",
        Phase::Asking { .. } => "waiting for an answer",
        Phase::Ended(_) => "over",
    }
}
