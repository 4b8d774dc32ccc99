//! What becomes of an open question: answered, refused, held, expired.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::event::{Answered, BadOutcome, Event, Fact, StepFailed};
use crate::id::QuestionId;
use crate::journal::Phase;
use crate::question::{Answer, Question};
use crate::text::World;

use super::finish::failed;
use super::refusal::Refusal;
use super::run::Machine;
use super::secrets::secret_marker;

/// How long a deadline can be held back in all.
const HOLD_LIMIT: SignedDuration = SignedDuration::from_mins(5);
/// How far one hold moves the deadline beyond now.
const HOLD_STEP: SignedDuration = SignedDuration::from_secs(30);

impl Machine {
    pub(super) fn accept(
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

    pub(super) fn record_refused(
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
    pub(super) fn in_time(&self, question: &Question, now: Timestamp) -> Result<(), Refusal> {
        let deadline = [question.deadline, self.state.deadline()].into_iter().flatten().min();
        match deadline {
            Some(deadline) if now >= deadline => Err(Refusal::Expired(question.id.clone())),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn hold(
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

    pub(super) fn check_deadlines(
        &mut self,
        question: &Question,
        world: &World,
        events: &mut Vec<Event>,
    ) {
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
}
