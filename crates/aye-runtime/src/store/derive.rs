//! From events to the derived rows: a pure fold, used alike when appending,
//! rebuilding and auditing.

use aye_core::event::{Answered, Driver, Event, EventKind, SkillStarted};
use aye_core::journal::RunStatus;
use aye_core::question::Question;
use jiff::Timestamp;
use serde::Serialize;

use super::StoreError;
use super::chain::Hash;
use super::rows::{NameClaim, QuestionRow, QuestionState, RunRow};

/// The derived rows of one run. When appending, closed questions need not be
/// among them: nothing changes a closed question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Derived {
    pub(super) run: RunRow,
    pub(super) questions: Vec<QuestionRow>,
}

/// An event with its place in the journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) n: u64,
    pub(super) hash: Hash,
    pub(super) event: &'a Event,
}

/// What the rows are after one more event.
pub(super) fn fold(before: Option<Derived>, next: Placed<'_>) -> Result<Derived, StoreError> {
    let event = next.event;
    let mut derived = match (before, &event.kind) {
        (Some(derived), _) => derived,
        (None, EventKind::SkillStarted(started)) => {
            Derived { run: begin(next, started), questions: Vec::new() }
        }
        (None, _) => {
            return Err(StoreError::NotStarted { run: event.run.clone() });
        }
    };
    derived.take(next.n, event);
    derived.run.updated = milliseconds(event.at);
    derived.run.last_seq = event.seq;
    derived.run.head = next.hash;
    Ok(derived)
}

/// Tables keep milliseconds; the exact time is in the event.
pub(super) fn milliseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

/// A row says who drives a run; the rest is in the events.
fn of_a_row(driver: &Driver) -> Driver {
    let (attended, detached, taken_up) = (false, false, false);
    Driver { attended, detached, taken_up, namespaces: None, ..driver.clone() }
}

fn begin(next: Placed<'_>, started: &SkillStarted) -> RunRow {
    let at = milliseconds(next.event.at);
    RunRow {
        n: next.n,
        id: next.event.run.clone(),
        skill: started.skill.clone(),
        file: started.file.clone(),
        source: started.source.clone(),
        workspace: started.workspace.clone(),
        environment: started.environment.clone(),
        parent: started.parent.as_ref().map(|parent| parent.run.clone()),
        driver: of_a_row(&started.driver),
        started_by: started.started_by,
        starter: started.starter().to_owned(),
        steps: started.steps,
        status: RunStatus::Running,
        why: None,
        message: None,
        concurrency: started.concurrency.clone(),
        claim: None,
        step: None,
        waiting: 0,
        started: at,
        updated: at,
        ended: None,
        last_seq: next.event.seq,
        head: next.hash,
    }
}

impl Derived {
    fn take(&mut self, n: u64, event: &Event) {
        let at = milliseconds(event.at);
        match &event.kind {
            EventKind::SkillStarted(_)
            | EventKind::SkillStopping(_)
            | EventKind::SkillFinishing(_)
            | EventKind::StepQueued { .. }
            | EventKind::StepDequeued { .. }
            | EventKind::StepCompleted(_)
            | EventKind::MemoryRecalled(_)
            | EventKind::MemoryLearned(_)
            | EventKind::ConfirmationAdvised { .. } => {}
            EventKind::ConcurrencyAcquired { .. } => self.run.claim = Some(NameClaim::Held),
            EventKind::ConcurrencyWaiting { holder, .. } => {
                // Its place is that of its first word.
                let since = match self.run.claim {
                    Some(NameClaim::Waits { since, .. }) => since,
                    Some(NameClaim::Held) | None => n,
                };
                self.run.claim = Some(NameClaim::Waits { since, holder: holder.clone() });
            }
            EventKind::SkillPaused { why, message, .. } => {
                self.stand(RunStatus::Paused, Some(word(why)), message.clone());
            }
            EventKind::SkillResumed { driver, .. } => {
                self.stand(RunStatus::Running, None, None);
                self.run.ended = None;
                self.run.driver = of_a_row(driver);
            }
            EventKind::SkillCompleted { .. } => self.end(at, RunStatus::Completed, None, None),
            EventKind::SkillFailed { why, message, step, .. } => {
                let message = Some(message.clone());
                self.end(at, RunStatus::Failed, Some(word(why)), message);
                self.reach(step.as_deref());
            }
            EventKind::SkillCancelled { why, message, step, .. } => {
                self.end(at, RunStatus::Cancelled, Some(word(why)), message.clone());
                self.reach(step.as_deref());
            }
            EventKind::StepStarted(started) => self.reach(Some(&started.step)),
            EventKind::AutoHealTriggered(heal) => self.reach(Some(&heal.step)),
            EventKind::AutoHealCompleted { step, .. } => self.reach(Some(step)),
            EventKind::StepFailed(failed) => self.reach(Some(&failed.step)),
            EventKind::StepSkipped { step, .. } | EventKind::StepRetried { step, .. } => {
                self.reach(Some(step));
            }
            EventKind::ConfirmationRequired(question) => {
                self.reach(Some(&question.step));
                self.ask(n, at, question);
            }
            EventKind::ConfirmationHeld { question, deadline, .. } => {
                if let Some(row) = self.open(question.as_str()) {
                    row.deadline = deadline.map(milliseconds);
                }
            }
            EventKind::ConfirmationAnswered(answered) => self.answer(at, answered),
            EventKind::ConfirmationExpired { question, withdrawn, .. } => {
                let state = match withdrawn {
                    true => QuestionState::Withdrawn,
                    false => QuestionState::Expired,
                };
                if let Some(row) = self.open(question.as_str()) {
                    row.close(state, at);
                }
                self.count();
            }
        }
    }

    fn stand(&mut self, status: RunStatus, why: Option<String>, message: Option<String>) {
        self.run.status = status;
        self.run.why = why;
        self.run.message = message;
    }

    fn end(
        &mut self,
        at: Timestamp,
        status: RunStatus,
        why: Option<String>,
        message: Option<String>,
    ) {
        self.stand(status, why, message);
        self.run.ended = Some(at);
        self.run.claim = None;
        for row in &mut self.questions {
            if row.state == QuestionState::Open {
                row.close(QuestionState::Withdrawn, at);
            }
        }
        self.count();
    }

    fn reach(&mut self, step: Option<&str>) {
        if let Some(step) = step {
            self.run.step = Some(step.to_owned());
        }
    }

    fn ask(&mut self, n: u64, at: Timestamp, question: &Question) {
        // Only where several must agree does it matter which answers decline.
        let declines = question
            .options
            .iter()
            .filter(|offer| {
                question.approvals > 1 && !question.commits(&offer.value.as_str().into())
            })
            .map(|offer| offer.value.clone())
            .collect();
        self.questions.push(QuestionRow {
            n,
            id: question.id.clone(),
            run: self.run.id.clone(),
            skill: self.run.skill.clone(),
            step: question.step.clone(),
            kind: question.kind,
            purpose: question.purpose,
            title: question.title.clone(),
            message: question.message.clone(),
            asked: at,
            deadline: question.deadline.map(milliseconds),
            state: QuestionState::Open,
            closed: None,
            answered_by: None,
            prompter: None,
            missing: question.approvals.max(1),
            declines,
        });
        self.count();
    }

    fn answer(&mut self, at: Timestamp, answered: &Answered) {
        if answered.refused.is_some() {
            return;
        }
        if let Some(row) = self.open(answered.question.as_str()) {
            row.answered_by = Some(answered.answer.by.clone());
            row.prompter = Some(answered.answer.prompter.word().to_owned());
            let declined = answered
                .answer
                .value
                .as_str()
                .is_some_and(|value| row.declines.iter().any(|decline| decline == value));
            row.missing = if declined { 0 } else { row.missing.saturating_sub(1) };
            if row.missing == 0 {
                row.close(QuestionState::Answered, at);
            }
        }
        self.count();
    }

    fn open(&mut self, id: &str) -> Option<&mut QuestionRow> {
        self.questions
            .iter_mut()
            .find(|row| row.state == QuestionState::Open && row.id.as_str() == id)
    }

    fn count(&mut self) {
        let open = self.questions.iter().filter(|row| row.state == QuestionState::Open);
        self.run.waiting = u32::try_from(open.count()).unwrap_or(u32::MAX);
    }
}

impl QuestionRow {
    fn close(&mut self, state: QuestionState, at: Timestamp) {
        self.state = state;
        self.closed = Some(at);
    }
}

/// The word an enum has in the events.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use aye_core::journal::State;

    use super::*;

    /// The index and the fold of a run's events mean the same by where a run stands.
    #[test]
    fn a_row_says_of_a_run_what_the_fold_of_its_events_says() {
        let journal = include_str!("../../../aye-core/tests/fixtures/journal-v1.jsonl");
        let mut run: Option<(Derived, State)> = None;
        let mut seen = Vec::new();
        for line in journal.lines() {
            let event: Event = serde_json::from_str(line).expect("an event");
            let before = run.take().filter(|(row, _)| row.run.id == event.run);
            let (row, state) = before.map_or((None, None), |(row, state)| (Some(row), Some(state)));
            let state = match state {
                None => State::begin(&event),
                Some(mut state) => state.apply(&event).map(|()| state),
            };
            let state = state.expect("it fits");
            let row = fold(row, Placed { n: event.seq, hash: Hash::default(), event: &event });
            let row = row.expect("it fits");
            let told = (row.run.status, row.run.waiting > 0);
            assert_eq!(told, (state.status(), state.is_asking()), "{line}");
            seen.push(told);
            run = Some((row, state));
        }
        for status in RunStatus::ALL {
            let asking = !status.is_ended();
            assert!(seen.contains(&(status, false)), "{status:?} is in the journal");
            assert!(!asking || seen.contains(&(status, true)), "{status:?} with a question");
        }
    }
}
