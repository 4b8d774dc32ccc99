//! The time of an open question: it is held, stands still, runs out. Silence
//! counts only as the question's default, and only where a person could see it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::event::{Event, EventKind};
use crate::question::{Purpose, Question};
use crate::skill::ChoiceAction;
use crate::text::World;

use super::refusal::Refusal;
use super::run::{Machine, after};
use super::validate_answer::validate_value;

/// How long a deadline can be held back in all.
const HOLD_LIMIT: SignedDuration = SignedDuration::from_mins(5);
/// How far one hold moves the deadline beyond now.
const HOLD_STEP: SignedDuration = SignedDuration::from_secs(30);

impl Machine {
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
        let waits = !self.is_cleaning_up() || question.purpose == Purpose::Recover;
        if proceeds && !shown && waits {
            let left_ms = Some(limit_ms.and_then(|limit| u64::try_from(limit).ok()).unwrap_or(0));
            let (question, deadline, by) = (id, None, None);
            let held = EventKind::ConfirmationHeld { question, deadline, by, left_ms };
            return self.emit(held, world, events);
        }
        // In `finally` a question does not stay open: its step is left out.
        let applied = applied.filter(|_| !proceeds || shown);
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
