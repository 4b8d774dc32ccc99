//! Opening the journal: cheap when it exists, careful when it does not.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags};
use serde::Deserialize;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// How long a writer waits for others in all. Many runs on a busy machine overtake each other: a
/// run must not fail because of that.
const PATIENCE: Duration = Duration::from_secs(30);
/// As short as a commit: SQLite's own waiting sleeps up to 100 ms while others come and go.
const SHORTEST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// A wait for the journal.
#[derive(Clone, Copy)]
struct Waiting {
    since: Instant,
    /// How long the one before took.
    before: Duration,
    /// How long this one took so far.
    took: Duration,
}

/// Waits as long as [`pause`] says.
fn wait_for_others(tries: i32) -> bool {
    thread_local! {
        static WAITING: Cell<Option<Waiting>> = const { Cell::new(None) };
    }
    let now = Instant::now();
    let waiting = match WAITING.get() {
        Some(waiting) if tries > 0 => waiting,
        last => {
            let before = last.map_or(Duration::ZERO, |last| last.took);
            Waiting { since: now, before, took: Duration::ZERO }
        }
    };
    let waited = now - waiting.since;
    let pause = pause(waited, waiting.before);
    WAITING.set(Some(Waiting { took: waited + pause.unwrap_or_default(), ..waiting }));
    pause.into_iter().for_each(std::thread::sleep);
    pause.is_some()
}

/// When the journal is tried again: after an eighth of what waiting took so far, or took the last
/// time. Fifty writers that try as often as one keep the processor busy with trying.
fn pause(waited: Duration, before: Duration) -> Option<Duration> {
    let pause = (waited.max(before) / 8).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
    (waited < PATIENCE).then_some(pause)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Durability, LONGEST_PAUSE, PATIENCE, SHORTEST_PAUSE, SqliteStore, pause};

    #[test]
    fn a_writer_tries_again_less_often_where_many_wait() {
        let ms = Duration::from_millis;
        assert_eq!(pause(ms(0), ms(0)), Some(SHORTEST_PAUSE));
        assert_eq!(pause(ms(0), ms(16)), Some(ms(2)), "as long as the last time");
        assert_eq!(pause(ms(40), ms(16)), Some(ms(5)), "longer");
        assert_eq!(pause(ms(20_000), ms(0)), Some(LONGEST_PAUSE));
        // A program that keeps the journal locked is reported.
        assert_eq!(pause(PATIENCE, ms(0)), None);
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
