//! The types of the protocol for clients in TypeScript, from the types that the
//! server itself reads and writes. Written by a test: a server needs none of it.
//!
//! Touches nothing but that file. The editor's extension is compiled with it.

mod generated_file;
mod print;
mod step_output;
