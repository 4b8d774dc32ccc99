//! Inputs: everything the world can tell the core.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::advice::Advice;
use crate::error_code::ErrorCode;
use crate::event::{Driver, LogSeal, ProcessRecord, Proposal, Remembered};
use crate::facts::Inspected;
use crate::fix::KnownFix;
use crate::id::{QuestionId, RunId};
use crate::journal::Blocked;
use crate::question::{Answer, Edits, Origin, Proof};

/// What the world tells a run. Plain data: a host may store it or send it on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// This process drives the run now.
    Attach(Attach),
    /// What the host has seen of what [`crate::effect::Effect::Inspect`] asks for.
    Inspected(Box<Inspected>),
    /// The name of the run's `concurrency` is free. What follows may be committed
    /// only if the store finds the same.
    Acquired,
    /// Another run has that name.
    Blocked(Blocked),
    /// Waiting for that name would never end: the run that has it waits for
    /// this one.
    Deadlock {
        /// The run that has it.
        holder: RunId,
    },
    /// A step's action has to wait until fewer processes run.
    Queued {
        /// Which start: `StepStarted::execution`.
        execution: u32,
    },
    /// It waits no more and is about to begin.
    Dequeued {
        /// Which start: `StepStarted::execution`.
        execution: u32,
    },
    /// A step's action ended.
    Finished(Finished),
    /// Someone, in any process, wants something.
    Request(#[serde(with = "checked")] Request),
    /// A failed run continues at the step that failed.
    Retry(Retry),
    /// Something from memory matters here, or something was learned.
    Remembered {
        /// Learned, rather than recalled.
        learned: bool,
        /// What.
        what: Remembered,
    },
    /// Time passed.
    Tick {
        /// A prompter was showing the open question when its time ran out. A
        /// default that lets the run continue is taken only then.
        shown: bool,
    },
    /// Whether someone can see the open question where it is asked. One that
    /// waits behind another there does so with its time standing still.
    Shown(bool),
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
    /// The run around it is cancelled, and so is this one. A `finally` that has begun runs to
    /// its end; only a step of it that is in doubt is over.
    CancelledAround {
        /// Who.
        by: String,
        /// Why, if they said so.
        reason: Option<String>,
    },
    /// The driver cannot ask anyone and ends.
    Leave {
        /// Why, in words.
        message: String,
    },
    /// Nobody has answered for a while: the driver ends, and the process that
    /// takes the answer resumes the run.
    Rest {
        /// Why, in words.
        message: String,
    },
}

/// Who drives a run from now on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attach {
    /// Who and which process.
    pub driver: Driver,
    /// The epoch of its lease.
    pub epoch: u64,
}

/// How a failed run continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// Who drives it now.
    pub driver: Driver,
    /// The epoch of its lease.
    pub epoch: u64,
    /// The step, if someone named one: it has to be the one that failed.
    pub step: Option<String>,
    /// What it is given differently.
    pub edits: Option<Edits>,
    /// Inside another run: the start of its step that this is for.
    pub turn: Option<u32>,
    /// Who says so, as an answer to the question what becomes of the step.
    pub answer: Option<Box<Answer>>,
}

/// What any process may send to a run, no matter which process drives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one at a time, and soon gone")]
pub enum Request {
    /// An answer to an open question.
    Answer {
        /// Which question.
        question: QuestionId,
        /// The answer. What a stored one says of a code that was checked does
        /// not count: the process that applies it checks the code.
        #[serde(deserialize_with = "unproven")]
        answer: Answer,
        /// A one-time code, for the process that applies the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// Someone is typing an answer: hold the deadline.
    Hold {
        /// Which question.
        question: QuestionId,
        /// Who.
        by: String,
    },
    /// What an assistant or an advisor thinks of an open question.
    Advise {
        /// Which question.
        question: QuestionId,
        /// What it says.
        advice: Advice,
    },
    /// Stop the run.
    Cancel {
        /// Who.
        by: String,
        /// Why, if they said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// A `finally` that has begun ends too, also in the runs inside.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        now: bool,
    },
}

impl Request {
    /// An answer that needs no one-time code.
    pub fn answer(question: QuestionId, answer: Answer) -> Self {
        Self::Answer { question, answer, code: None }
    }
}

/// Any program of the account can store one: the process that applies it
/// checks the code, and an answer without an origin is not a person's.
fn unproven<'de, D: Deserializer<'de>>(from: D) -> Result<Answer, D::Error> {
    let mut answer = Answer { reauth: false, ..Answer::deserialize(from)? };
    answer.proof = answer.proof.filter(|proof| *proof < Proof::Otp);
    answer.origin.get_or_insert_with(|| {
        let started_by = Some("a program that does not say what started it".to_owned());
        Box::new(Origin { started_by, ..Origin::default() })
    });
    Ok(answer)
}

/// A request as its host has checked it. Inside an input it keeps what a stored
/// one is not believed: the code that was checked, and where it was given.
mod checked {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::question::Origin;

    use super::Request;

    #[derive(Serialize, Deserialize)]
    struct Checked<R> {
        request: R,
        #[serde(default)]
        reauth: bool,
        #[serde(default)]
        origin: Option<Box<Origin>>,
        #[serde(default)]
        code_error: Option<String>,
    }

    pub(super) fn serialize<S: Serializer>(request: &Request, to: S) -> Result<S::Ok, S::Error> {
        let checked = match request {
            Request::Answer { answer, .. } => Checked {
                request,
                reauth: answer.reauth,
                origin: answer.origin.clone(),
                code_error: answer.code_error.clone(),
            },
            Request::Hold { .. } | Request::Advise { .. } | Request::Cancel { .. } => {
                Checked { request, reauth: false, origin: None, code_error: None }
            }
        };
        checked.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Request, D::Error> {
        let Checked { mut request, reauth, origin, code_error } =
            Checked::<Request>::deserialize(from)?;
        if let Request::Answer { answer, .. } = &mut request {
            answer.reauth = reauth;
            answer.origin = origin;
            answer.code_error = code_error;
        }
        Ok(request)
    }
}

/// How a step's action ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// The epoch under which it was started.
    pub epoch: u64,
    /// Which start: `StepStarted::execution`.
    pub execution: u32,
    /// How.
    pub end: End,
    /// What a process left behind.
    pub process: Option<ProcessRecord>,
    /// How long it took, where there was no process.
    pub took: Option<Duration>,
    /// What memory knows to do about it, if it went wrong.
    pub known: Option<Box<KnownFix>>,
    /// What was learned from it.
    pub learned: Vec<Remembered>,
    /// What a person should know about a good end.
    pub note: Option<String>,
    /// Inside it a person agreed to what follows.
    pub agreed: bool,
    /// What its log is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Box<LogSeal>>,
}

impl Finished {
    /// An end that left no process behind and that memory has nothing to say about.
    pub fn bare(execution: u32, end: End, took: Option<Duration>) -> Self {
        Self {
            epoch: 0,
            execution,
            end,
            process: None,
            took,
            known: None,
            learned: Vec::new(),
            note: None,
            agreed: false,
            log: None,
        }
    }
}

/// The ways an action ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
        code: ErrorCode,
        /// In words.
        message: String,
        /// What to do about it.
        hint: Option<String>,
        /// A change that would fix it.
        proposal: Option<Box<Proposal>>,
    },
    /// Someone inside it declined, or nobody answered there in time.
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
        code: ErrorCode,
        /// The exit code it stands for.
        exit_code: Option<i32>,
        /// In words.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}
