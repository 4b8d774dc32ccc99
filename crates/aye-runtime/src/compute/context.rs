//! What a block is answered: names of the run, functions of the host, files.

use std::collections::BTreeMap;

use aye_core::text::Scope;
use aye_core::value::as_text;
use serde_json::{Map, Value, json};

use super::block::Block;
use super::engine::{Answer, Answers, Raised};
use super::files::{FileAnswer, FileCall, Files};
use super::host::Host;
use super::source::{END, VALUE};

/// Functions of the host that a block can call.
pub(super) const FUNCTIONS: [&str; 3] = ["log", "emit", "emit_event"];

/// Whether there is such a function of the host.
pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name) || name.starts_with("__aye_")
}

/// Answers a block.
pub(super) struct Context<'a> {
    pub(super) scope: &'a Scope,
    pub(super) block: &'a Block,
    pub(super) host: &'a mut dyn Host,
    /// Names the block itself sets, and the byte from which on they are set.
    pub(super) set: &'a BTreeMap<String, usize>,
    /// What was printed of a line so far.
    pub(super) line: String,
    /// The code is through: what is asked for now is its result.
    pub(super) ended: bool,
}

impl Context<'_> {
    fn host(
        &mut self,
        memory: bool,
        function: &str,
        args: Vec<Value>,
        named: &Map<String, Value>,
    ) -> Result<Value, Raised> {
        serve(self.host, memory, function, args, named)
            .map_err(|message| Raised::new("RuntimeError", message))
    }

    /// Lets a line out that was not ended.
    pub(super) fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.print("\n");
        }
    }

    /// The names there are at this byte of the code.
    fn names_at(&self, at: usize) -> Value {
        let mut names = self.scope.names();
        names
            .extend(self.set.iter().filter(|(_, from)| **from <= at).map(|(name, _)| name.clone()));
        names.sort();
        names.dedup();
        json!(names)
    }
}

impl Answers for Context<'_> {
    fn name(&mut self, name: &str) -> Option<Answer> {
        if self.ended {
            return None;
        }
        let wanted = name.strip_prefix(VALUE).unwrap_or(name);
        if let Some(value) = self.scope.value(wanted) {
            return Some(Answer::Value(value));
        }
        match name {
            "memory" => Some(Answer::Object),
            _ if self.has(name) => Some(Answer::Function),
            // In a lenient skill a name without a value is empty.
            _ if self.scope.lenient && !is_builtin(name) => Some(Answer::Value(Value::Null)),
            _ => None,
        }
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.scope.value(name)
    }

    fn names(&self) -> Vec<String> {
        self.scope.names_in_scope()
    }

    fn has(&self, function: &str) -> bool {
        is_function(function)
    }

    fn call(
        &mut self,
        object: Option<&str>,
        function: &str,
        args: Vec<Value>,
        named: Map<String, Value>,
    ) -> Result<Value, Raised> {
        if object == Some("memory") {
            return self.host(true, function, args, &named);
        }
        let first = || args.first().and_then(Value::as_str).unwrap_or_default().to_owned();
        match function {
            END => {
                self.ended = true;
                Ok(Value::Null)
            }
            "__aye_dir" => {
                let at = args.first().and_then(Value::as_u64).unwrap_or_default();
                Ok(self.names_at(usize::try_from(at).unwrap_or_default()))
            }
            "__aye_known" => {
                let names = self.scope.names_in_scope().into_iter().chain(["inputs".to_owned()]);
                let known = names.filter_map(|name| Some((name.clone(), self.scope.value(&name)?)));
                Ok(Value::Object(known.collect()))
            }
            "__aye_cwd" => Ok(json!(self.block.workspace.to_string_lossy())),
            "__aye_env" => match self.env(&first()) {
                Some(value) => Ok(Value::String(value)),
                None if self.scope.lenient => Ok(Value::Null),
                None => {
                    Err(Raised::new("KeyError", format!("the environment has no `{}`", first())))
                }
            },
            "__aye_getenv" => Ok(match self.env(&first()) {
                Some(value) => Value::String(value),
                None => args.get(1).or_else(|| named.get("default")).cloned().unwrap_or_default(),
            }),
            _ => self.host(false, function, args, &named),
        }
    }

    fn file(&mut self, call: FileCall) -> Result<FileAnswer, Raised> {
        if let Some(path) = call.path().filter(|path| !self.block.sees_file(path)) {
            return Err(Raised::new(
                "PermissionError",
                format!(
                    "an assistant changed this block: it may not read `{path}`, which it did not name before"
                ),
            ));
        }
        let Block { workspace, files_read, .. } = self.block;
        Files { workspace, allowed: *files_read }.answer(call)
    }

    fn env(&mut self, name: &str) -> Option<String> {
        self.scope.world.names.env(name).filter(|_| self.block.sees_variable(name))
    }

    fn now(&mut self) -> i64 {
        self.scope.world.now.as_microsecond()
    }

    fn print(&mut self, text: &str) {
        self.line.push_str(text);
        while let Some(end) = self.line.find('\n') {
            let rest = self.line.split_off(end + 1);
            self.host.log(self.line.trim_end_matches('\n'));
            self.line = rest;
        }
    }
}

/// Whether Python itself has this name, or would import it.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// What Python itself has.
pub(super) const BUILTINS: [&str; 78] = [
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "Exception",
    "FileNotFoundError",
    "IndexError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PermissionError",
    "RecursionError",
    "RuntimeError",
    "StopIteration",
    "SyntaxError",
    "TimeoutError",
    "TypeError",
    "UnicodeDecodeError",
    "ValueError",
    "ZeroDivisionError",
    "__file__",
    "__name__",
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "hasattr",
    "hash",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "staticmethod",
    "str",
    "sum",
];

/// Serves a request of a block.
fn serve(
    host: &mut dyn Host,
    memory: bool,
    function: &str,
    args: Vec<Value>,
    named: &Map<String, Value>,
) -> Result<Value, String> {
    if memory {
        return host.memory(function, &args, named);
    }
    match function {
        "log" => {
            let words: Vec<String> = args.iter().map(as_text).collect();
            host.log(&words.join(" "));
            Ok(Value::Null)
        }
        "emit" | "emit_event" => {
            let mut args = args.into_iter();
            let name = args.next().or_else(|| named.get("name").cloned());
            let Some(Value::String(name)) = name else {
                return Err(format!("`{function}` wants a name: `{function}(\"name\", data)`"));
            };
            let data = args.next().or_else(|| named.get("data").cloned());
            host.emit(&name, data.unwrap_or_default());
            Ok(Value::Null)
        }
        other => Err(format!("Aye has no function `{other}`")),
    }
}
