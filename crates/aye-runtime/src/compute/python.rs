//! The same block in `python3`, for what the sandbox does not have.
//!
//! The context goes in as JSON on standard input, so that no value shows in a
//! list of processes. The result comes back on the last line of standard
//! output, behind a mark; what the block prints stays what it prints. What it
//! asks memory goes to `aye memory call`, which writes nothing; the calls come
//! back with the result, and count if the step goes well.

use aye_core::text::Scope;
use ruff_python_parser::Mode;
use serde_json::{Map, Value, json};

use super::block::{Block, Limits};
use super::error::ComputeError;
use super::python_program::{MARK, PythonProgram, PythonResult};
use super::{explain, pool, source};

/// Runs a block: reads the context, gives the names, finds the result.
const PROGRAM: &str = include_str!("python.py");

/// How to run a block with `python3`, with the names it uses.
pub fn python_program(block: &Block, scope: &Scope) -> Result<PythonProgram, ComputeError> {
    let analyze = source::analyze(&block.code, Mode::Module).map_err(|error| {
        ComputeError::new("SyntaxError", error.message).at(block, error.at..error.at)
    })?;
    let mut context = Map::new();
    let every = if analyze.asks_names { scope.names_in_scope() } else { Vec::new() };
    // `plan = plan or {}` reads the name before it sets it.
    let used = analyze.reads().map(str::to_owned);
    for name in used.chain(every).chain(analyze.asks_names.then(|| "inputs".to_owned())) {
        if let Some(value) = scope.value(&name) {
            context.insert(name, value);
        }
    }
    let env: Map<String, Value> = analyze
        .free()
        .filter_map(|name| name.strip_prefix("env."))
        .filter_map(|name| Some((name.to_owned(), json!(scope.world.names.env(name)?))))
        .collect();
    let stdin = json!({
        "code": block.code,
        "output": block.output,
        "context": context,
        "env": env,
        "mark": MARK,
        "aye": pool::own_program(),
    });
    let argv = ["python3", "-c", PROGRAM].map(str::to_owned).to_vec();
    Ok(PythonProgram { argv, stdin: stdin.to_string() })
}

/// Reads the result from what the program wrote.
pub fn python_result(
    block: &Block,
    scope: &Scope,
    stdout: &str,
    limits: &Limits,
) -> Result<PythonResult, ComputeError> {
    let Some((_, answer)) = stdout.rsplit_once(MARK) else {
        let mut error = ComputeError::new("Result", "python3 ended without a result");
        error.hint = Some("the block must not end the process: no `exit()`".into());
        return Err(error);
    };
    let answer = answer.lines().next().unwrap_or_default();
    if answer.len() > limits.output {
        let message = format!("the result is larger than {} KiB", limits.output >> 10);
        return Err(ComputeError::new("Result", message));
    }
    let mut answer: Value = serde_json::from_str(answer)
        .map_err(|error| ComputeError::new("Result", format!("the result is not data: {error}")))?;
    let Some(error) = answer.get_mut("error").map(Value::take) else {
        let memory = serde_json::from_value(answer["memory"].take()).unwrap_or_default();
        return Ok(PythonResult { value: answer["value"].take(), memory });
    };
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    let (kind, message) = (text("kind"), text("message"));
    let said = ComputeError::new(&kind, explain::message(&kind, &message));
    let line = error["line"].as_u64().and_then(|line| usize::try_from(line).ok());
    let said = match line.and_then(|line| line.checked_sub(1)) {
        None => said,
        Some(before) => {
            let start: usize = block.code.split_inclusive('\n').take(before).map(str::len).sum();
            let text = block.code.get(start..).and_then(|rest| rest.lines().next());
            let text = text.unwrap_or_default();
            let blank = text.len() - text.trim_start().len();
            said.at(block, start + blank..start + text.len())
        }
    };
    Err(match source::analyze(&block.code, Mode::Module) {
        Ok(analyze) => explain::advise(said, &message, block, &analyze, scope, false),
        Err(_) => said,
    })
}
