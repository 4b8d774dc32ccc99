//! Flows: one graph for both forms of skill.
//!
//! `Skill -> Flow::compile -> Flow`: every step becomes a [`Node`] with
//! [`Routes`]; the order of `steps:` and the transitions of `states:` are the
//! same thing from here on. The machine only ever asks [`Flow::route`].

mod graph;
mod lay;
mod lint;
mod narrow;
mod reading;
mod route;
mod survey;
mod texts;

pub use graph::{Ending, Flow, Node, NodeId, Routes, Target};
pub use lint::lint;
pub(crate) use reading::reads;
pub use route::{Outcome, Route};
pub use survey::{Concern, survey};
pub use texts::results_of;
