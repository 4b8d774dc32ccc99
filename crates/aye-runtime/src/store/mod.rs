//! The store: the journal of every run in one SQLite file, and what lets
//! several processes share it.
//!
//! Data flow. The driver of a run holds its [`RunLock`] and is the only one
//! that appends to it. [`Store::append`] writes, in one transaction, the
//! events with their hash chain, the rows derived from them (`runs`,
//! `questions`) and the verdicts on the requests they settle, then rings the
//! [`Bell`]. Everybody else reads: listings from the derived rows, the truth
//! from the events. Whoever wants something of a run leaves a request in the
//! mailbox ([`Store::send`]), rings the bell that drivers listen to as well, and
//! waits for its verdict.
//!
//! Derived rows are a fold of the events and nothing else (`derive`), so they
//! can be thrown away ([`Store::rebuild`]) and checked ([`Store::audit`]).
//! Nothing here reads a clock: time is an argument.

mod append;
mod audit;
mod bell;
mod chain;
mod change;
mod create;
mod derive;
mod error;
mod home;
mod lock;
mod mailbox;
mod open;
mod prune;
mod questions;
mod read;
mod rebuild;
mod rows;
mod runs;
mod schema;
mod sources;
mod walk;

pub use audit::{Audited, Finding};
pub use bell::{Bell, Listener};
pub use error::StoreError;
pub use home::Home;
pub use lock::{Held, LockError, LockInfo, RunLock};
pub use mailbox::{ENDED, Pending, RequestId, Verdict};
pub use open::{Durability, Store};
pub use prune::Pruned;
pub use rows::{Found, QuestionRow, QuestionState, RunRow, RunStatus};
pub use runs::RunFilter;
pub use sources::Source;
