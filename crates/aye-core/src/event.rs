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
    /// Nobody drives the run for now; it can be resumed.
    SkillPaused {
        /// Why.
        why: PauseReason,
        /// In words, where there is more to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Milliseconds since it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// The running step is to be ended: a request or a signal said so. What
    /// became of the step follows.
    SkillStopping(Stopping),
    /// Someone drives the run again.
    SkillResumed {
        /// Who and which process.
        driver: Driver,
        /// How long it was suspended with its driver: this does not count towards its time limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suspended_ms: Option<u64>,
        /// Set when a failed run is tried again: the start of the step around it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u32>,
        /// It had been cut off: so many processes of it were still there and
        /// were ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<u32>,
        /// The epoch of the lease under which it continues.
        #[serde(default, skip_serializing_if = "is_zero")]
        epoch: u64,
    },
    /// The run has the name of its `concurrency`: no other run has it until
    /// this one ends.
    ConcurrencyAcquired {
        /// The name.
        name: String,
        /// How many milliseconds it waited: they do not count towards its time limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited_ms: Option<u64>,
    },
    /// Another run has that name, or waits for it and came first.
    ConcurrencyWaiting {
        /// The name.
        name: String,
        /// The run that has to end first.
        holder: RunId,
        /// How many runs wait in front of this one.
        #[serde(default, skip_serializing_if = "is_zero")]
        ahead: u32,
    },
    /// The steps are over: how the run ends is decided, and `finally` follows.
    SkillFinishing(Box<Finishing>),
    /// The run reached a good end.
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
    /// The run ended badly.
    SkillFailed {
        /// What went wrong.
        why: FailReason,
        /// In words.
        message: String,
        /// The step that decided it.
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
        /// Declined, cancelled, or a final state that says so.
        why: CancelReason,
        /// Who, where a person did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// In words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The step that decided it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// The final state, in `states:` skills; older versions left it out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
        /// It had been cut off: so many processes of it were still there and
        /// were ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<u32>,
        /// Milliseconds since it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// A step is about to act: the intent, committed before the act.
    StepStarted(Box<StepStarted>),
    /// A step waits for a slot, because `max_processes` processes are running.
    StepQueued {
        /// Which.
        step: String,
        /// Which start of it.
        execution: u32,
    },
    /// A step that waited for a slot has one; committed before it begins.
    StepDequeued {
        /// Which.
        step: String,
        /// Which start of it.
        execution: u32,
    },
    /// A step ended well.
    StepCompleted(Box<StepCompleted>),
    /// A step ended badly, or its outcome is unknown.
    StepFailed(Box<StepFailed>),
    /// A step was left out.
    StepSkipped {
        /// Which.
        step: String,
        /// Why.
        why: SkipReason,
        /// Who decided it, where a person did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// In words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The answer that decided it; absent in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// A step will be tried again; `step_started` follows.
    StepRetried {
        /// Which.
        step: String,
        /// The attempt that follows, from 2.
        attempt: u32,
        /// Why.
        why: RetryReason,
        /// It is not started before this moment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
        /// What it is given differently, from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edits: Option<Edits>,
        /// The fix that is tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fix: Option<String>,
        /// Who said so, where no question was open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Box<Answer>>,
    },
    /// A step failed in a way that is known: it is being repaired.
    AutoHealTriggered(Box<HealTriggered>),
    /// The repair has ended; `step_retried` follows if it went well.
    AutoHealCompleted {
        /// The step that failed.
        step: String,
        /// Which repair.
        execution: u32,
        /// The rule.
        rule: String,
        /// Whether it went well.
        healed: bool,
        /// What went wrong with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// How long it took.
        #[serde(default, alias = "took_ms", skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// Something that was learned earlier matters here.
    MemoryRecalled(Box<Remembered>),
    /// Something was learned.
    MemoryLearned(Box<Remembered>),
    /// Someone has to decide.
    ConfirmationRequired(Box<Question>),
    /// The deadline of a question moved or stopped: someone is typing, the question
    /// waits behind another one, or nobody can see it yet. Also sent when its time
    /// runs again.
    ConfirmationHeld {
        /// Which question.
        question: QuestionId,
        /// The new deadline; absent while its time stands still.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
        /// By whom, where someone is typing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Its time ran out where nobody could see it: so many milliseconds it
        /// has when a prompter shows it.
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
    /// An answer came: accepted, or refused and recorded.
    ConfirmationAnswered(Box<Answered>),
    /// Closed without an answer: nobody answered in time, or the run was
    /// stopped first.
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
