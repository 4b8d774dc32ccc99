//! The core's integration tests, in one binary because linking is what costs.

mod build;
mod flow;
mod skill;
