//! Memory, from outside.

mod child;
mod commands;
mod crowd;
mod files;
mod hostile;
mod importing;
mod knowing;
mod looking;
pub(crate) mod lookup;
pub(crate) mod proposing;
pub(crate) mod recovering;
mod rules;
mod sample;
mod weeks;
mod work;
mod year;

/// What a test returns, so that `?` can be used.
type Outcome = Result<(), Box<dyn std::error::Error>>;
