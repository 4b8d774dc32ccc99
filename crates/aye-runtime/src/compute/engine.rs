//! What Aye wants of an engine for Python, so that it can be another one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::block::Limits;
use super::files::{FileAnswer, FileCall};

/// Runs a program.
pub(super) trait Engine {
    /// Runs it to its end; its value is that of its last line.
    fn run(
        &self,
        program: &str,
        limits: &Limits,
        answers: &mut dyn Answers,
    ) -> Result<Value, Fault>;

    /// Whether the engine can read a program.
    fn check(&self, program: &str) -> Result<(), Fault>;

    /// Tells the engine how much memory the process uses.
    fn memory_used(&self, bytes: usize);
}

/// Answers what a program asks for.
pub(super) trait Answers {
    /// The value of a name.
    fn name(&mut self, name: &str) -> Option<Answer>;

    /// The value of a name as a template sees it.
    fn value(&self, name: &str) -> Option<Value>;

    /// The names that the run gave.
    fn names(&self) -> Vec<String>;

    /// Whether there is such a function.
    fn has(&self, function: &str) -> bool;

    /// A function of the host; `memory.read` has an object.
    fn call(
        &mut self,
        object: Option<&str>,
        function: &str,
        args: Vec<Value>,
        named: Map<String, Value>,
    ) -> Result<Value, Raised>;

    /// A file.
    fn file(&mut self, call: FileCall) -> Result<FileAnswer, Raised>;

    /// An environment variable.
    fn env(&mut self, name: &str) -> Option<String>;

    /// The time, in microseconds since 1970, in UTC.
    fn now(&mut self) -> i64;

    /// Text that was printed.
    fn print(&mut self, text: &str);
}

/// What a name stands for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// A value.
    Value(Value),
    /// A function of the host.
    Function,
    /// An object of the host with functions.
    Object,
}

/// An exception that an answer raises in the program.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Raised {
    pub(super) kind: Cow<'static, str>,
    pub(super) message: String,
}

impl Raised {
    pub(super) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind: Cow::Borrowed(kind), message: message.into() }
    }
}

/// Why a program gave no value.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Fault {
    /// The exception, or `Limit`, `Cancelled`, `Result`.
    pub(super) kind: String,
    pub(super) message: String,
    /// Where, from the outermost call to the innermost.
    pub(super) frames: Vec<Frame>,
}

/// A place in the program; lines and columns count from 1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Frame {
    pub(super) line: usize,
    pub(super) start: usize,
    /// Where it ends, if on the same line.
    pub(super) end: Option<usize>,
}

impl Fault {
    pub(super) fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), message: message.into(), frames: Vec::new() }
    }
}
