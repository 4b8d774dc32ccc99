//! Doorbells: files that are written to when there is news, and watches on
//! them. One is for everything, the others for requests.
//!
//! Touches those files only. A driver that waits is woken by it and reads its mailbox.

#[cfg(target_os = "linux")]
mod inotify;
mod polling;
mod ring;

use std::path::Path;

use aye_core::id::RunId;

pub use ring::Bell;

use super::SqliteStore;
use crate::store::{Listener, StoreError, Wake};

impl Wake for SqliteStore {
    fn listen(&self) -> Result<Listener, StoreError> {
        listen(&self.bell, &self.home.bell())
    }

    fn listen_for_requests(&self, run: &RunId) -> Result<Listener, StoreError> {
        let path = self.home.request_bell(run);
        listen(&Bell::new(path.clone()), &path)
    }

    fn ring(&mut self) {
        self.bell.ring();
    }
}

impl SqliteStore {
    /// Wakes the driver of a run.
    pub(super) fn ring_for_request(&self, run: &RunId) {
        Bell::new(self.home.request_bell(run)).ring();
    }

    /// Wakes every driver.
    pub(super) fn ring_for_all_requests(&self) {
        for path in self.home.request_bells().filter(|path| path.exists()) {
            Bell::new(path).ring();
        }
    }
}

fn listen(bell: &Bell, path: &Path) -> Result<Listener, StoreError> {
    bell.listen().map_err(|error| StoreError::io(path, &error))
}
