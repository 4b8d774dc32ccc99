//! Flows: one graph for both forms of skill.
//!
//! `Skill -> Flow::compile -> Flow`: every step becomes a [`Node`] with
//! [`Routes`]; the order of `steps:` and the transitions of `states:` are the
//! same thing from here on. The machine only ever asks [`Flow::route`].
//!
//! Touches nothing. The flow goes to `machine`; `lint` and `analyze` go to `aye
//! check`.

mod analyze;
mod certain;
mod ending;
mod graph;
mod lead;
mod left_out;
mod linearize;
mod lint;
mod locate;
mod outside;
mod reading;
mod route;
mod secret_values;
mod texts;
mod written;

pub use analyze::{Concern, Inside, analyze, decline_fails};
pub use graph::{Ending, Flow, Node, NodeId, Routes, Target, mark_repairs};
pub use left_out::LeftOut;
pub use lint::{SECRET_IN_ARGUMENTS, UNKNOWN_NAME, lint};
pub use outside::OutsideReads;
pub(crate) use reading::{condition_reads, reads, reads_outcome, template_reads};
pub use reading::{question_names, step_names};
pub use route::Route;
pub use secret_values::{GivenSecret, SecretArgument, SecretUses};
pub(crate) use texts::{constant_text, failing_text};
pub use texts::{each_string, results_of};
pub(crate) use written::written;
