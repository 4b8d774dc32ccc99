//! The MCP server: assistants run skills, advise and relay, and cannot decide.
//!
//! ```text
//! client -- stdio (stdio) or HTTP (http) --> service -- one file a family --> tools/
//!                                               |                              |
//!                             forms (both eras) |                              v
//!                                               v         usecases: start_detached, submit, cancel, resume_detached
//!                               report <- asking_run                            |
//!                                  ^  (cut and masked by budget)                v
//!                                  |                              aye background: drives the run
//!                              run_status, follow <---- journal <------------------+
//! ```
//!
//! The server drives no run: it starts processes of their own, reads the
//! journal and leaves requests in the mailbox, as every other process does. So
//! a pause is in the journal before a person is asked, a run outlives the
//! server, and no step can write where the protocol is written. What an
//! assistant holds of a run is a [`handle`]: nothing is kept for it here.
//!
//! An answer always records how it came: [`answer`] sends `assistant` for a relayed
//! word and `elicited` for a form, and the core refuses both where a person
//! has to answer.
//!
//! Touches its own streams or a loopback port. Calls go to the use cases; `report` makes the
//! result, which goes back to the assistant.

mod answer;
mod asking_run;
mod budget;
mod call;
mod catalog;
mod clients;
mod complete;
mod done;
mod follow;
mod forms;
mod handle;
mod http;
mod key_file;
mod outgoing;
mod prompts;
mod report;
mod resources;
mod run_status;
mod server_state;
mod service;
mod stdio;
mod tasks;
mod tools;
mod watch;

pub(crate) use http::{router, serve as serve_http, token};
pub(crate) use stdio::serve as serve_stdio;
