//! The port that opens a store: the only place that knows which adapter a
//! runtime works on.

use std::path::Path;

use super::{Durability, MemoryStore, SqliteStore, Store, StoreError};

/// Opens the store of a home.
pub trait OpenStore: std::fmt::Debug + Send + Sync {
    /// Opens it to write; makes it if it is not there.
    ///
    /// # Errors
    /// When it cannot be made, read or written to.
    fn open(&self, home: &Path, durability: Durability) -> Result<Box<dyn Store>, StoreError>;

    /// Opens it to read; `None` if nothing was ever run.
    ///
    /// # Errors
    /// When it cannot be read.
    fn open_to_read(&self, home: &Path) -> Result<Option<Box<dyn Store>>, StoreError>;
}

/// The default: an SQLite file below the home.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sqlite;

impl OpenStore for Sqlite {
    fn open(&self, home: &Path, durability: Durability) -> Result<Box<dyn Store>, StoreError> {
        Ok(Box::new(SqliteStore::open(home, durability)?))
    }

    fn open_to_read(&self, home: &Path) -> Result<Option<Box<dyn Store>>, StoreError> {
        let found = SqliteStore::open_to_read(home)?;
        Ok(found.map(|store| Box::new(store) as Box<dyn Store>))
    }
}

/// The same store each time, whatever the home.
impl OpenStore for MemoryStore {
    fn open(&self, _: &Path, _: Durability) -> Result<Box<dyn Store>, StoreError> {
        Ok(Box::new(self.clone()))
    }

    fn open_to_read(&self, _: &Path) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(Some(Box::new(self.clone())))
    }
}
