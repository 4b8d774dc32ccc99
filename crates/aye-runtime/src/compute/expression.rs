//! Expressions in templates and conditions that are more than Jinja.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use aye_core::error_code::ErrorCode;
use aye_core::text::{Expressions, MEMORY, MEMORY_ERROR, Scope, TemplateKind, TextError};
use ruff_python_parser::Mode;
use serde_json::{Map, Value, json};

use super::block::{Block, Limits};
use super::context::{Context, is_builtin};
use super::explain::COMPARES;
use super::host::{Host, Quiet};
use super::pool;
use super::run::start;
use super::source::{self, Wanted};
use super::wire::Job;
use super::worker;

/// Longer ones belong into a compute step.
const LENGTH: usize = 4096;

/// Reads expressions as Python: comprehensions, f-strings, lambdas, …
#[derive(Debug, Clone, Copy, Default)]
pub struct PythonExpressions;

impl Expressions for PythonExpressions {
    fn names(&self, source: &str) -> Result<Vec<String>, TextError> {
        if source.len() > LENGTH {
            return Err(TextError::new(format!("the expression is longer than {LENGTH} bytes")));
        }
        let analyze =
            source::analyze(&one_line(source), Mode::Expression).map_err(|error| TextError {
                range: Some(error.at..error.at.saturating_add(1)),
                ..TextError::new(error.message)
            })?;
        let names = analyze.free().filter(|dotted| {
            let name = dotted.split('.').next().unwrap_or(dotted);
            !is_builtin(name) && !source::provides(name)
        });
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn evaluate(&self, source: &str, scope: &Scope) -> Result<Value, TextError> {
        let block = Block { code: one_line(source), ..Block::default() };
        let run = start(
            &block,
            scope,
            &mut Reading(scope),
            &limits(),
            &AtomicBool::new(false),
            Wanted::Expression,
        );
        run.map_err(|error| {
            // In the words of templates, which refuse the same.
            let compares = error.kind == "TypeError" && error.message.ends_with(COMPARES);
            let said = if compares { error.message.clone() } else { error.to_string() };
            TextError { hint: error.hint.map(String::from), ..TextError::new(said) }
        })
    }

    fn evaluate_isolated(
        &self,
        kind: TemplateKind,
        template: &str,
        scope: &Scope,
    ) -> Option<Result<Value, TextError>> {
        if worker::is_inside() {
            return None;
        }
        let template = template.to_owned();
        let (now, lenient) = (scope.world.now, scope.lenient);
        let job = Job::Template { kind, template, limits: limits(), now, lenient };
        let (block, set, host) = (Block::default(), BTreeMap::new(), &mut Quiet::default());
        let mut context =
            Context { scope, block: &block, host, set: &set, line: String::new(), ended: false };
        let done = pool::run(&job, Some(&mut context), &AtomicBool::new(false));
        Some(done.map_err(|fault| TextError {
            hint: Some("a template is for small work: use a `compute:` step".to_owned()),
            code: ErrorCode::ResourceLimit,
            ..TextError::new(format!("the template is too much work: {}", fault.message))
        }))
    }
}

/// What an expression can ask memory: what is there, and nothing is changed.
struct Reading<'a>(&'a Scope);

impl Host for Reading<'_> {
    fn memory(
        &mut self,
        function: &str,
        args: &[Value],
        named: &Map<String, Value>,
    ) -> Result<Value, String> {
        let given = |at: usize, name: &str| {
            let value = args.get(at).or_else(|| named.get(name)).and_then(Value::as_str);
            value.ok_or_else(|| format!("`memory.{function}` wants `{name}` as text"))
        };
        let (name, empty) = match function {
            "read" | "read_memory" => (format!("{MEMORY}{}", given(0, "key")?), json!({})),
            "query" => {
                let (key, query) = (given(0, "key")?, given(1, "query")?);
                (format!("{MEMORY}{key}?{query}"), json!([]))
            }
            other => {
                return Err(format!(
                    "in expressions `memory` has `read` and `query`, not `{other}`; use a \
                     `compute:` step"
                ));
            }
        };
        let value = self.0.world.names.look_up(&name).unwrap_or(empty);
        match value.get(MEMORY_ERROR).and_then(Value::as_str) {
            Some(error) => Err(error.to_owned()),
            None => Ok(value),
        }
    }

    fn log(&mut self, _line: &str) {}

    fn emit(&mut self, _name: &str, _data: Value) {}
}

/// What a template that is evaluated in a worker may take.
fn limits() -> Limits {
    Limits { time: Duration::from_millis(500), memory: 96 << 20, ..Limits::default() }
}

/// Inside of `{{ }}` a line break is a blank.
fn one_line(source: &str) -> String {
    format!("({})", source.trim())
}
