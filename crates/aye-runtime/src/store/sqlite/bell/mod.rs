//! The doorbell: a file that is written to when there is news, and a watch on
//! it.
//!
//! Touches that file only. A driver that waits is woken by it and reads its mailbox.

#[cfg(target_os = "linux")]
mod inotify;
mod polling;
mod ring;

use std::path::Path;

pub use ring::Bell;

use super::SqliteStore;
use crate::store::{Listener, StoreError, Wake};

impl Wake for SqliteStore {
    fn listen(&self) -> Result<Listener, StoreError> {
        listen(&self.bell, &self.home.bell())
    }

    fn listen_for_requests(&self) -> Result<Listener, StoreError> {
        listen(&self.request_bell, &self.home.request_bell())
    }

    fn ring(&mut self) {
        self.bell.ring();
    }
}

fn listen(bell: &Bell, path: &Path) -> Result<Listener, StoreError> {
    bell.listen().map_err(|error| StoreError::io(path, &error))
}
