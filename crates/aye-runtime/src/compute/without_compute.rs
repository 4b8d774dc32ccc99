//! In place of the engine where the feature `compute` is off.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use aye_core::text::{Expressions, Scope, TextError};
use serde_json::Value;

use super::block::{Block, Limits};
use super::error::ComputeError;
use super::host::Host;
use super::proposal::Proposal;
use super::python_program::{PythonProgram, PythonResult};
use super::unknown_name::UnknownName;

const WITHOUT: &str = "this program is built without the feature `compute`";

/// The word that makes a program a worker; there are none.
pub const WORD: &str = "compute-worker";

/// Refuses what is not Jinja.
#[derive(Debug, Clone, Copy, Default)]
pub struct PythonExpressions;

impl Expressions for PythonExpressions {
    fn names(&self, _source: &str) -> Result<Vec<String>, TextError> {
        Err(TextError::new(WITHOUT))
    }

    fn evaluate(&self, _source: &str, _scope: &Scope) -> Result<Value, TextError> {
        Err(TextError::new(WITHOUT))
    }
}

fn refused() -> ComputeError {
    ComputeError::new("Limit", WITHOUT)
}

/// Does nothing: there are no workers.
pub fn is_aye() {}

/// Fails: there are no workers.
pub fn work() -> u8 {
    2
}

/// Refuses the block.
pub fn run(
    _block: &Block,
    _scope: &Scope,
    _host: &mut dyn Host,
    _limits: &Limits,
    _cancelled: &AtomicBool,
) -> Result<Value, ComputeError> {
    Err(refused())
}

/// Refuses the block.
pub fn check(_block: &Block, _time: Duration) -> Result<(), ComputeError> {
    Err(refused())
}

/// Nothing is known of its modules.
pub fn missing_module(_block: &Block) -> Option<ComputeError> {
    None
}

/// Nothing is known of what it compares.
pub fn text_as_number(_block: &Block, _is_text: &dyn Fn(&str) -> bool) -> Option<ComputeError> {
    None
}

/// Nothing is known of its names.
pub fn unknown_name(_block: &Block, _known: &dyn Fn(&str) -> bool) -> Option<UnknownName> {
    None
}

/// Finds nothing.
pub fn first_use(_block: &Block, _wanted: &dyn Fn(&str) -> bool) -> Option<UnknownName> {
    None
}

/// Proposes nothing.
pub fn propose(
    _code: &str,
    _output: Option<&str>,
    _error: &ComputeError,
    _scope: &Scope,
) -> Option<Proposal> {
    None
}

/// Refuses the block.
pub fn python_program(_block: &Block, _scope: &Scope) -> Result<PythonProgram, ComputeError> {
    Err(refused())
}

/// Refuses the block.
pub fn python_result(
    _block: &Block,
    _scope: &Scope,
    _stdout: &str,
    _limits: &Limits,
) -> Result<PythonResult, ComputeError> {
    Err(refused())
}
