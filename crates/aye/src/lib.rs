//! Aye: runbooks that ask first.

#![forbid(unsafe_code)]

pub mod store;
