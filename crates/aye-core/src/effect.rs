//! Effects: what the core wants done.

use std::time::Duration;

use indexmap::IndexMap;

use crate::event::PauseReason;
use crate::question::Question;

/// What a run wants, in the state it is in.
///
/// It is a function of the state alone, so that a replayed journal asks for
/// the same as the run that wrote it. The driver acts when it changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Run the action of this execution; `Machine::execution` has the details.
    Run {
        /// `StepStarted::execution`.
        execution: u32,
    },
    /// End the running action.
    Stop {
        /// `StepStarted::execution`.
        execution: u32,
    },
    /// Get an answer to this question.
    Ask(Box<Question>),
    /// Nobody drives the run; `Input::Attach` goes on.
    Rest(Option<PauseReason>),
    /// The run is over.
    Finish,
}

/// An action with everything resolved, secrets included: never journalled.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// `StepStarted::execution`.
    pub execution: u32,
    /// Which step.
    pub step: String,
    /// 1, or more after retries.
    pub attempt: u32,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Environment overlay; `None` removes a variable.
    pub env: IndexMap<String, Option<String>>,
    /// Working directory.
    pub cwd: Option<String>,
    /// Text for standard input.
    pub stdin: Option<String>,
    /// Gets the real terminal.
    pub interactive: bool,
    /// Output through a pseudo-terminal.
    pub tty: bool,
    /// The most memory one of its processes may use, in bytes.
    pub max_memory: Option<u64>,
    /// The most processor time one of its processes may use.
    pub max_cpu: Option<Duration>,
    /// How long it may take: the nearer of its own limit and the run's.
    pub timeout: Option<Duration>,
}
