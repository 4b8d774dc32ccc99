//! Hearing the bell of an open store.

use super::{Bell, Listener, Store, StoreError};

impl Store {
    /// Starts to listen for what other processes commit or send.
    pub fn listen(&self) -> Result<Listener, StoreError> {
        let path = self.home.bell();
        Bell::new(&self.home).listen().map_err(|error| StoreError::io(&path, &error))
    }
}
