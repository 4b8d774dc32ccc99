//! A block and what it may use.

use std::path::PathBuf;
use std::time::Duration;

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
}

/// What a block may use.
#[derive(Debug, Clone, PartialEq, Eq)]
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
