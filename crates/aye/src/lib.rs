//! Aye: runbooks that ask first.
//!
//! ```text
//! cli (verbs) -> skills (find, read) -> driver (the loop) -> process, prompt
//!                                          |     ^
//!                                          v     | events
//!                                        store (journal, locks, bell)
//!                                          |
//!                                          v
//!                                       report (terminal, plain, json)
//! ```

#![forbid(unsafe_code)]

pub mod advisor;
pub mod auth;
pub mod cli;
pub mod clock;
pub mod compute;
pub mod driver;
pub mod dry_run;
pub mod error;
pub mod graph;
pub mod harmless;
pub mod mcp;
pub mod memory;
mod origin;
pub mod outside;
mod ownership;
pub mod paint;
pub mod prompt;
pub mod question_context;
mod replace;
pub mod report;
pub mod settings;
pub mod skills;
pub mod store;
pub mod term;
pub mod tools;
pub mod trust;
