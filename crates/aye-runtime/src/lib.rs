//! Runs skills: what any front end of Aye needs and none of how it looks.
//!
//! ```text
//! front end -> Runtime: usecases (prepare, start, resume, submit, read)
//!                  |
//!                  v
//!          skills, settings (find, read) -> driver (the loop) -> processes, compute, tools
//!                                                 |     ^              prompters (people)
//!                                                 v     | events
//!                                               store (journal, lease, mailbox)
//!                                                 |
//!                                                 v
//!                                               report (a port: each front end has its own)
//! ```
//!
//! Touches files below `AYE_HOME`, the project, processes and the network, each in the module that
//! is for it. It prints nothing: results go to the front end that called, and events to its report.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "compute", feature = "tools")),
    expect(dead_code, reason = "blocks and servers are what uses it")
)]

pub mod advisor;
pub mod announced_server;
pub mod assistant_clients;
pub mod auth;
pub mod clock;
mod codes;
pub mod commit;
pub mod compute;
pub mod desktop;
pub mod driver;
pub mod dry_run;
pub mod error;
pub mod fmt;
#[cfg(feature = "http")]
mod http_client;
pub mod inspect;
pub mod invalid_skill;
pub mod lessons;
pub mod memory;
pub mod notify;
pub mod origin;
pub mod outside;
pub mod ownership;
pub mod people;
pub mod presence;
pub mod private_file;
pub mod prompter;
pub mod question_context;
pub mod random;
pub mod replace;
pub mod report;
pub mod runtime;
pub mod schedules;
mod schema;
pub mod secret_channel;
pub mod secret_reader;
pub mod settings;
pub mod skills;
pub mod store;
pub mod tools;
pub mod trust;
pub mod usecases;
