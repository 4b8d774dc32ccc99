//! Every integration test of the runtime, in one binary: it links once.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

mod compute;
mod question_context;
mod store;
