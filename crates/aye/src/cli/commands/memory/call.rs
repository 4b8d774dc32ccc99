//! `aye memory call`: what a block of `python3` asks memory. Internal.
//!
//! A list of calls comes in, the value of the last goes out. Nothing is written:
//! the run applies the calls itself once the step has gone well.

use std::io::Read as _;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cli::Context;
use crate::cli::commands::output::print_json;
use aye_runtime::compute::MemoryCall;
use aye_runtime::error::Error;
use aye_runtime::memory::View;

pub(super) fn run(context: &Context) -> Result<u8, Error> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    let calls: Vec<MemoryCall> = read
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .map_err(|error| {
            let message = format!("these are not calls of memory: {error}");
            Error::usage(message, "`aye memory call` is internal")
        })?;
    let mut view = View::new(Arc::new(context.current_memory()), context.now());
    let mut last = Ok(Value::Null);
    for MemoryCall(function, args, named) in &calls {
        last = view.call(function, args, named);
        if last.is_err() {
            break;
        }
    }
    print_json(&match last {
        Ok(value) => json!({ "value": value }),
        Err(error) => json!({ "error": error }),
    })?;
    Ok(0)
}
