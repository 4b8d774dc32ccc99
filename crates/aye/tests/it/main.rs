//! Every integration test of the program, in one binary: it links once.

mod cli;
mod crash;
mod graph;
mod policy;
mod prompt;
mod store;
