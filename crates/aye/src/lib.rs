//! Aye: runbooks that ask first.
//!
//! The front ends: each translates between a person or a program and
//! `aye-runtime`, and none imports another.
//!
//! `cli` is the command line, `mcp` serves assistants, `serve` the page and editors, `prompt` asks
//! on the terminal, `report` shows a run. It touches terminals, sockets and standard streams.
//! What a person or program asks for goes to a use case of the runtime; its result goes back to
//! them.

#![forbid(unsafe_code)]

pub mod chart;
pub mod cli;
mod executor;
pub mod graph;
pub mod harmless;
pub mod mcp;
pub mod paint;
pub mod plan_view;
pub mod prompt;
pub mod report;
pub mod screen;
mod serve;
pub mod signs;
pub mod term;
pub mod words;
