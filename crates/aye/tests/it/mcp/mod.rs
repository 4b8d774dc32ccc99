//! The MCP server, driven by clients that speak the protocol line by line:
//! what the bytes are, not what a library makes of them. Real clients drive it
//! elsewhere.

mod advising;
mod changing;
pub(crate) mod client;

mod forms;
mod hostile;
mod hostile_text;
mod http;
mod install;
mod learning;
mod reaching;
mod recovering;
mod remembering;
mod resources;
mod resting;
mod running;
mod surviving;
mod tasks;
mod telling;
mod telling_next;
mod telling_surroundings;
mod tools;
mod trying;
mod untrusted;
