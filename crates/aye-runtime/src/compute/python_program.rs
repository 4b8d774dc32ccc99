//! A block for `python3`, and what came of it, as data.

use serde::Deserialize;
use serde_json::{Map, Value};

/// What stands before the result.
pub(super) const MARK: &str = "\u{1e}aye-result ";

/// How to run a block with `python3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonProgram {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What it reads: the code and the context. It may hold secrets.
    pub stdin: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PythonResult {
    /// The result of the block.
    pub value: Value,
    /// What it asked memory, in order: what it wants written is among these.
    pub memory: Vec<MemoryCall>,
}

/// A call of a function of memory: its name, its arguments, and those with names.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MemoryCall(pub String, pub Vec<Value>, pub Map<String, Value>);

/// What a block printed, without the result behind it.
pub fn printed(stdout: &str) -> &str {
    stdout.rsplit_once(MARK).map_or(stdout, |(printed, _)| printed)
}
