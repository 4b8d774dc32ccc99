//! Events: the one vocabulary of journal, JSON output, socket and screen.
//!
//! A journal is a list of events; the state of a run is their fold and
//! nothing else (`journal::State`). An event is a fact: it is never changed,
//! and its names and fields are never reused for another meaning.
//!
//! Touches nothing. `event/` has the larger kinds of events. The machine makes events; the driver
//! commits them to the store, and then shows them to the report.

mod finishing;
mod memory;
mod reason;
mod start;
mod step;

use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::advice::Advice;
use crate::id::{QuestionId, RunId};
use crate::question::{Answer, Edits, Question};

pub use finishing::{Finishing, RunEnd};
pub use memory::{HealTriggered, MemoryKind, Remembered};
pub use reason::{CancelReason, FailReason, PauseReason, RetryReason, SkipReason, Stopping};
pub use start::{Driver, PlannedStep, Range, SkillStarted, StartedBy};
pub use step::{
    BadOutcome, FileSeal, LeftProcess, LogSeal, ProcessRecord, Proposal, SealDigest, StepCompleted,
    StepFailed, StepStarted, WindDownReason, WindingDown,
};

/// The version of the vocabulary written by this program.
pub const VERSION: u32 = 1;

/// One fact about one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Version of the vocabulary.
    pub v: u32,
    /// The run.
    pub run: RunId,
    /// 1, 2, 3, … within the run.
    pub seq: u64,
    /// When, in UTC.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    /// A run began.
    SkillStarted(Box<SkillStarted>),
    /// No process drives the run now; it can be resumed.
    SkillPaused {
        /// Why.
        why: PauseReason,
        /// Details, as text for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Milliseconds since it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// A request or a signal ends the running step. The next event says how
    /// the step ended.
    SkillStopping(Stopping),
    /// A process drives the run again.
    SkillResumed {
        /// The user and the process that drive it.
        driver: Driver,
        /// How long the driver was suspended; this does not count towards the run's time limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suspended_ms: Option<u64>,
        /// When a failed run inside a step is tried again: the start of that step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u32>,
        /// The number of processes that an interrupted run had left and that were
        /// ended now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<u32>,
        /// The epoch of the lease under which it continues.
        #[serde(default, skip_serializing_if = "is_zero")]
        epoch: u64,
    },
    /// The run holds the name of its `concurrency`. No other run gets it until
    /// this one ends.
    ConcurrencyAcquired {
        /// The name.
        name: String,
        /// How many milliseconds it waited; they do not count towards its time limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited_ms: Option<u64>,
    },
    /// The run waits for the name of its `concurrency`, which another run holds or
    /// waited for first.
    ConcurrencyWaiting {
        /// The name.
        name: String,
        /// The run that has to end first.
        holder: RunId,
        /// How many runs are ahead in the queue.
        #[serde(default, skip_serializing_if = "is_zero")]
        ahead: u32,
    },
    /// The steps have ended and decided how the run ends; the steps of `finally`
    /// follow.
    SkillFinishing(Box<Finishing>),
    /// The run completed.
    SkillCompleted {
        /// The final state, in `states:` skills.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
        /// The skill's named outputs.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        outputs: IndexMap<String, Value>,
        /// Milliseconds since it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// The run failed.
    SkillFailed {
        /// What went wrong.
        why: FailReason,
        /// The reason, as text for people.
        message: String,
        /// The step that caused it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// The final state, in `states:` skills.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
        /// Milliseconds since it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// The run was declined or cancelled.
    SkillCancelled {
        /// Declined, cancelled, or ended in a final state with `status: cancelled`.
        why: CancelReason,
        /// The person who did it, if a person did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The reason, as text for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The step that caused it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// The final state, in `states:` skills; older versions left it out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
        /// The number of processes that an interrupted run had left and that were
        /// ended now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<u32>,
        /// Milliseconds since it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// A step is about to start. This event is committed before the step acts.
    StepStarted(Box<StepStarted>),
    /// A step waits for a slot, because `max_processes` processes are running.
    StepQueued {
        /// The step.
        step: String,
        /// The number of its start.
        execution: u32,
    },
    /// A step that waited for a slot got one. This event is committed before the
    /// step starts.
    StepDequeued {
        /// The step.
        step: String,
        /// The number of its start.
        execution: u32,
    },
    /// A step completed.
    StepCompleted(Box<StepCompleted>),
    /// A step failed, or its outcome is unknown.
    StepFailed(Box<StepFailed>),
    /// A step was skipped.
    StepSkipped {
        /// The step.
        step: String,
        /// Why.
        why: SkipReason,
        /// The person who decided it, if a person did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The reason, as text for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The answer that decided it; absent in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// A step will be tried again; `step_started` follows.
    StepRetried {
        /// The step.
        step: String,
        /// The attempt that follows, from 2.
        attempt: u32,
        /// Why.
        why: RetryReason,
        /// The step is not started before this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
        /// Changes to its arguments, from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edits: Option<Edits>,
        /// The fix that is tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fix: Option<String>,
        /// The answer that asked for it, if no question was open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Box<Answer>>,
    },
    /// A step failed with a known error, and its repair starts.
    AutoHealTriggered(Box<HealTriggered>),
    /// The repair has ended; `step_retried` follows if it succeeded.
    AutoHealCompleted {
        /// The step that failed.
        step: String,
        /// The number of the repair.
        execution: u32,
        /// The rule.
        rule: String,
        /// Whether it succeeded.
        healed: bool,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// How long it took.
        #[serde(default, alias = "took_ms", skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// Memory has something about this step.
    MemoryRecalled(Box<Remembered>),
    /// Aye learned something.
    MemoryLearned(Box<Remembered>),
    /// A person has to decide.
    ConfirmationRequired(Box<Question>),
    /// The deadline of a question moved or stopped, because someone is typing, the
    /// question waits behind another one, or nobody can see it yet. Also sent when
    /// its time continues.
    ConfirmationHeld {
        /// Which question.
        question: QuestionId,
        /// The new deadline; absent while its time is stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
        /// The person who is typing, if someone is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Its time ran out while nobody could see it. It has this many
        /// milliseconds once a prompter shows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left_ms: Option<u64>,
    },
    /// An assistant or an advisor said what it thinks. That is not an answer.
    ConfirmationAdvised {
        /// Which question.
        question: QuestionId,
        /// What it said.
        advice: Box<Advice>,
    },
    /// An answer was accepted, or it was refused and recorded.
    ConfirmationAnswered(Box<Answered>),
    /// A question was closed without an answer: nobody answered in time, or the
    /// run was stopped first.
    ConfirmationExpired {
        /// Which question.
        question: QuestionId,
        /// The value taken instead; absent when it counts as declined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        applied: Option<String>,
        /// Its time was not up: the run was stopped first.
        #[serde(default, skip_serializing_if = "is_false")]
        withdrawn: bool,
    },
}

impl EventKind {
    /// What memory takes in, if it is something learned.
    pub fn lesson(&self) -> Option<&Value> {
        match self {
            Self::MemoryLearned(what) => what.lesson.as_deref(),
            _ => None,
        }
    }

    /// The step it is about, if it is about one.
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::StepStarted(started) => Some(&started.step),
            Self::StepCompleted(done) => Some(&done.step),
            Self::StepFailed(failed) => Some(&failed.step),
            Self::StepQueued { step, .. }
            | Self::StepDequeued { step, .. }
            | Self::StepSkipped { step, .. }
            | Self::StepRetried { step, .. }
            | Self::AutoHealCompleted { step, .. } => Some(step),
            Self::AutoHealTriggered(heal) => Some(&heal.step),
            Self::MemoryRecalled(what) | Self::MemoryLearned(what) => what.step.as_deref(),
            Self::ConfirmationRequired(question) => Some(&question.step),
            Self::SkillStarted(_)
            | Self::SkillPaused { .. }
            | Self::SkillStopping(_)
            | Self::SkillFinishing(_)
            | Self::SkillResumed { .. }
            | Self::ConcurrencyAcquired { .. }
            | Self::ConcurrencyWaiting { .. }
            | Self::SkillCompleted { .. }
            | Self::SkillFailed { .. }
            | Self::SkillCancelled { .. }
            | Self::ConfirmationHeld { .. }
            | Self::ConfirmationAdvised { .. }
            | Self::ConfirmationAnswered(_)
            | Self::ConfirmationExpired { .. } => None,
        }
    }

    /// The name in the vocabulary.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SkillStarted(_) => "skill_started",
            Self::SkillPaused { .. } => "skill_paused",
            Self::SkillStopping(_) => "skill_stopping",
            Self::SkillResumed { .. } => "skill_resumed",
            Self::ConcurrencyAcquired { .. } => "concurrency_acquired",
            Self::ConcurrencyWaiting { .. } => "concurrency_waiting",
            Self::SkillFinishing(_) => "skill_finishing",
            Self::SkillCompleted { .. } => "skill_completed",
            Self::SkillFailed { .. } => "skill_failed",
            Self::SkillCancelled { .. } => "skill_cancelled",
            Self::StepStarted(_) => "step_started",
            Self::StepQueued { .. } => "step_queued",
            Self::StepDequeued { .. } => "step_dequeued",
            Self::StepCompleted(_) => "step_completed",
            Self::StepFailed(_) => "step_failed",
            Self::StepSkipped { .. } => "step_skipped",
            Self::StepRetried { .. } => "step_retried",
            Self::AutoHealTriggered(_) => "auto_heal_triggered",
            Self::AutoHealCompleted { .. } => "auto_heal_completed",
            Self::MemoryRecalled(_) => "memory_recalled",
            Self::MemoryLearned(_) => "memory_learned",
            Self::ConfirmationRequired(_) => "confirmation_required",
            Self::ConfirmationHeld { .. } => "confirmation_held",
            Self::ConfirmationAdvised { .. } => "confirmation_advised",
            Self::ConfirmationAnswered(_) => "confirmation_answered",
            Self::ConfirmationExpired { .. } => "confirmation_expired",
        }
    }
}

/// An answer and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    /// Which question.
    pub question: QuestionId,
    /// What was answered.
    pub answer: Answer,
    /// What the chosen option is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Milliseconds since it was asked.
    pub latency_ms: u64,
    /// Why it does not count; absent when it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero<N: Default + PartialEq>(value: &N) -> bool {
    *value == N::default()
}
