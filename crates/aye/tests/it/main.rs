//! Every integration test of the program, in one binary: it links once.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

mod cli;
mod corpus;
mod crash;
mod desktop;
mod docs_site;
mod editor;
mod examples;
mod front_ends;
mod graph;
mod mcp;
mod mcp_peers;
mod memory;
mod needs;
mod notify;
mod page;
mod phrases;
mod policy;
mod prompt;
mod rooms;
mod screens;
mod secrets;
mod serve;
mod tools;
mod trust_page;
