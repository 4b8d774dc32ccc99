//! Every command of the program, as a user would call it.

pub(crate) mod harness;

mod journal;
mod looking;
mod running;
