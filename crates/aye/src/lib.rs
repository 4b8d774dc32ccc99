//! Aye: runbooks that ask first.
//!
//! The front ends: each translates between a person or a program and
//! `aye-runtime`, and none imports another.

#![forbid(unsafe_code)]

pub mod chart;
pub mod cli;
pub mod graph;
pub mod harmless;
pub mod mcp;
pub mod paint;
pub mod plan_view;
pub mod prompt;
pub mod report;
pub mod screen;
mod serve;
pub mod term;
