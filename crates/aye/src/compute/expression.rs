//! Expressions in templates and conditions that are more than Jinja.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use aye_core::text::{Expressions, Scope, TextError};
use ruff_python_parser::Mode;
use serde_json::Value;

use super::block::{Block, Limits};
use super::context::is_builtin;
use super::host::Quiet;
use super::run::start;
use super::source::{self, Wanted};

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
        let survey =
            source::survey(&one_line(source), Mode::Expression).map_err(|error| TextError {
                range: Some(error.at..error.at.saturating_add(1)),
                ..TextError::new(error.message)
            })?;
        let names = survey.free().filter(|dotted| {
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
        let limits =
            Limits { time: Duration::from_secs(1), memory: 128 << 20, ..Limits::default() };
        let run = start(
            &block,
            scope,
            &mut Quiet::default(),
            &limits,
            &AtomicBool::new(false),
            Wanted::Expression,
        );
        run.map_err(|error| TextError {
            hint: error.hint.clone().map(String::from),
            ..TextError::new(error.to_string())
        })
    }
}

/// Inside of `{{ }}` a line break is a blank.
fn one_line(source: &str) -> String {
    format!("({})", source.trim())
}
