//! Lanes: the run and the runs inside it, side by side.
//!
//! Each lane holds the machine of one run and what is being done for it. A
//! lane without a parent is the run that was asked for; the others belong to
//! one of its steps (`nested`).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use aye_core::effect::Effect;
use aye_core::id::QuestionId;
use aye_core::kept_output::KeptOutput;
use aye_core::machine::Machine;
use aye_core::question::Question;
use aye_core::text::Scope;
use jiff::Timestamp;

use crate::compute::Block;
use crate::tools::CommandTool;

use super::editing::Opened;
use super::nested::ChildRuns;

/// Names a lane; not used twice in a run's driver.
pub(super) type LaneId = usize;

/// The lane of the run itself.
pub(super) const ROOT: LaneId = 0;

/// One run and what is being done for it.
pub(super) struct Lane {
    pub(super) machine: Machine,
    /// Who it belongs to, and which of its runs it is.
    pub(super) parent: Option<(LaneId, usize)>,
    /// The labels of the runs it is in, its own last; empty for the run itself.
    pub(super) path: Vec<String>,
    pub(super) work: Work,
    /// How often it was cancelled: twice means at once.
    pub(super) cancels: u32,
    /// When it was cancelled in a way that ends a `finally` inside it too, if it has begun by then.
    pub(super) cancel_now: Option<Timestamp>,
    /// Another run has its name; it is tried again when there is news.
    pub(super) name_refused: bool,
    /// Why nobody can be asked here.
    pub(super) unasked: Option<String>,
    /// It rests until someone answers.
    pub(super) rests: bool,
    /// How many forms of secrets it had when the other lanes got them.
    pub(super) shared_secrets: usize,
}

impl Lane {
    pub(super) fn new(
        machine: Machine,
        parent: Option<(LaneId, usize)>,
        path: Vec<String>,
    ) -> Self {
        Self {
            machine,
            parent,
            path,
            work: Work::Nothing,
            cancels: 0,
            cancel_now: None,
            name_refused: false,
            unasked: None,
            rests: false,
            shared_secrets: 0,
        }
    }

    /// Whether it waits for an answer to this question.
    pub(super) fn asks(&self, question: &QuestionId) -> bool {
        self.question().is_some_and(|open| open.id == *question)
    }

    /// The question it waits for.
    pub(super) fn question(&self) -> Option<Box<Question>> {
        match self.machine.next_effect() {
            Effect::Ask(question) => Some(question),
            _ => None,
        }
    }
}

/// What is being done for a lane.
pub(super) enum Work {
    Nothing,
    /// It waits for a slot.
    Queued {
        execution: u32,
    },
    /// A program runs: one of `Driver::processes`.
    Process {
        execution: u32,
        log: Option<PathBuf>,
        /// What is kept of its output.
        kept: KeptOutput,
        /// What its output means.
        meaning: Meaning,
        /// It has the terminal.
        interactive: bool,
    },
    /// A thread computes.
    Compute {
        execution: u32,
        since: Instant,
        cancelled: Arc<AtomicBool>,
    },
    /// A tool was called.
    Tool {
        execution: u32,
        since: Instant,
        call: u64,
    },
    /// Someone changes what its failed step is given.
    Editing(Box<Opened>),
    /// Runs inside it.
    Nested {
        execution: u32,
        since: Instant,
        inside: Box<ChildRuns>,
    },
}

/// What the output of a program means.
pub(super) enum Meaning {
    /// It is the step's result.
    Text,
    /// It is what a named command of the project says.
    Tool(Box<CommandTool>),
    /// It ends with what a block has computed.
    Python(Box<(Block, Scope)>),
}

impl Work {
    pub(super) fn execution(&self) -> Option<u32> {
        match self {
            Self::Nothing | Self::Editing(_) => None,
            Self::Queued { execution }
            | Self::Process { execution, .. }
            | Self::Compute { execution, .. }
            | Self::Tool { execution, .. }
            | Self::Nested { execution, .. } => Some(*execution),
        }
    }
}
