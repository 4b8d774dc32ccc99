//! Real processes, real pipes, real terminals. Tests wait for events, not for
//! time, and one binary holds them all.

mod capture;
mod controlling;
mod digest;
mod guarding;
mod helper;
mod limits;
mod privilege;
mod pseudo;
mod serving;
mod spawning;
mod stopping;
mod terminal;
