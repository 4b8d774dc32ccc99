//! A block for `python3`, and what came of it, as data.

use serde_json::Value;

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
    /// What it printed.
    pub printed: String,
}
