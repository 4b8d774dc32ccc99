//! Every command of the program, as a user would call it.

pub(crate) mod harness;

mod audit;
mod auth;
mod dry_run;
mod events;
mod failing;
mod help;
mod home;
mod inputs;
mod looks;
mod pages;
mod resuming;
mod running;
mod runs;
mod skills;
mod stopping;
