//! Every integration test of the runtime, in one binary: it links once.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

mod compute;
mod driver;
mod embed;
mod memory_contract;
#[path = "../../../aye-process/tests/it/privilege.rs"]
mod privilege;
mod prompters;
mod question_context;
mod resting;
mod secret_reader;
mod store;

/// A process catches signals once: whoever drives a run holds this.
static SIGNALS: std::sync::Mutex<()> = std::sync::Mutex::new(());
