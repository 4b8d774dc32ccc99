//! Tools: real MCP servers, hostile ones, and named commands.

#[expect(clippy::unwrap_used, reason = "what fails here fails the test")]
mod harness;

mod asking;
mod calling;
mod commands;
mod destructive;
mod dying;
mod hostile;
mod http;
mod read_only;
mod real;
mod settings;
mod trusting;
