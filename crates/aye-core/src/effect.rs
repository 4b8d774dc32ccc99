//! Effects: what the core wants done.

use std::time::Duration;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::event::PauseReason;
use crate::nested::Nested;
use crate::question::Question;
use crate::skill::Template;
use crate::text::Scope;

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
    /// Wait for this moment, then `Input::Tick`.
    Wait {
        /// When a step is tried again.
        until: Timestamp,
    },
    /// Nobody drives the run; `Input::Attach` goes on.
    Rest(Option<PauseReason>),
    /// The run is over.
    Finish,
}

/// An action with everything resolved, secrets included: never journalled.
#[derive(Debug, Clone)]
pub struct Execution {
    /// `StepStarted::execution`.
    pub execution: u32,
    /// Which step.
    pub step: String,
    /// 1, or more after retries.
    pub attempt: u32,
    /// How long it may take: the nearer of its own limit and the run's.
    pub timeout: Option<Duration>,
    /// The step itself names a limit.
    pub own_limit: bool,
    /// What to do.
    pub task: Task,
}

/// What the world is asked to do.
#[derive(Debug, Clone)]
pub enum Task {
    /// Run a program.
    Process(Box<Process>),
    /// Compute something from the names of the run.
    Compute(Box<Compute>),
    /// Call a tool.
    Tool(Box<ToolCall>),
    /// Drive runs inside the run.
    Nested(Box<Nested>),
}

/// A program to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
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
}

/// Something to compute.
#[derive(Debug, Clone)]
pub struct Compute {
    /// The code, never rendered.
    pub code: Template,
    /// The name of the variable that is the result, unless it is `result`.
    pub output: String,
    /// Run by the real interpreter.
    pub python: bool,
    /// May read files of the workspace.
    pub reads_files: bool,
    /// The code as the skill has it, if an assistant changed it: of variables
    /// and files it sees those that are named there.
    pub written_as: Option<String>,
    /// Every name it may use.
    pub scope: Scope,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// `server.tool`, or the name of a tool of the project.
    pub tool: String,
    /// Its arguments.
    pub args: Map<String, Value>,
}
