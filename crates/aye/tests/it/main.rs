//! Every integration test of the program, in one binary: it links once.

mod store;
mod graph;
