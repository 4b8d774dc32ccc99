//! Inputs: everything the world can tell the core.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Driver, ProcessRecord};
use crate::id::QuestionId;
use crate::question::Answer;

/// What the world tells a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// This process drives the run now.
    Attach(Driver),
    /// A step's action ended.
    Finished(Finished),
    /// Somebody, in any process, wants something.
    Request(Request),
    /// Time passed.
    Tick,
    /// The driver and everything it runs stood still for so long (Ctrl-Z).
    Continued {
        /// How long.
        after: Duration,
    },
    /// Aye was told to stop.
    Interrupt {
        /// In words, e.g. `SIGTERM`.
        signal: String,
    },
    /// The driver cannot ask anybody and goes.
    Leave {
        /// Why, in words.
        message: String,
    },
}

/// What any process may send to a run, whoever drives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// An answer to an open question.
    Answer {
        /// Which question.
        question: QuestionId,
        /// The answer.
        answer: Answer,
    },
    /// Somebody is typing an answer: hold the deadline.
    Hold {
        /// Which question.
        question: QuestionId,
        /// Who.
        by: String,
    },
    /// Stop the run.
    Cancel {
        /// Who.
        by: String,
        /// Why, if they said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// How a step's action ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Which start: `StepStarted::execution`.
    pub execution: u32,
    /// How.
    pub end: End,
    /// What a process left behind.
    pub process: Option<ProcessRecord>,
    /// How long it took, where there was no process.
    pub took: Option<Duration>,
}

/// The ways an action ends.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The process ended by itself; its record has the exit code.
    Exited {
        /// The step's result if it succeeded.
        value: Value,
        /// The `key: value` lines of a tool's text.
        parsed: Option<Value>,
    },
    /// It went wrong by itself, without a process that could say so.
    Failed {
        /// A typed code, e.g. `COMPUTE`.
        code: String,
        /// In words.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Somebody inside it declined, or nobody answered there in time.
    Declined {
        /// Nobody answered.
        expired: bool,
        /// Who declined.
        by: Option<String>,
        /// In words.
        message: String,
    },
    /// We ended it at its time-out or at the run's.
    TimedOut,
    /// We ended it because we were asked to. Nested runs are paused.
    Stopped,
    /// It could not be started.
    NotStarted {
        /// A typed code, e.g. `COMMAND_NOT_FOUND`.
        code: String,
        /// The exit code it stands for.
        exit_code: Option<i32>,
        /// In words.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}
