//! The store, from outside.

mod append;
mod audit;
mod bell;
mod broken;
mod child;
mod contract;
mod durable;
mod layout;
mod learning;
mod lists;
mod lock;
mod mailbox;
mod prune;
mod rebuild;
mod room;
mod sample;
mod writer;
mod writers;

/// What a test returns, so that `?` can be used.
type Outcome = Result<(), Box<dyn std::error::Error>>;
