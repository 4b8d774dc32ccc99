//! What memory is asked about.

use aye_core::word_enum;
use serde_json::{Map, Value};

/// A failure, or what may become one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    /// The tool, or the program of a command.
    pub tool: &'a str,
    /// The skill.
    pub skill: Option<&'a str>,
    /// The step.
    pub step: Option<&'a str>,
    /// What went wrong: the end of what it wrote, or the tool's message.
    pub error: &'a str,
    /// What it was given, where that is known.
    pub args: Option<&'a Map<String, Value>>,
}

impl<'a> Query<'a> {
    /// A failure of a step.
    pub fn at(tool: &'a str, skill: &'a str, step: &'a str, error: &'a str) -> Self {
        Self { tool, skill: Some(skill), step: Some(step), error, args: None }
    }
}

word_enum! {
    /// Which memory something is in. The project's comes first.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Layer {
        /// `.aye/memory` of the project: shared through git.
        Project = "project",
        /// The user's own, below `AYE_HOME`.
        User = "user",
    }
}

/// Something in memory and where it stands.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    /// In which memory.
    pub layer: Layer,
    /// In which file.
    pub file: std::path::PathBuf,
    /// On which line, from 1.
    pub line: usize,
    /// What it is.
    pub value: T,
}
