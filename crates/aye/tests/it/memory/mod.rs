//! Memory, from outside.

mod child;
mod commands;
mod crowd;
mod files;
mod hostile;
mod looking;
mod rules;
mod sample;
mod weeks;

/// What a test returns, so that `?` can be used.
type Outcome = Result<(), Box<dyn std::error::Error>>;
