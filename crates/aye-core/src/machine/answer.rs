//! What becomes of an open question: answered, refused, held, expired.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::advice::{self, Advice};
use crate::event::{Answered, Event, EventKind, MemoryKind, Remembered};
use crate::id::QuestionId;
use crate::journal::Phase;
use crate::question::{Answer, Channel, Proof, Purpose, Question};
use crate::skill::{AskKind, ChoiceAction};
use crate::text::World;

use super::refusal::Refusal;
use super::run::{Machine, after};
use super::validate_answer::validate_value;
use crate::secrets::secret_marker;

/// How long a deadline can be held back in all.
const HOLD_LIMIT: SignedDuration = SignedDuration::from_mins(5);
/// How far one hold moves the deadline beyond now.
const HOLD_STEP: SignedDuration = SignedDuration::from_secs(30);

impl Machine {
    pub(super) fn accept(
        &mut self,
        open: &Question,
        mut answer: Answer,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        if open.secret
            && let Some(text) = answer.value.as_str()
        {
            let name = self.output_name(&open.step);
            Arc::make_mut(&mut self.secrets).insert_answer(name, text);
            answer.value = secret_marker();
        }
        // The value of an option is the skill's own word; text may hold a secret.
        if open.kind == AskKind::Input {
            answer.value = self.secrets.mask_value(&answer.value);
        }
        let mut answer = self.masked_answer(answer);
        if answer.reauth {
            answer.proof = Some(Proof::Otp);
        }
        let asked_ms = match &self.state.phase {
            Phase::Asking { asked_ms, .. } => *asked_ms,
            Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => return,
        };
        let latency = world.now.as_millisecond() - asked_ms;
        let label = answer.value.as_str().and_then(|value| open.offer(value));
        let label = label.map(|offer| offer.label.clone());
        if answer.prompter == Channel::Memory {
            let message = answer.reason.clone().unwrap_or_default();
            let recalled = Remembered {
                step: Some(open.step.clone()),
                ..Remembered::told(MemoryKind::Preference, message)
            };
            self.emit(EventKind::MemoryRecalled(Box::new(recalled)), world, events);
        }
        let answered = Answered {
            question: open.id.clone(),
            label,
            answer,
            latency_ms: u64::try_from(latency).unwrap_or(0),
            refused: None,
        };
        self.emit(EventKind::ConfirmationAnswered(Box::new(answered)), world, events);
    }

    pub(super) fn record_refused(
        &mut self,
        question: QuestionId,
        mut answer: Answer,
        refusal: &Refusal,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        // It may be a secret: mistyped, too late, or meant for another run.
        if self.state.asked_openly(&question) {
            answer.value = self.secrets.mask_value(&answer.value);
        } else {
            answer.value = secret_marker();
            answer.typed = None;
        }
        let mut answer = self.masked_answer(answer);
        // It was not taken; what it says may be a secret.
        answer.edits = None;
        let refused = Some(self.secrets.mask(&refusal.to_string()));
        let asked = match &self.state.phase {
            Phase::Asking { question: open, asked_ms, .. } if open.id == question => {
                Some(*asked_ms)
            }
            Phase::Asking { .. }
            | Phase::Transition(_)
            | Phase::Running { .. }
            | Phase::Ended(_) => None,
        };
        let latency = asked.map_or(0, |asked| world.now.as_millisecond() - asked);
        let latency_ms = u64::try_from(latency).unwrap_or(0);
        let answered = Answered { question, answer, label: None, latency_ms, refused };
        self.emit(EventKind::ConfirmationAnswered(Box::new(answered)), world, events);
    }

    /// Expiry is decided by the clock, not by a timer having fired.
    pub(super) fn in_time(&self, question: &Question, now: Timestamp) -> Result<(), Refusal> {
        match self.state.question_deadline() {
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
            let (deadline, by, left_ms) = (Some(deadline), Some(by), None);
            let held = EventKind::ConfirmationHeld { question, deadline, by, left_ms };
            self.emit(held, world, events);
        }
        Ok(())
    }

    /// Records what an assistant thinks of the open question. Nothing else
    /// follows from it.
    pub(super) fn advise(
        &mut self,
        open: &Question,
        before: usize,
        advice: Advice,
        world: &World,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        if before >= advice::MOST {
            return Err(Refusal::AdvisedEnough);
        }
        let masked = Advice { text: self.secrets.mask(&advice.text), ..advice };
        let advice = masked.recorded(open).ok_or(Refusal::NoAdvice)?;
        let (question, advice) = (open.id.clone(), Box::new(advice));
        self.emit(EventKind::ConfirmationAdvised { question, advice }, world, events);
        Ok(())
    }

    /// The time of a question stands still while it waits behind another, and
    /// continues when it is shown.
    pub(super) fn shown(
        &mut self,
        open: &Question,
        still_ms: Option<i64>,
        shown: bool,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let deadline = match (shown, still_ms) {
            (true, Some(left)) => {
                let left = u64::try_from(left).unwrap_or(0);
                Some(after(world.now, Duration::from_millis(left)))
            }
            // What has expired is not called back.
            (false, None) if open.deadline.is_some_and(|deadline| world.now < deadline) => None,
            (true, None) | (false, _) => return,
        };
        let question = open.id.clone();
        let (by, left_ms) = (None, None);
        self.emit(EventKind::ConfirmationHeld { question, deadline, by, left_ms }, world, events);
    }

    /// Closes the open question if its time is up. What follows is decided
    /// where the run continues (`resolved`). Silence is not yes where nobody could
    /// see the question: such a default leaves it open, with all its time.
    pub(super) fn expire(
        &mut self,
        question: &Question,
        limit_ms: Option<i64>,
        shown: bool,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        if self.in_time(question, world.now).is_ok() {
            return;
        }
        let applied = if self.outlives_run(question) { None } else { usable_default(question) };
        let proceeds =
            applied.as_ref().is_some_and(|value| question.continues(&value.as_str().into()));
        let id = question.id.clone();
        if proceeds && !shown {
            let left_ms = Some(limit_ms.and_then(|limit| u64::try_from(limit).ok()).unwrap_or(0));
            let (question, deadline, by) = (id, None, None);
            let held = EventKind::ConfirmationHeld { question, deadline, by, left_ms };
            return self.emit(held, world, events);
        }
        let expired = EventKind::ConfirmationExpired { question: id, applied, withdrawn: false };
        self.emit(expired, world, events);
    }

    /// Whether the run's time limit is nearer than the question's own.
    pub(super) fn outlives_run(&self, question: &Question) -> bool {
        match (question.deadline, self.state.deadline_over(question)) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(own), Some(run)) => run <= own,
        }
    }

    /// The start of the step that a question is about; 0 before it started.
    pub(super) fn execution_of(&self, question: &Question) -> u32 {
        match question.purpose {
            Purpose::Gate => 0,
            Purpose::Ask | Purpose::Recover => {
                self.state.steps.get(&question.step).map_or(0, |record| record.execution)
            }
        }
    }

    fn masked_answer(&self, answer: Answer) -> Answer {
        let mask = |text: Option<String>| text.map(|text| self.secrets.mask(&text));
        let (reason, typed) = (mask(answer.reason), mask(answer.typed));
        Answer { reason, typed, code_error: None, ..answer }
    }
}

/// The default that expiry takes. One that could not be answered is none, and
/// nobody agreed where someone special has to.
pub(super) fn usable_default(question: &Question) -> Option<String> {
    let usable = |value: &String| match validate_value(question, &value.as_str().into()) {
        Ok(ChoiceAction::Proceed) => !question.is_guarded(),
        Ok(ChoiceAction::Cancel | ChoiceAction::Skip) => true,
        Err(_) => false,
    };
    question.default.clone().filter(usable)
}
