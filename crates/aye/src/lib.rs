//! Aye: runbooks that ask first.

#![forbid(unsafe_code)]

pub mod graph;
pub mod store;
