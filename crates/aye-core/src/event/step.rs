//! A step: its intent, its end, and what its process left behind.

use crate::error_code::ErrorCode;
use crate::kept_output::KeptOutput;
use crate::step_kind::StepKind;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{is_false, is_zero};

/// The intent of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepStarted {
    /// Which step.
    pub step: String,
    /// The number of this start, counted over the whole run. The step's result has
    /// the same number.
    pub execution: u32,
    /// 1, or more after retries.
    pub attempt: u32,
    /// Its place in the file, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// What the file says about it, rendered where that is possible; secrets
    /// masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The machine it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What it does.
    pub kind: StepKind,
    /// The resolved command line, secrets masked; absent for questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The program and its arguments, secrets masked; absent where no program
    /// is run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// May be run again if its outcome is unknown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub idempotent: bool,
    /// The deadline of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// It consists of runs inside it, each with its own journal.
    #[serde(default, skip_serializing_if = "is_false")]
    pub nested: bool,
    /// The items of a `foreach`; secrets masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Value>,
    /// The names of the items, in the same order; empty for an item that has only
    /// its number. Absent in older journals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The earlier start whose runs it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<u32>,
}

/// The good end of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepCompleted {
    /// Which step.
    pub step: String,
    /// The number of its start.
    pub execution: u32,
    /// The name of its result in templates.
    pub output: String,
    /// Its result.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
    /// The `key: value` lines of a tool's text, under `<output>_parsed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsed: Option<Value>,
    /// The record of its process; absent if it ran none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessRecord>,
    /// How long it took, if it ran no process.
    #[serde(default, alias = "took_ms", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The result held a secret: later steps get another value than the one here.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// The text of a note step, or a remark about how the step ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The person who marked it as done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked_by: Option<String>,
    /// A person agreed, inside this step, to what follows it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub agreed: bool,
    /// Length and digest of its log when it ended; absent if there is no log or
    /// it is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Box<LogSeal>>,
}

/// The bad end of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepFailed {
    /// Which step.
    pub step: String,
    /// The number of its start; 0 if it never started.
    pub execution: u32,
    /// How it ended.
    pub outcome: BadOutcome,
    /// The error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// The reason, as text for people.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The record of its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessRecord>,
    /// How long it took, if it ran no process.
    #[serde(default, alias = "took_ms", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// A proposed fix for a failed block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Box<Proposal>>,
    /// A guard of the step failed, or its question could not be asked. `on_error`
    /// does not let the run continue.
    #[serde(default, skip_serializing_if = "is_false")]
    pub guarded: bool,
    /// The state that follows, if the skill has a transition for exactly this exit
    /// code. Then the step did not go wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
    /// The person who declined, if a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Set when only clean-up follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winding_down: Option<WindingDown>,
    /// Length and digest of its log when it ended; absent if there is no log or
    /// it is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Box<LogSeal>>,
}

/// The files of a step's log when it ended: a later change of them shows. A
/// step that wrote nothing has a seal without files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogSeal {
    /// What it wrote to its standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<FileSeal>,
    /// What it wrote to its standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<FileSeal>,
    /// How the two were interleaved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<FileSeal>,
}

/// Length and digest of the uncompressed bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSeal {
    /// How many bytes.
    pub bytes: u64,
    /// Their digest, under the name of its algorithm.
    #[serde(flatten)]
    pub digest: SealDigest,
}

/// A digest in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SealDigest {
    /// What every new log gets.
    Blake3(String),
    /// What logs got before.
    Sha256(String),
}

/// A change that would fix the failure; made only if someone agrees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    /// In one sentence.
    pub why: String,
    /// What would change, as a diff.
    pub diff: String,
    /// The whole code as it would be.
    pub code: String,
}

/// How a step ended badly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Someone inside it said no.
    Declined,
    /// Nobody inside it answered in time.
    Expired,
}

/// What is known of a finished process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessRecord {
    /// Exit code; 128+n for a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What that signal is called: `SIGSEGV`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_name: Option<String>,
    /// The signal that Aye had to send to end it: `SIGINT`, `SIGTERM`, or
    /// `SIGKILL` where nothing else helped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_with: Option<String>,
    /// How long it ran.
    pub duration_ms: u64,
    /// The end of its standard output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// The end of its standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// What of its output was kept at all.
    #[serde(default, skip_serializing_if = "KeptOutput::is_all")]
    pub kept: KeptOutput,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
            (left, _) if which.is_empty() => Some(format!("could not end {left} of its processes")),
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindDownReason {
    /// The run's own time-out.
    RunTimeout,
    /// Someone cancelled it.
    Cancelled,
}
