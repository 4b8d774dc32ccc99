//! An adapter that keeps everything in memory, for tests and for programs that
//! embed the runtime and need no journal afterwards. Clones share one store, as
//! processes share a journal. Step logs are files all the same: programs write
//! to them.
//!
//! `state` is the data and the one way to change it; the other files are the
//! ports, read from it.
//!
//! Touches no files but these logs. What it holds goes to drivers and use cases, which see only the
//! traits of `store`.

mod audit;
mod index;
mod journal;
mod lease;
mod lessons;
mod mailbox;
mod outbox;
mod presence;
mod prune;
mod state;
mod wake;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aye_core::id::RunId;

use super::{Announcer, Logs, PlainLogs, Store, StoreError, logs};
use state::State;

/// A store in memory.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
    logs: PathBuf,
    /// What decides which messages an event causes: each process has its own.
    announcer: Option<Arc<dyn Announcer>>,
}

impl MemoryStore {
    /// An empty store that keeps step logs below `logs`.
    pub fn new(logs: &Path) -> Self {
        Self { state: Arc::default(), logs: logs.to_path_buf(), announcer: None }
    }

    /// Changes the first event of a run as no driver does: what a test of audits
    /// needs.
    pub fn tamper(&self, run: &RunId) {
        let mut state = self.state();
        if let Some(stored) = state.events.iter_mut().find(|stored| stored.event.run == *run) {
            stored.event.at += jiff::SignedDuration::from_secs(1);
        }
    }

    /// Tells the announcer that what it was asked about is there.
    fn committed(&self) {
        if let Some(announcer) = &self.announcer {
            announcer.committed();
        }
    }

    /// A thread that panicked has changed everything or nothing.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {}

impl Logs for MemoryStore {
    fn log(&self, run: &RunId, execution: u32, step: &str) -> PathBuf {
        self.logs.join(run.as_str()).join(logs::file_name(execution, step))
    }

    fn create_logs(&self, run: &RunId) -> Result<PathBuf, StoreError> {
        let path = self.logs.join(run.as_str());
        std::fs::create_dir_all(&path).map_err(|error| StoreError::io(&path, &error))?;
        Ok(path)
    }

    fn plain_logs(&self) -> PlainLogs {
        PlainLogs::below(self.logs.clone())
    }
}
