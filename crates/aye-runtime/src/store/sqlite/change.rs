//! A change of the journal: all of it, or nothing.

use std::ops::Deref;

use rusqlite::Connection;

use super::SqliteStore;
use crate::store::StoreError;

/// A transaction that may write. Dropped without a commit, it is undone.
///
/// The library's own prepares its three words anew each time; a step waits for
/// two of them.
#[derive(Debug)]
pub(super) struct Change<'a> {
    db: &'a Connection,
    open: bool,
}

impl<'a> Change<'a> {
    fn begin(db: &'a Connection) -> Result<Self, rusqlite::Error> {
        say(db, "BEGIN IMMEDIATE")?;
        Ok(Self { db, open: true })
    }

    fn commit(mut self) -> Result<(), rusqlite::Error> {
        say(self.db, "COMMIT")?;
        self.open = false;
        Ok(())
    }
}

impl Deref for Change<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.db
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        // SQLite has undone some failed changes by itself already.
        if self.open && !self.db.is_autocommit() {
            let _ = say(self.db, "ROLLBACK");
        }
    }
}

fn say(db: &Connection, word: &str) -> Result<(), rusqlite::Error> {
    db.prepare_cached(word)?.execute([]).map(drop)
}

/// Why a change is abandoned.
#[derive(Debug)]
pub(super) enum Failure {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl SqliteStore {
    /// Makes a change and notifies once it is committed.
    pub(super) fn commit<T>(
        &mut self,
        work: impl FnOnce(&Change<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let result = self.commit_quietly(work)?;
        self.notifier.notify();
        Ok(result)
    }

    /// Makes a change that is not about events or requests: nobody has to hear of it.
    pub(super) fn commit_quietly<T>(
        &mut self,
        work: impl FnOnce(&Change<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        // Whatever is changed here, only an append knows what it has left.
        self.latest = None;
        let done = Change::begin(&self.db).map_err(Failure::from).and_then(|change| {
            let result = work(&change)?;
            change.commit()?;
            Ok(result)
        });
        done.map_err(|failure| match failure {
            Failure::Sqlite(error) => self.failed(&error),
            Failure::Store(error) => error,
        })
    }
}
