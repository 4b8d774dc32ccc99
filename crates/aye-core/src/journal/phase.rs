//! Where a run stands.

use jiff::Timestamp;
use serde_json::Value;

use crate::advice::Advice;
use crate::event::{CancelReason, FailReason, RetryReason};
use crate::fix::FixPlan;
use crate::question::{Answer, Channel, Question};
use crate::word_enum;

/// Where a run stands after its last event.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// Something was recorded and its consequence is not yet: the machine
    /// has to continue. Between two batches of a live run this is never seen.
    Transition(Transition),
    /// A step acts.
    Running {
        /// Which.
        step: String,
        /// Which start.
        execution: u32,
        /// 1, or more after retries.
        attempt: u32,
        /// May be run again if its outcome is unknown.
        idempotent: bool,
        /// When it has to be over.
        deadline: Option<Timestamp>,
        /// It consists of runs of its own.
        nested: bool,
        /// It is not the step that acts, but what repairs it.
        healing: Option<Healing>,
    },
    /// A question is open.
    Asking {
        /// The question; its deadline moves when someone holds it.
        question: Box<Question>,
        /// When it was asked, in milliseconds since 1970.
        asked_ms: i64,
        /// Those who agreed so far, where several must.
        agreed: Vec<String>,
        /// What they agreed on.
        agreed_on: Option<Value>,
        /// How long the deadline has been held back, in milliseconds.
        held_ms: i64,
        /// Its time stands still with so much left, in milliseconds: it waits
        /// behind another question, or to be shown at all.
        still_ms: Option<i64>,
        /// The time it was asked with, in milliseconds.
        limit_ms: Option<i64>,
        /// What assistants think of it, in the order in which they said it.
        advice: Vec<Advice>,
    },
    /// The run is over.
    Ended(Ended),
}

impl Phase {
    /// Whether the next event about a step begins a visit to it.
    pub(crate) fn is_between_visits(&self) -> bool {
        match self {
            Self::Transition(
                Transition::Begun | Transition::Settled(_) | Transition::Finishing,
            ) => true,
            Self::Transition(
                Transition::Resolved { .. }
                | Transition::UnknownOutcome(_)
                | Transition::Retrying { .. }
                | Transition::Posing { .. },
            )
            | Self::Running { .. }
            | Self::Asking { .. }
            | Self::Ended(_) => false,
        }
    }
}

/// A consequence that is still to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub enum Transition {
    /// The run began; its first step is to be entered.
    Begun,
    /// A step ended; the way on is to be taken.
    Settled(Settled),
    /// A question was answered or expired; that is to be acted on.
    Resolved {
        /// The question.
        question: Box<Question>,
        /// What became of it.
        resolution: Box<Resolution>,
    },
    /// A step may or may not have happened; someone has to say.
    UnknownOutcome(UnknownOutcome),
    /// A step is to be started again.
    Retrying {
        /// Which.
        step: String,
        /// The attempt that follows.
        attempt: u32,
        /// Why.
        why: RetryReason,
        /// Not before this moment.
        not_before: Option<Timestamp>,
    },
    /// The step that is a question has started; it is to be asked.
    Posing {
        /// Which.
        step: String,
    },
    /// The steps are over; the first of `finally` is to be entered.
    Finishing,
}

/// A step that ended, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// Which.
    pub step: String,
    /// How.
    pub outcome: StepOutcome,
    /// The answer to its question that decided it.
    pub answer: Option<String>,
    /// With this the run's normal course ended: only clean-up may follow.
    pub last: bool,
    /// What a fix from memory does about it.
    pub fix: Option<Box<FixPlan>>,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepOutcome {
    /// Well.
    Success,
    /// Left out.
    Skipped,
    /// Badly, with an exit code if it had one.
    Failure(Option<i32>),
    /// A guard of the step does not hold.
    Guarded,
    /// At its own time-out.
    Timeout,
    /// At the run's: only a clean-up path may follow.
    RunTimeout,
    /// A person said no, or nobody answered in time.
    Declined {
        /// Nobody answered.
        expired: bool,
        /// Who.
        by: Option<String>,
    },
    /// The run was cancelled.
    Cancelled,
}

impl StepOutcome {
    /// Whether the step itself failed, which may be repaired.
    pub fn has_failed(&self) -> bool {
        matches!(self, Self::Failure(_) | Self::Guarded | Self::Timeout)
    }
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and soon gone")]
pub enum Resolution {
    /// Someone answered.
    Answered(Answer),
    /// Nobody did; this value is taken, or it counts as declined.
    Expired(Option<String>),
}

impl Resolution {
    /// The value, unless it was given in advance.
    pub(crate) fn seen_value(&self) -> Option<Value> {
        match self {
            Self::Answered(answer) if answer.prompter == Channel::Override => None,
            Self::Answered(answer) => Some(answer.value.clone()),
            Self::Expired(applied) => applied.clone().map(Value::String),
        }
    }
}

/// A step whose outcome is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownOutcome {
    /// Which.
    pub step: String,
    /// Its last attempt.
    pub attempt: u32,
    /// May be run again.
    pub idempotent: bool,
    /// We ended it ourselves; otherwise Aye died while it ran.
    pub interrupted: bool,
}

/// A repair under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Healing {
    /// The rule.
    pub rule: String,
    /// How the step had ended.
    pub outcome: StepOutcome,
    /// It is not a rule but this fix from memory.
    pub fix: Option<Box<FixPlan>>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Well.
    Completed,
    /// Badly.
    Failed(FailReason),
    /// Declined or cancelled.
    Cancelled(CancelReason),
}

word_enum! {
    /// Where a run stands, as its events tell: the journal's index and the fold of a run's events
    /// mean the same by it. Whether a process drives it and whether someone is asked is not in it.
    #[derive(Hash)]
    pub enum RunStatus {
        /// Someone drives it, or did until they died: its lease tells which.
        Running = "running",
        /// Nobody drives it; it can be resumed.
        Paused = "paused",
        /// It reached a good end.
        Completed = "completed",
        /// It ended badly.
        Failed = "failed",
        /// It was declined or cancelled.
        Cancelled = "cancelled",
    }
}

impl RunStatus {
    /// Whether nothing follows.
    pub fn is_ended(self) -> bool {
        match self {
            Self::Running | Self::Paused => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}
