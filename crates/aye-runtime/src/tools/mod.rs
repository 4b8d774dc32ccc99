//! Tools: MCP servers and named commands of `aye.toml`.
//!
//! ```text
//! hub (Tools, what the driver sees)  --orders-->  worker (a thread with a runtime, from the first call on)
//!      <--outbox (events, a pipe to poll)--         server (one each: start, restart once, calls)
//!                                                     program (pipes, our own processes) | http
//! launch (what would be started) -- trust (was it agreed to)      crate::schema (arguments)   result
//! command (named commands: argv for the driver to run like any step)
//! ```

mod asking;
mod command;
mod connect;
mod error;
mod form;
mod handler;
mod http;
mod hub;
mod launch;
mod link;
mod names;
mod outbox;
mod probe;
mod program;
mod result;
mod server;
mod shell_argument;
mod trust;
mod watched;
mod worker;

pub use asking::Reply;
pub use command::CommandTool;
pub use error::ToolError;
pub use hub::{Call, Tools};
pub use launch::Launch;
pub use names::Known;
pub use outbox::{ListedTool, ToolEvent};
pub use result::ToolResult;
pub use server::World;
pub use shell_argument::{ShellArgument, shell_argument};
pub use trust::Trust;
