//! Opening the journal: cheap when it exists, careful when it does not.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::append::Latest;
use super::schema::{self, Layout};
use super::{Home, Notifier, create, lease};
use crate::store::{Announcer, StoreError};

/// The first process to open it reads the log through, 2 us a page: SQLite's own 1,000
/// pages would be felt by every command.
pub(super) const LOG: u32 = 200;
/// A process that appends a lot writes most pages again and again; it gains
/// more than the next one to open loses.
pub(super) const LONG_LOG: u32 = 1_000;

/// What an acknowledged append survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Loss of power: every commit reaches the disk before it counts.
    #[default]
    Power,
    /// Death of the process, however sudden; not loss of power.
    Process,
}

/// The journal of every run of one home.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) home: Home,
    pub(super) db: Connection,
    pub(super) notifier: Notifier,
    /// What a commit survives.
    pub(super) durability: Durability,
    /// What the last append left behind.
    pub(super) latest: Option<Latest>,
    /// Appends since the log was short.
    pub(super) appends: u32,
    /// What decides which messages an event causes.
    pub(super) announcer: Option<Arc<dyn Announcer>>,
}

impl SqliteStore {
    /// Opens the journal under `home`, making both if they are not there.
    pub fn open(home: &Path, durability: Durability) -> Result<Self, StoreError> {
        let home = Home::new(home);
        let db = match connect(&home)? {
            Some(db) => db,
            None => {
                create::create(&home)?;
                connect(&home)?.ok_or_else(|| StoreError::ReadOnly { path: home.journal() })?
            }
        };
        create::name_log(&home);
        let store = Self::prepare(home, db, durability)?;
        if store.is_read_only()? {
            return Err(StoreError::ReadOnly { path: store.home.journal() });
        }
        Ok(store)
    }

    /// Opens the journal to read it, also where it cannot be written to;
    /// nothing is made. `None` if there is no journal.
    pub fn open_to_read(home: &Path) -> Result<Option<Self>, StoreError> {
        let home = Home::new(home);
        let Some(db) = connect(&home)? else {
            return Ok(None);
        };
        Self::prepare(home, db, Durability::default()).map(Some)
    }

    fn prepare(home: Home, db: Connection, durability: Durability) -> Result<Self, StoreError> {
        let notifier = Notifier::new(home.notifier());
        let mut store =
            Self { home, db, notifier, durability, latest: None, appends: 0, announcer: None };
        if let Layout::Behind(_) = schema::layout(&store.db, &store.home)? {
            store.bring_up_to_date()?;
        }
        // How much is synced is said, not left to how SQLite was built.
        store.sync(durability)?;
        store.let_log_grow(LOG)?;
        Ok(store)
    }

    /// Migrates an older journal, one process at a time.
    fn bring_up_to_date(&mut self) -> Result<(), StoreError> {
        if self.is_read_only()? {
            return Err(StoreError::ReadOnly { path: self.home.journal() });
        }
        let _turn = create::take_turn(&self.home)?;
        // An older driver knows nothing of what this layout promises.
        if let Some(held) = lease::all_held(&self.home)?.into_iter().next() {
            let (path, held) = (self.home.journal(), Box::new(held));
            return Err(StoreError::OlderDriver { path, held });
        }
        create::prepare(&mut self.db, &self.home)
    }

    /// What the commits from now on survive.
    pub(super) fn sync(&self, durability: Durability) -> Result<(), StoreError> {
        self.run_batch(match durability {
            Durability::Power => "PRAGMA synchronous = FULL",
            Durability::Process => "PRAGMA synchronous = NORMAL",
        })
    }

    /// Pages that the log may have before they are written to the database.
    pub(super) fn let_log_grow(&self, pages: u32) -> Result<(), StoreError> {
        self.run_batch(&format!("PRAGMA wal_autocheckpoint = {pages}"))
    }

    fn is_read_only(&self) -> Result<bool, StoreError> {
        self.db.is_readonly(MAIN_DB).map_err(|error| self.failed(&error))
    }

    pub(super) fn run_batch(&self, sql: &str) -> Result<(), StoreError> {
        self.db.execute_batch(sql).map_err(|error| self.failed(&error))
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.home.journal(), error)
    }
}

/// Connects to an existing file; `None` if there is none, or an empty one.
fn connect(home: &Home) -> Result<Option<Connection>, StoreError> {
    let path = home.journal();
    if !create::is_there(home)? {
        return Ok(None);
    }
    let failed = |error: rusqlite::Error| StoreError::sqlite(&path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let mut db = Connection::open_with_flags(&path, flags).map_err(failed)?;
    db.busy_handler(Some(wait_for_others)).map_err(failed)?;
    // Closing would checkpoint and sync, a millisecond at the end of every
    // short command; the log is checkpointed as it grows instead.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
    // What others put into the file does not act: `aye audit` names it.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).map_err(failed)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false).map_err(failed)?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(Some(db))
}

/// Waits as long as [`patience`] says.
fn wait_for_others(tries: i32) -> bool {
    let wait = patience(tries);
    wait.into_iter().for_each(std::thread::sleep);
    wait.is_some()
}

/// Up to about thirty seconds in all, first in steps as short as a commit:
/// SQLite's own waiting sleeps up to 100 ms while others come and go. Many runs
/// on a busy machine overtake each other: a run must not fail because of that.
fn patience(tries: i32) -> Option<Duration> {
    match tries {
        0..20 => Some(Duration::from_micros(200)),
        20..60 => Some(Duration::from_millis(1)),
        60..10_000 => Some(Duration::from_millis(3)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Durability, SqliteStore, patience};

    /// As long as fifty runs on a busy machine need, and not for ever: a program
    /// that keeps the journal locked is reported.
    #[test]
    fn a_writer_waits_half_a_minute_for_others() {
        let in_all: Duration = (0..).map_while(patience).sum();
        assert!((25..40).contains(&in_all.as_secs()), "{in_all:?}");
    }

    #[test]
    fn durability_is_what_sqlite_is_told() -> Result<(), Box<dyn std::error::Error>> {
        let home = tempfile::tempdir()?;
        for (durability, level) in [(Durability::Power, 2), (Durability::Process, 1)] {
            let store = SqliteStore::open(home.path(), durability)?;
            let number = |pragma: &str| -> rusqlite::Result<u32> {
                store.db.query_row(pragma, [], |row| row.get(0))
            };
            assert_eq!(number("PRAGMA synchronous")?, level);
            assert_eq!(number("PRAGMA wal_autocheckpoint")?, 200);
            assert_eq!(number("PRAGMA auto_vacuum")?, 2);
            let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
            let mode = store.db.query_row("PRAGMA journal_mode", [], mode)?;
            assert_eq!(mode, "wal");
        }
        Ok(())
    }
}
