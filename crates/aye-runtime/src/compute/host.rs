//! What a block can ask Aye for.

use serde_json::{Map, Value, json};

/// Functions that a block can call.
pub trait Host {
    /// `memory.function(…)`. An error is raised in the block.
    fn memory(
        &mut self,
        function: &str,
        args: &[Value],
        named: &Map<String, Value>,
    ) -> Result<Value, String>;

    /// A line that was printed or logged.
    fn log(&mut self, line: &str);

    /// `emit(name, data)`: something the run should tell.
    fn emit(&mut self, name: &str, data: Value);
}

/// A host without a memory; it keeps what it is told.
#[derive(Debug, Default)]
pub struct Quiet {
    /// Lines that were printed or logged.
    pub lines: Vec<String>,
    /// What was emitted.
    pub emitted: Vec<(String, Value)>,
}

impl Host for Quiet {
    fn memory(
        &mut self,
        function: &str,
        _args: &[Value],
        _named: &Map<String, Value>,
    ) -> Result<Value, String> {
        match crate::memory::is_function(function) {
            true => Ok(nothing_known(function)),
            false => Err(format!("`memory` has no function `{function}`")),
        }
    }

    fn log(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn emit(&mut self, name: &str, data: Value) {
        self.emitted.push((name.to_owned(), data));
    }
}

/// The answer of a memory that knows nothing.
fn nothing_known(function: &str) -> Value {
    match function {
        "check_known_issues" => json!({ "matches": [], "has_known_issues": false }),
        "read" | "read_memory" | "load_shared_context" => json!({}),
        name if name.starts_with("get_") && name != "get_timestamp" => json!([]),
        _ => Value::Null,
    }
}
