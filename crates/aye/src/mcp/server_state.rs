//! What every connection shares.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aye_runtime::error::Error;
use aye_runtime::runtime::Runtime;
use aye_runtime::usecases::RunRow;

use super::handle::Handles;
use super::key_file;

/// The file with the key of execution ids.
const KEY: &str = "mcp.key";

/// The state of the server.
pub(super) struct ServerState {
    pub(super) runtime: Arc<Runtime>,
    pub(super) handles: Handles,
    /// The clients that were noted already.
    noted: Mutex<HashSet<String>>,
    /// Nobody listens any more: what waits should stop waiting.
    closing: AtomicBool,
}

impl ServerState {
    pub(super) fn new(runtime: Arc<Runtime>) -> Result<Self, Error> {
        let (_, key) = key_file::load_or_make(&runtime.home, KEY)?;
        let (noted, closing) = (Mutex::default(), AtomicBool::new(false));
        Ok(Self { runtime, handles: Handles::new(key), noted, closing })
    }

    /// Whether something is noted for the first time since we started.
    pub(super) fn is_new(&self, what: String) -> bool {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).insert(what)
    }

    /// Whether something was noted.
    pub(super) fn is_noted(&self, what: &str) -> bool {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).contains(what)
    }

    /// Whether a run belongs to the project that is served. An assistant that
    /// works on one project has no business with the questions of another.
    pub(super) fn is_here(&self, row: &RunRow) -> bool {
        Path::new(&row.workspace).starts_with(&self.runtime.settings.root)
    }

    /// The last event of the journal; 0 if there is none.
    pub(super) fn position(&self) -> Result<u64, Error> {
        self.runtime.journal_if_any()?.map_or(Ok(0), |journal| journal.position())
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }
}
