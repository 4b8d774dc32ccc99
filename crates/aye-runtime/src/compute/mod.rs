//! Compute blocks: small sandboxed Python in a step.
//!
//! [`run`] makes the code ready ([`source`]), hands it to a worker process
//! ([`pool`] has them, [`worker`] is one), which runs it in the engine
//! ([`engine`]), and answers what it asks for: names from the scope, functions
//! from the [`Host`], files of the workspace. What comes back is data or a [`ComputeError`] that says where and why. Nothing
//! of this runs before a block, or an expression that the template engine
//! cannot read, is met.

mod block;
mod context;
mod diff;
mod engine;
mod error;
mod explain;
mod expression;
mod files;
mod host;
mod monty;
mod pool;
mod propose;
mod python;
mod run;
mod source;
mod value;
mod wire;
mod worker;

pub use block::{Block, Limits};
pub use diff::diff;
pub use error::{ComputeError, Place};
pub use expression::PythonExpressions;
pub use host::{Host, Quiet};
pub use pool::is_aye;
pub use propose::{Change, Proposal, propose};
pub use python::{PythonProgram, PythonResult, python_program, python_result};
pub use run::{check, missing_module, run};
pub use worker::{WORD, work};
