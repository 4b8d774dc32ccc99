//! Tools: MCP servers and named commands of `aye.toml`.
//!
//! ```text
//! hub (Tools, what the driver sees)  --commands-->  worker (a thread with a runtime, from the first call on)
//!      <--outbox (events, a pipe to poll)--         server (one each: start, restart once, calls)
//!                                                     program (pipes, our own processes) | http
//! launch (what would be started) -- trust (was it agreed to)      crate::schema (arguments)   result
//! command (named commands: argv for the driver to run like any step)
//! ```
//!
//! The worker and what is behind it are the feature `tools`; without it servers are refused.
//!
//! Touches processes, the network, the file with agreements and, when a call fails, what its
//! server says of the tool (`described`). Results go to the driver.

mod command;
mod described;
mod error;
mod event;
mod hub;
mod launch;
mod names;
mod result;
mod shell_argument;
mod trust;

#[cfg(feature = "tools")]
#[cfg(feature = "tools")]
mod form;
#[cfg(feature = "tools")]
mod handler;
#[cfg(feature = "tools")]
mod http;
#[cfg(feature = "tools")]
mod link;
#[cfg(feature = "tools")]
mod open_questions;
#[cfg(feature = "tools")]
mod outbox;
#[cfg(feature = "tools")]
mod probe;
#[cfg(feature = "tools")]
mod program;
#[cfg(feature = "tools")]
mod server;
#[cfg(feature = "tools")]
mod thread;
#[cfg(not(feature = "tools"))]
#[path = "without_servers.rs"]
mod thread;
#[cfg(feature = "tools")]
mod watched;
#[cfg(feature = "tools")]
mod worker;

pub use command::CommandTool;
pub use described::{DescribedTool, Descriptions};
pub use error::ToolError;
pub use event::{ListedTool, ToolEvent};
pub use hub::{Call, Definition, Reply, Tools, World};
pub use launch::Launch;
pub use names::Known;
pub use result::ToolResult;
pub use shell_argument::{ShellArgument, shell_argument};
