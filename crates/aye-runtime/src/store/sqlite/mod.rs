//! The default adapter: one SQLite file for the journal of every run, locks
//! and wake-up files next to it. `rusqlite` is used in this folder only.
//!
//! `append` writes, `journal`, `runs`, `questions` and `mailbox` are the tables,
//! `pruned` what is left of pruned runs, `lease` grants leases, `wake` wakes, `schema` is the layout and its history.
//!
//! Touches files below `AYE_HOME`. What it reads goes to drivers and use cases, which see only the
//! traits of `store`.

mod append;
mod audit;
mod change;
mod concurrency;
mod create;
mod error;
mod home;
mod journal;
mod lease;
mod lessons;
mod mailbox;
mod open;
mod outbox;
mod presence;
mod prune;
mod pruned;
mod questions;
mod rebuild;
mod runs;
mod schema;
mod wake;
mod walk;

use std::path::PathBuf;

use aye_core::id::RunId;

pub use home::Home;
pub use open::{Durability, SqliteStore};
pub use wake::Notifier;

use super::{Logs, PlainLogs, Store, StoreError};

impl Store for SqliteStore {}

impl Logs for SqliteStore {
    fn log(&self, run: &RunId, execution: u32, step: &str) -> PathBuf {
        self.home.log(run, execution, step)
    }

    fn create_logs(&self, run: &RunId) -> Result<PathBuf, StoreError> {
        self.home.create_logs(run)
    }

    fn plain_logs(&self) -> PlainLogs {
        self.home.plain_logs()
    }
}
