//! Compute blocks: small sandboxed Python in a step.
//!
//! [`mod@run`] makes the code ready ([`source`]), hands it to a worker process
//! ([`pool`] has them, [`worker`] is one), which runs it in the engine
//! ([`engine`]), and answers what it asks for: names from the scope, functions
//! from the [`Host`], files of the workspace. What comes back is data or a [`ComputeError`] that says where and why. Nothing
//! of this runs before a block, or an expression that the template engine
//! cannot read, is met.
//!
//! All of it but its data is the feature `compute`; without it a block fails, and templates are
//! plain Jinja.
//!
//! Touches worker processes, and files of the workspace for reading if the skill allows it. The
//! result goes back to the driver.

mod block;
mod diff;
mod error;
mod host;
mod proposal;
mod python_program;
mod unknown_name;

#[cfg(feature = "compute")]
mod context;
#[cfg(feature = "compute")]
mod engine;
#[cfg(feature = "compute")]
mod explain;
#[cfg(feature = "compute")]
mod expression;
#[cfg(feature = "compute")]
mod files;
#[cfg(feature = "compute")]
mod monty;
#[cfg(feature = "compute")]
mod pool;
#[cfg(feature = "compute")]
mod propose;
#[cfg(feature = "compute")]
mod python;
#[cfg(feature = "compute")]
mod run;
#[cfg(feature = "compute")]
mod source;
#[cfg(feature = "compute")]
mod value;
#[cfg(feature = "compute")]
mod wire;
#[cfg(not(feature = "compute"))]
mod without_compute;
#[cfg(feature = "compute")]
mod worker;

pub use block::{Block, Limits};
pub use diff::{diff, whole_diff};
pub use error::{ComputeError, Place};
pub use host::{Host, Quiet};
pub use proposal::{Change, Proposal};
pub use python_program::{MemoryCall, PythonProgram, PythonResult, printed};
pub use unknown_name::UnknownName;

#[cfg(feature = "compute")]
pub use self::{
    expression::PythonExpressions,
    pool::is_aye,
    propose::propose,
    python::{python_program, python_result},
    run::{check, first_use, missing_module, run, text_as_number, unknown_name},
    worker::{WORD, work},
};
#[cfg(not(feature = "compute"))]
pub use without_compute::{
    PythonExpressions, WORD, check, first_use, is_aye, missing_module, propose, python_program,
    python_result, run, text_as_number, unknown_name, work,
};
