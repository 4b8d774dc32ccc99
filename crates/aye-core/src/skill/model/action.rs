//! What a step does: the kinds of steps.

use indexmap::IndexMap;
use serde_json::Value;

use crate::span::{Span, Spanned};
use crate::step_kind::StepKind;

use super::{Ask, AskKind, Step, Template};

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A program with arguments; no shell.
    Command {
        /// The program: a name on `PATH` or a path.
        program: Template,
        /// Its arguments, one each.
        args: Vec<Template>,
    },
    /// Text for `sh -c`, because the author said so.
    Shell {
        /// The script.
        script: Template,
    },
    /// A question whose answer is the step's result.
    Ask(Box<Ask>),
    /// A tool of a server or of the project.
    Tool {
        /// `server.tool` or a name.
        tool: Spanned<String>,
        /// Its arguments; every string inside is a template.
        args: Value,
        /// Where they stand.
        span: Span,
    },
    /// A small sandboxed program over the run's names.
    Compute {
        /// The code; never a template.
        code: Template,
        /// Run by the real interpreter instead.
        python: bool,
        /// May read files of the workspace.
        reads_files: bool,
    },
    /// Another skill.
    Skill {
        /// Its name or path.
        skill: Template,
        /// Its inputs; every string inside is a template.
        inputs: IndexMap<String, Value>,
        /// Where they stand.
        span: Span,
    },
    /// The same steps for each item of a list.
    ForEach(Box<ForEach>),
    /// Ends the run well, with this text as its result.
    Return {
        /// The text.
        text: Template,
    },
    /// Only a description: a note for the person.
    Note,
}

/// Steps for each item of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ForEach {
    /// The list: one expression, or the items themselves.
    pub items: Value,
    /// Where it stands.
    pub span: Span,
    /// What an item is called in templates.
    pub name: String,
    /// What an item is called in reports; its value if not given.
    pub label: Option<Template>,
    /// How many at once.
    pub parallel: u32,
    /// Whether the first that fails keeps the rest from starting; if not given, it does so
    /// except in `finally`.
    pub fail_fast: Option<bool>,
    /// What is done for each.
    pub body: Vec<Step>,
}

impl Action {
    /// What it does.
    pub fn kind(&self) -> StepKind {
        match self {
            Self::Command { .. } => StepKind::Command,
            Self::Shell { .. } => StepKind::Shell,
            Self::Ask(ask) => match ask.kind {
                AskKind::Confirm => StepKind::Confirm,
                AskKind::Choose => StepKind::Choose,
                AskKind::Input => StepKind::Input,
                AskKind::Recover => StepKind::Recover,
            },
            Self::Tool { .. } => StepKind::Tool,
            Self::Compute { .. } => StepKind::Compute,
            Self::Skill { .. } => StepKind::Skill,
            Self::ForEach(_) => StepKind::ForEach,
            Self::Return { .. } => StepKind::Return,
            Self::Note => StepKind::Note,
        }
    }

    /// The question that it is.
    pub fn ask(&self) -> Option<&Ask> {
        match self {
            Self::Ask(ask) => Some(ask),
            Self::Command { .. }
            | Self::Shell { .. }
            | Self::Tool { .. }
            | Self::Compute { .. }
            | Self::Skill { .. }
            | Self::ForEach(_)
            | Self::Return { .. }
            | Self::Note => None,
        }
    }

    /// The steps that it holds.
    pub fn body(&self) -> &[Step] {
        match self {
            Self::ForEach(each) => &each.body,
            Self::Command { .. }
            | Self::Shell { .. }
            | Self::Ask(_)
            | Self::Tool { .. }
            | Self::Compute { .. }
            | Self::Skill { .. }
            | Self::Return { .. }
            | Self::Note => &[],
        }
    }

    /// The tool that it calls.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Tool { tool, .. } => Some(tool.as_str()),
            Self::Command { .. }
            | Self::Shell { .. }
            | Self::Ask(_)
            | Self::Compute { .. }
            | Self::Skill { .. }
            | Self::ForEach(_)
            | Self::Return { .. }
            | Self::Note => None,
        }
    }

    /// The program that it runs without a shell, as it is written.
    pub fn command_program(&self) -> Option<&Template> {
        match self {
            Self::Command { program, .. } => Some(program),
            Self::Shell { .. }
            | Self::Ask(_)
            | Self::Tool { .. }
            | Self::Compute { .. }
            | Self::Skill { .. }
            | Self::ForEach(_)
            | Self::Return { .. }
            | Self::Note => None,
        }
    }

    /// Whether it does something, rather than ask or say something.
    pub fn acts(&self) -> bool {
        !matches!(self, Self::Ask(_) | Self::Return { .. } | Self::Note)
    }

    /// Whether it consists of runs of its own.
    pub fn is_nested(&self) -> bool {
        matches!(self, Self::Skill { .. } | Self::ForEach(_))
    }
}
