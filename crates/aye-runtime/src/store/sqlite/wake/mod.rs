//! Wake-ups: files that are written to when there is news, and watches on
//! them. One is for everything, the others for requests.
//!
//! Touches those files only. A driver that waits is woken by it and reads its mailbox.

#[cfg(target_os = "linux")]
mod inotify;
mod notifier;
mod polling;

use std::path::Path;

use aye_core::id::RunId;

pub use notifier::Notifier;

use super::SqliteStore;
use crate::store::{Listener, StoreError, Wake};

impl Wake for SqliteStore {
    fn listen(&self) -> Result<Listener, StoreError> {
        listen(&self.notifier, &self.home.notifier())
    }

    fn listen_for_requests(&self, run: &RunId) -> Result<Listener, StoreError> {
        let path = self.home.request_notifier(run);
        listen(&Notifier::new(path.clone()), &path)
    }

    fn notify(&mut self) {
        self.notifier.notify();
    }
}

impl SqliteStore {
    /// Wakes the driver of a run.
    pub(super) fn notify_of_request(&self, run: &RunId) {
        Notifier::new(self.home.request_notifier(run)).notify();
    }

    /// Wakes every driver.
    pub(super) fn ring_for_all_requests(&self) {
        for path in self.home.request_notifiers().filter(|path| path.exists()) {
            Notifier::new(path).notify();
        }
    }
}

fn listen(notifier: &Notifier, path: &Path) -> Result<Listener, StoreError> {
    notifier.listen().map_err(|error| StoreError::io(path, &error))
}
