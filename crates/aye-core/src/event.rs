//! Events: the one vocabulary of journal, JSON output, socket and screen.
//!
//! A journal is a list of events; the state of a run is their fold and
//! nothing else (`journal::State`). An event is a fact: it is never changed,
//! and its names and fields are never reused for another meaning.

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::heal::{Category, FixPlan};
use crate::id::{QuestionId, RunId};
use crate::nested::Parent;
use crate::question::{Answer, Edits, Question};

/// The version of the vocabulary written by this program.
pub const VERSION: u32 = 1;

/// One fact about one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    pub fact: Fact,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Fact {
    /// A run began.
    SkillStarted(Box<SkillStarted>),
    /// Nobody drives the run for now; it can be resumed.
    SkillPaused {
        /// Why.
        why: PauseReason,
        /// In words, where there is more to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Somebody drives the run again.
    SkillResumed {
        /// Who and which process.
        driver: Driver,
        /// It stood still for so long, with its driver: its time does not count that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suspended_ms: Option<u64>,
        /// It had been cut off: so many processes of it were still there and
        /// were ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<u32>,
    },
    /// The run reached a good end.
    SkillCompleted {
        /// The final state, in `states:` skills.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
        /// The skill's named outputs.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        outputs: IndexMap<String, Value>,
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
        /// It had been cut off: so many processes of it were still there and
        /// were ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<u32>,
    },
    /// A step is about to act: the intent, committed before the act.
    StepStarted(Box<StepStarted>),
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took_ms: Option<u64>,
    },
    /// Something that was learned earlier matters here.
    MemoryRecalled(Box<Remembered>),
    /// Something was learned.
    MemoryLearned(Box<Remembered>),
    /// Somebody has to decide.
    ConfirmationRequired(Box<Question>),
    /// The deadline moved because somebody is typing.
    ConfirmationHeld {
        /// Which question.
        question: QuestionId,
        /// The new deadline.
        deadline: Timestamp,
        /// By whom.
        by: String,
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
    },
}

impl Fact {
    /// The name in the vocabulary.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SkillStarted(_) => "skill_started",
            Self::SkillPaused { .. } => "skill_paused",
            Self::SkillResumed { .. } => "skill_resumed",
            Self::SkillCompleted { .. } => "skill_completed",
            Self::SkillFailed { .. } => "skill_failed",
            Self::SkillCancelled { .. } => "skill_cancelled",
            Self::StepStarted(_) => "step_started",
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
            Self::ConfirmationAnswered(_) => "confirmation_answered",
            Self::ConfirmationExpired { .. } => "confirmation_expired",
        }
    }
}

/// The beginning of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkillStarted {
    /// The skill's name.
    pub skill: String,
    /// Where its file was.
    pub file: String,
    /// Digest of the file's text; the store keeps the text under it.
    pub source: String,
    /// Inputs with defaults applied; secrets masked.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub inputs: IndexMap<String, Value>,
    /// How many steps the skill has.
    pub steps: u32,
    /// The directory it runs in.
    pub workspace: String,
    /// `--environment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// When the whole run has to be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// `--from` or `--only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// `--yes` was given.
    #[serde(default, skip_serializing_if = "is_false")]
    pub yes: bool,
    /// Who and which process.
    pub driver: Driver,
    /// The step of another run that this one belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<Parent>>,
}

/// Which part of a skill is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Range {
    /// From this step on.
    From(String),
    /// This step alone.
    Only(String),
}

impl Range {
    /// The step it begins with.
    pub fn step(&self) -> &str {
        match self {
            Self::From(step) | Self::Only(step) => step,
        }
    }
}

/// Who drives a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Driver {
    /// The operating system's user.
    pub user: String,
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// Somebody is there who can be asked what to do about a failure.
    #[serde(default, skip_serializing_if = "is_false")]
    pub attended: bool,
}

/// The intent of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepStarted {
    /// Which step.
    pub step: String,
    /// Counts every start in the run; a result names it.
    pub execution: u32,
    /// 1, or more after retries.
    pub attempt: u32,
    /// `command`, `shell`, `confirm`, …
    pub kind: String,
    /// The resolved command line, secrets masked; absent for questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// May be run again if its outcome is unknown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub idempotent: bool,
    /// When its own time-out is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// It consists of runs of its own, which remember how far they are.
    #[serde(default, skip_serializing_if = "is_false")]
    pub nested: bool,
    /// What a `foreach` goes through; secrets masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Value>,
}

/// The intent of a repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HealTriggered {
    /// The step that failed.
    pub step: String,
    /// Counts like a start of a step.
    pub execution: u32,
    /// The rule.
    pub rule: String,
    /// The kind of error, if it is one that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// What went wrong, secrets masked.
    pub error: String,
    /// When it has to be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// It is no rule but a fix from memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<FixPlan>>,
}

/// Something from memory, or for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// What kind of thing.
    pub kind: MemoryKind,
    /// Its name in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The step it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// In words; learned text, so data.
    pub message: String,
    /// A fix that is about to be carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<FixPlan>>,
}

/// Kinds of things in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// What people wrote about an error.
    Issue,
    /// What to do about an error.
    Fix,
    /// An answer to give again.
    Preference,
    /// A call that keeps failing in the same way.
    Usage,
}

impl MemoryKind {
    /// The word used in listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Fix => "fix",
            Self::Preference => "preference",
            Self::Usage => "usage",
        }
    }
}

/// The good end of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepCompleted {
    /// Which step.
    pub step: String,
    /// Which start.
    pub execution: u32,
    /// The name of its result in templates.
    pub output: String,
    /// Its result.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
    /// The `key: value` lines of a tool's text, under `<output>_parsed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsed: Option<Value>,
    /// What a process left behind; absent for everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessRecord>,
    /// How long it took, where there was no process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The result held a secret: what stands here is not what later steps get.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// What a note tells the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Set when a person said it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked_by: Option<String>,
}

/// The bad end of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepFailed {
    /// Which step.
    pub step: String,
    /// Which start; 0 if it never started.
    pub execution: u32,
    /// How it ended.
    pub outcome: BadOutcome,
    /// One of the typed codes, e.g. `COMMAND_NOT_FOUND`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// In words.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What a process left behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessRecord>,
    /// How long it took, where there was no process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// What would mend a block that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Box<Proposal>>,
    /// A guard of the step stops the run: nothing passes over it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub guarded: bool,
    /// Who declined, where a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Set when this ends the run's normal course: only clean-up follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winding_down: Option<WindingDown>,
}

/// A change that would mend what went wrong; only made if somebody agrees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// In one sentence.
    pub why: String,
    /// What would change, as a diff.
    pub diff: String,
    /// The whole code as it would be.
    pub code: String,
}

/// How a step ended badly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BadOutcome {
    /// It failed by itself.
    Failure,
    /// We ended it: out of time.
    Timeout,
    /// We ended it: the run was cancelled.
    Cancelled,
    /// We ended it: Aye was told to stop.
    Interrupted,
    /// Aye died while it ran: it may or may not have happened.
    Unknown,
    /// Somebody inside it said no.
    Declined,
    /// Nobody inside it answered in time.
    Expired,
}

/// What is known of a finished process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// Exit code; 128+n for a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// How long it ran.
    pub duration_ms: u64,
    /// The end of its standard output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// The end of its standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// How many bytes of both are only in the log.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// It left a process holding its output.
    #[serde(default, skip_serializing_if = "is_false")]
    pub leaky: bool,
    /// Processes that went on after it had ended, and that were ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub leftovers: u32,
    /// Processes that could not be ended.
    #[serde(default)]
    pub left_running: u32,
    /// Which those are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftProcess>,
    /// Largest resident memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
    /// Processor time, user and system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// What else is to be said of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A process that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftProcess {
    /// Its number.
    pub pid: i32,
    /// What its program is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl LeftProcess {
    fn words(&self) -> String {
        match &self.name {
            Some(name) => format!("process {} ({name})", self.pid),
            None => format!("process {}", self.pid),
        }
    }
}

impl ProcessRecord {
    /// What it left behind and what became of that, in words.
    pub fn left_behind(&self) -> Option<String> {
        let which: Vec<String> = self.left.iter().map(LeftProcess::words).collect();
        match (self.left_running, self.leftovers) {
            (0, 0) if self.leaky => Some("its output is still held by another process".to_owned()),
            (0, 0) => None,
            (0, 1) => Some("left a process behind, which was ended".to_owned()),
            (0, many) => Some(format!("left {many} processes behind, which were ended")),
            (left, _) if which.is_empty() => Some(format!("{left} left running, not to be ended")),
            (_, _) => Some(format!("could not end {}", which.join(", "))),
        }
    }

    /// What it said about itself: standard error, or else standard output.
    pub fn said(&self) -> &str {
        match self.stderr.trim() {
            "" => self.stdout.trim(),
            stderr => stderr,
        }
    }
}

/// The run's normal course is over; only a clean-up path may still run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindingDown {
    /// Why.
    pub why: WindDownReason,
    /// When clean-up must be over.
    pub until: Timestamp,
    /// Who cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why they did, if they said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why a run winds down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindDownReason {
    /// The run's own time-out.
    RunTimeout,
    /// Somebody cancelled it.
    Cancelled,
}

/// An answer and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// Why a run is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// A question is open and nobody can be asked here.
    Waiting,
    /// Aye was told to stop.
    Interrupted,
}

/// Why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailReason {
    /// A step failed and nothing caught it.
    StepFailed,
    /// A step timed out and nothing caught it.
    StepTimedOut,
    /// The run's own time-out.
    RunTimedOut,
    /// The step limit.
    StepLimit,
    /// A final state with `status: failed`.
    FinalState,
    /// Somebody answered a recovery question with abort.
    Aborted,
    /// An output could not be rendered.
    Output,
}

/// Why a run was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// A question was declined.
    Declined,
    /// A question expired without a default.
    Expired,
    /// Somebody cancelled the run.
    Cancelled,
    /// A final state with `status: cancelled`.
    FinalState,
}

/// Why a step was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Its condition is false.
    Condition,
    /// Its gate was declined.
    Declined,
    /// Its gate expired without a default.
    Expired,
    /// Somebody chose to skip it.
    Answer,
}

/// Why a step is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryReason {
    /// `idempotent: true` and the outcome was unknown.
    Idempotent,
    /// Somebody answered a recovery question with retry.
    Answer,
    /// The step's `retry` says so.
    Policy,
    /// What was wrong has been repaired.
    Healed,
    /// A fix from memory is tried.
    Fixed,
    /// An assistant answered a recovery question with retry.
    Relayed,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero<N: Default + PartialEq>(value: &N) -> bool {
    *value == N::default()
}
