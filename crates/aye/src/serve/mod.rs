//! `aye serve`: runs, questions and skills over HTTP and a socket.
//!
//! ```text
//! listen (TCP, TLS, unix socket) -> guard (Host, Origin, token or session) -> identity
//!                                                |
//!                     api/ (one file a family)   |   socket/ (snapshot, events, commands)
//!                                \               |          /           ^
//!                                 v              v         v            | frames
//!                       aye_runtime::usecases: answer, hold, start_skill, retry_step, cancel, read
//!                                                |                      |
//!                                              journal ------------> hub (one reader for all sockets)
//! ```
//!
//! A front end: it translates and calls use cases. What it keeps is about
//! connections only; whatever matters is in the journal, so a server that is
//! killed and started again continues where its clients say they are.
//!
//! Touches a port, a socket and files below `AYE_HOME`. Requests go to the use cases; results
//! and events go back to the client.

mod announce;
mod api;
mod clients;
mod guard;
mod hub;
mod identity;
mod limits;
mod listen;
mod local_socket;
mod metrics;
mod page;
mod presence;
mod problem;
mod rate;
#[cfg(test)]
mod refusals;
mod server;
mod socket;
mod start_queue;
mod taking_up;
mod tls;
#[cfg(test)]
mod typescript;
mod views;
mod write_limit;

pub(crate) use listen::{Options, serve};
pub(crate) use tls::Certificate;
