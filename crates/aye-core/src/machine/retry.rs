//! Automatic retries of a step.

use jiff::{SignedDuration, Timestamp};

use crate::digest::digest;
use crate::error_code::ErrorCode;
use crate::event::{Event, EventKind, RetryReason};
use crate::journal::StepOutcome;
use crate::skill::Retry;
use crate::text::World;

use super::run::{Machine, after};

/// Ends that would be the same the next time.
const HOPELESS: &[ErrorCode] = &[
    ErrorCode::UsuallyFails,
    ErrorCode::Template,
    ErrorCode::InjectionDetected,
    ErrorCode::CommandNotFound,
    ErrorCode::CommandNotExecutable,
    ErrorCode::CommandNotAllowed,
    ErrorCode::PathTraversal,
    ErrorCode::NotTrusted,
    ErrorCode::ToolNotFound,
    ErrorCode::ToolArguments,
];

impl Machine {
    /// Records another attempt if the step is to be tried again; says whether.
    pub(super) fn try_again(
        &mut self,
        step: &str,
        outcome: &StepOutcome,
        world: &World,
        events: &mut Vec<Event>,
    ) -> bool {
        let Some(retry) = self.node(step).and_then(|(_, node)| node.step.retry.clone()) else {
            return false;
        };
        let Some(record) = self.state.steps.get(step) else { return false };
        let last = record.attempt.max(1);
        let fits = match outcome {
            StepOutcome::Failure(Some(code)) if retry.on.codes.contains(code) => true,
            StepOutcome::Failure(_) | StepOutcome::Guarded => retry.on.failure,
            StepOutcome::Timeout => retry.on.timeout,
            StepOutcome::Success
            | StepOutcome::RunTimeout
            | StepOutcome::Skipped
            | StepOutcome::Declined { .. }
            | StepOutcome::Cancelled => false,
        };
        let hopeless = record.code.as_ref().is_some_and(|code| HOPELESS.contains(code));
        let winds_down = self.state.winding_down.is_some() && self.state.finally.is_none();
        if !fits || hopeless || last >= retry.attempts || winds_down {
            return false;
        }
        let not_before = self.next_try(&retry, last, step, world.now);
        // It would never begin.
        if self.state.finally.as_ref().is_some_and(|finally| not_before >= finally.until) {
            return false;
        }
        let (step, attempt, why) = (step.to_owned(), last + 1, RetryReason::Policy);
        let not_before = (not_before > world.now).then_some(not_before);
        let (edits, fix) = (None, None);
        let retried =
            EventKind::StepRetried { step, attempt, why, not_before, edits, fix, answer: None };
        self.emit(retried, world, events);
        true
    }

    /// When the attempt after `last` is due. Chance is taken from the run
    /// itself: the same journal waits the same.
    fn next_try(&self, retry: &Retry, last: u32, step: &str, now: Timestamp) -> Timestamp {
        let times = i32::try_from(last.saturating_sub(1)).unwrap_or(i32::MAX);
        let wait = retry.backoff.as_secs_f64() * retry.factor.powi(times);
        let mut wait = wait.min(retry.max.as_secs_f64());
        if retry.jitter {
            let drawn =
                digest(&[self.state.run.as_str().as_bytes(), step.as_bytes(), &last.to_le_bytes()]);
            let drawn = drawn.bytes().rev().take(4).fold(0_u32, |all, b| all * 16 + hex(b));
            wait *= 0.5 + f64::from(drawn) / 65_536.0 / 2.0;
        }
        let wait = SignedDuration::from_secs_f64(wait);
        after(now, wait.try_into().unwrap_or_default())
    }
}

fn hex(byte: u8) -> u32 {
    char::from(byte).to_digit(16).unwrap_or(0)
}
