//! The store, from outside.

mod append;
mod bell;
mod lists;
mod lock;
mod mailbox;
mod sample;

/// What a test returns, so that `?` can be used.
type Outcome = Result<(), Box<dyn std::error::Error>>;
