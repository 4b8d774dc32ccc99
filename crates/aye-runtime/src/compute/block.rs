//! A block and what it may use.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A block of a skill.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// The code, as it was written: it is never a template.
    pub code: String,
    /// The variable that holds the result, before `result`.
    pub output: Option<String>,
    /// The skill's file, for messages.
    pub file: Option<String>,
    /// The line of that file on which the code begins, from 1.
    pub line: usize,
    /// All of it stands there, whatever lines it has itself.
    pub one_line: bool,
    /// The workspace: the directory of the block, and all it may see of files.
    pub workspace: PathBuf,
    /// The skill says `files: read`.
    pub files_read: bool,
    /// The code as it was before an assistant changed it.
    pub written_as: Option<String>,
}

impl Block {
    /// Whether it may ask for this variable: one that an assistant changed, if
    /// it did so before.
    pub(super) fn sees_variable(&self, name: &str) -> bool {
        let Some(before) = &self.written_as else { return true };
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        before.split(|c| !is_part(c)).any(|word| word == name)
    }

    /// The same for a file.
    pub(super) fn sees_file(&self, path: &str) -> bool {
        let Some(before) = &self.written_as else { return true };
        before.contains(&format!("\"{path}\"")) || before.contains(&format!("'{path}'"))
    }
}

/// What a block may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time in which it computes; waiting for the host does not count.
    pub time: Duration,
    /// Memory, in bytes.
    pub memory: usize,
    /// Size of the result, in bytes.
    pub output: usize,
    /// Size of everything it prints, in bytes.
    pub printed: usize,
    /// Depth of calls.
    pub recursion: usize,
    /// How often it may ask for something: a name, a function, a file.
    pub requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            memory: 512 << 20,
            output: 1 << 20,
            printed: 1 << 20,
            recursion: 500,
            requests: 10_000,
        }
    }
}
