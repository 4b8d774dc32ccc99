//! The store, from outside.

mod append;
mod audit;
mod broken;
mod child;
mod contract;
mod durable;
mod layout;
mod learning;
mod lease;
mod lists;
mod mailbox;
mod prune;
mod rebuild;
mod room;
mod sample;
mod wake;
mod writer;
mod writers;

/// What a test returns, so that `?` can be used.
type Outcome = Result<(), Box<dyn std::error::Error>>;
