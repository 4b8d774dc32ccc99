//! Effects: what the core wants done.

use std::time::Duration;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::PauseReason;
use crate::kept_output::KeptOutput;
use crate::nested::Nested;
use crate::question::Question;
use crate::secrets::Text;
use crate::skill::Template;
use crate::text::Scope;

/// What a run wants, in the state it is in.
///
/// It is a function of the state alone, so that a replayed journal asks for
/// the same as the run that wrote it. The driver acts when it changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Look at what decides what comes next: `Machine::inspection` says at
    /// what, `Input::Inspected` continues.
    Inspect,
    /// Get the name of the run's `concurrency`: `Input::Acquired` continues once
    /// the store has given it, `Input::Blocked` says which run has it.
    Acquire,
    /// Get an answer to this question.
    Ask(Box<Question>),
    /// Wait for this moment, then `Input::Tick`.
    Wait {
        /// When a step is tried again.
        until: Timestamp,
    },
    /// Nobody drives the run; `Input::Attach` continues.
    Rest(Option<PauseReason>),
    /// The run is over.
    Finish,
}

/// A running action, resolved as far as it may be written down. What touches
/// a secret stays as the file has it: `Machine::render`
/// renders it for the host that acts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// The epoch under which it runs; its result says the same.
    pub epoch: u64,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// A task with everything in it, secrets included: never written down.
#[derive(Debug, Clone)]
pub enum Rendered {
    /// Run a program.
    Process(Box<Process<String>>),
    /// Compute something from these names.
    Compute(Box<(Compute, Scope)>),
    /// Call a tool.
    Tool(Box<ToolCall>),
    /// Drive runs inside the run; `Machine::child` renders one at a time.
    Nested(Box<Nested>),
}

/// A program to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Process<T = Text> {
    /// The program and its arguments.
    pub argv: Vec<T>,
    /// Environment overlay; `None` removes a variable.
    pub env: IndexMap<String, Option<T>>,
    /// Working directory.
    pub cwd: Option<T>,
    /// Text for standard input.
    pub stdin: Option<T>,
    /// Gets the real terminal.
    pub interactive: bool,
    /// Output through a pseudo-terminal.
    pub tty: bool,
    /// What is kept of its output.
    #[serde(default, skip_serializing_if = "KeptOutput::is_all")]
    pub kept: KeptOutput,
    /// The most memory one of its processes may use, in bytes.
    pub max_memory: Option<u64>,
    /// The most processor time one of its processes may use.
    pub max_cpu: Option<Duration>,
}

impl<T> Process<T> {
    /// The same program with other texts; nothing if one of them has none.
    fn texts<U>(self, mut each: impl FnMut(T) -> Option<U>) -> Option<Process<U>> {
        let mut optional = |text: Option<T>| match text {
            Some(text) => each(text).map(Some),
            None => Some(None),
        };
        let (cwd, stdin) = (optional(self.cwd)?, optional(self.stdin)?);
        let env = self.env.into_iter().map(|(name, text)| Some((name, optional(text)?)));
        Some(Process {
            env: env.collect::<Option<_>>()?,
            argv: self.argv.into_iter().map(each).collect::<Option<_>>()?,
            cwd,
            stdin,
            interactive: self.interactive,
            tty: self.tty,
            kept: self.kept,
            max_memory: self.max_memory,
            max_cpu: self.max_cpu,
        })
    }
}

impl Process {
    /// The program as it runs, unless a secret has a part in it.
    pub fn plain(self) -> Option<Process<String>> {
        self.texts(Text::plain)
    }
}

impl Process<String> {
    /// The program as it may be written down; `shows` says which of its texts
    /// may be, by their place in [`Self::in_order`].
    pub(crate) fn sealed(self, shows: impl Fn(usize, &str) -> bool) -> Process {
        let mut at = 0..;
        let sealed = self.texts(|text| match shows(at.next()?, &text) {
            true => Some(Text::Plain(text)),
            false => Some(Text::secret()),
        });
        let Some(sealed) = sealed else { unreachable!("every text is shown or hidden") };
        sealed
    }

    /// All its texts.
    pub(crate) fn in_order(&self) -> Vec<&String> {
        let optional = self.cwd.iter().chain(&self.stdin);
        optional.chain(self.env.values().flatten()).chain(&self.argv).collect()
    }
}

/// Something to compute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compute {
    /// The code, never rendered.
    #[serde(with = "placed")]
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
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// `server.tool`, or the name of a tool of the project.
    pub tool: String,
    /// Its arguments; one that touches a secret is marked and not rendered.
    pub args: Map<String, Value>,
}

/// A text of the file with its place.
mod placed {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use crate::skill::Template;
    use crate::span::Span;

    pub(super) fn serialize<S: Serializer>(text: &Template, to: S) -> Result<S::Ok, S::Error> {
        (&text.value, text.span).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Template, D::Error> {
        let (value, span) = <(String, Span)>::deserialize(from)?;
        Ok(Template::new(value, span))
    }
}
