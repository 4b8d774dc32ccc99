//! `aye mcp` as real clients see it: the SDKs for Python and TypeScript in both
//! eras of the protocol, Inspector, and the conformance suites. The scripts
//! they are driven through are in `tests/peers`; `tests/servers/install`
//! installs them.

mod peer;
mod room;
mod service;

mod changing;
mod conformance;
mod eliciting;
mod guarded;
mod hostile_output;
mod inspector;
mod lasting;
mod looking_up;
mod mending;
mod running;
mod tokens;
mod transcripts;

pub(crate) use peer::{Peer, Sdk};
