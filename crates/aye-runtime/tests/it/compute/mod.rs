//! Compute blocks, and the expressions that templates hand on to them.

mod blocks;
mod corpus;
mod errors;
mod expressions;
mod files;
mod hostile;
mod propose;
mod python;
mod templates;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use aye_core::text::{Scope, World};
use aye_runtime::compute::{Block, ComputeError, Limits, Quiet, run};
use aye_runtime::outside::Outside;
use serde_json::{Value, json};

/// Checking a block takes milliseconds.
const SOON: Duration = Duration::from_secs(5);

/// A block of a skill that begins on line 10 of its file.
fn block(code: &str) -> Block {
    Block {
        code: code.to_owned(),
        output: Some("plan".to_owned()),
        file: Some("release.yaml".to_owned()),
        line: 10,
        one_line: false,
        workspace: PathBuf::from("/nowhere/work"),
        files_read: false,
        written_as: None,
    }
}

fn map(value: Value) -> indexmap::IndexMap<String, Value> {
    match value {
        Value::Object(map) => map.into_iter().collect(),
        other => panic!("{other}"),
    }
}

/// A scope with these inputs and these results of earlier steps.
fn scope_of(inputs: Value, outputs: Value) -> Scope {
    let env = BTreeMap::from([("HOME".to_owned(), "/home/ann".to_owned())]);
    let outside =
        Outside::new(Arc::new(env), PathBuf::from("/nowhere/work"), "2026-01-01".to_owned());
    Scope {
        world: World { now: "2026-01-01T12:30:00Z".parse().unwrap(), names: Arc::new(outside) },
        inputs: Arc::new(map(inputs)),
        outputs: Arc::new(map(outputs)),
        locals: Arc::default(),
        steps: Arc::default(),
        secrets: Arc::default(),
        run: Arc::new(json!({ "id": "run00001" })),
        skill: Arc::new(json!({ "name": "test" })),
        lenient: false,
    }
}

fn scope() -> Scope {
    scope_of(
        json!({ "commit": "abc123", "count": 3, "flags": { "fast": true } }),
        json!({ "image": { "exists": true, "tags": ["a", "b"] }, "n": 7, "text": "one\ntwo\n", "nothing": null }),
    )
}

fn compute_with(code: &str, limits: &Limits) -> (Result<Value, ComputeError>, Quiet) {
    let mut host = Quiet::default();
    let result = run(&block(code), &scope(), &mut host, limits, &AtomicBool::new(false));
    (result, host)
}

fn compute(code: &str) -> Result<Value, ComputeError> {
    compute_with(code, &Limits::default()).0
}

fn value(code: &str) -> Value {
    compute(code).unwrap_or_else(|error| panic!("{code}\n{}", error.render()))
}

fn error(code: &str) -> ComputeError {
    compute(code).expect_err(code)
}
