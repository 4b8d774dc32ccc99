//! Appending: events, derived rows and verdicts in one transaction.

use aye_core::event::Event;
use aye_core::id::RunId;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::change::{Change, Failure};
use super::concurrency::Changing;
use super::open::{LOG, LONG_LOG};
use super::{Home, SqliteStore, lessons, mailbox, outbox, questions, runs};
use crate::store::chain::hashed;
use crate::store::derive::{self, Derived, Placed};
use crate::store::{Announcer, Lease, StoreError, concurrency};

/// Appends that make a process one that appends a lot.
const MANY: u32 = 50;

/// What an append has left: need not be read again before the next one, as
/// long as nobody else has changed the journal.
#[derive(Debug)]
pub(super) struct Latest {
    /// What SQLite said of changes by others.
    version: i64,
    /// The run and the epoch that it was written with.
    lease: (RunId, u64),
    /// The number of the last event there is.
    n: u64,
    derived: Option<Derived>,
    /// The run of the lease has no row yet.
    starts: bool,
    /// A run ended that had or wanted the name of a `concurrency`.
    freed_name: bool,
}

impl SqliteStore {
    /// Appends `events` in a transaction that does `first` before, all or
    /// nothing.
    pub(super) fn append_with(
        &mut self,
        lease: &Lease,
        events: &[Event],
        first: impl FnOnce(&Change<'_>) -> Result<(), Failure>,
    ) -> Result<(), StoreError> {
        let (latest, announcer) = (self.latest.take(), self.announcer.clone());
        let home = self.home.clone();
        let latest = self.commit(|change| {
            first(change)?;
            append_all(change, &home, lease, events, latest, announcer.as_deref())
        })?;
        if latest.freed_name {
            self.ring_for_all_requests();
        }
        self.latest = Some(latest);
        self.keep_pace();
        if let Some(announcer) = announcer {
            announcer.committed();
        }
        Ok(())
    }

    /// The log of a long run grows longer, until the run ends; one inside it
    /// is a part of it. What was appended is committed: a failure here changes
    /// nothing about that, and the next append tries again.
    fn keep_pace(&mut self) {
        let run = self.latest.as_ref().and_then(|latest| latest.derived.as_ref());
        let ended = run.is_some_and(|run| run.run.status.is_ended() && run.run.parent.is_none());
        self.appends += 1;
        let _ = match self.appends {
            MANY.. if ended => {
                self.appends = 0;
                self.let_log_grow(LOG).and(self.run_batch("PRAGMA wal_checkpoint(PASSIVE)"))
            }
            MANY => self.let_log_grow(LONG_LOG),
            _ => Ok(()),
        };
    }
}

/// Nobody else has changed anything since `latest`, not even the epoch, or all
/// of it is read again: so the usual append pays nothing for the check.
fn append_all(
    change: &Connection,
    home: &Home,
    lease: &Lease,
    events: &[Event],
    latest: Option<Latest>,
    announcer: Option<&dyn Announcer>,
) -> Result<Latest, Failure> {
    let version =
        change.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get::<_, i64>(0))?;
    let is_current = |latest: &Latest| {
        latest.version == version
            && latest.lease.1 == lease.epoch()
            && latest.lease.0 == *lease.run()
    };
    let mut latest = match latest.filter(is_current) {
        Some(latest) => Latest { freed_name: false, ..latest },
        None => {
            let starts = check_epoch(change, lease, events)?;
            let (lease, n) = ((lease.run().clone(), lease.epoch()), last_n(change)?);
            Latest { version, lease, n, derived: None, starts, freed_name: false }
        }
    };
    for of_one_run in events.chunk_by(|a, b| a.run == b.run) {
        latest = append_run(change, home, lease, latest, of_one_run, announcer)?;
    }
    Ok(latest)
}

/// The lease has to be the newest there is. Whether its run has no row yet: the append that
/// starts it claims it.
fn check_epoch(change: &Connection, lease: &Lease, events: &[Event]) -> Result<bool, Failure> {
    let run = lease.run();
    let current = epoch(change, run)?;
    match current {
        Some(current) if current == lease.epoch() => Ok(false),
        Some(current) => {
            let epoch = lease.epoch();
            Err(StoreError::Fenced { run: run.clone(), epoch, current }.into())
        }
        None if events.first().is_some_and(|event| event.run == *run) => Ok(true),
        None => Err(StoreError::NoRun { run: run.clone() }.into()),
    }
}

/// The newest epoch of a run; `None` if it has not started.
pub(super) fn epoch(db: &Connection, run: &RunId) -> Result<Option<u64>, rusqlite::Error> {
    db.prepare_cached("SELECT epoch FROM runs WHERE id = ?1")?
        .query_row([run.as_str()], |row| row.get(0))
        .optional()
}

fn append_run(
    change: &Connection,
    home: &Home,
    lease: &Lease,
    mut latest: Latest,
    events: &[Event],
    announcer: Option<&dyn Announcer>,
) -> Result<Latest, Failure> {
    let run = &events[0].run;
    if !lease.covers(run) {
        let (run, lease) = (run.clone(), lease.run().clone());
        return Err(StoreError::NotCovered { run, lease }.into());
    }
    let mut n = latest.n;
    let derived = latest.derived.take();
    let before = match derived.filter(|derived| derived.run.id == *run) {
        Some(derived) => Some(derived),
        None if latest.starts && run == lease.run() => None,
        None => load(change, run)?,
    };
    let mut derived = before.clone();
    let mut insert = change.prepare_cached(
        "INSERT INTO events (id, run, seq, at, type, body, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for event in events {
        n += 1;
        let last = derived.as_ref().map(|derived| &derived.run);
        let last_seq = last.map_or(0, |run| run.last_seq);
        if event.seq != last_seq + 1 {
            return Err(Failure::Store(StoreError::Conflict {
                run: run.clone(),
                last: last_seq,
                got: event.seq,
            }));
        }
        concurrency::check(&Changing { db: change, home }, lease.run(), last, event)?;
        let (body, hash) = hashed(event, last.map(|run| &run.head))?;
        let (at, kind) = (event.at.as_millisecond(), event.kind.name());
        let kept = insert.execute(params![n, run.as_str(), event.seq, at, kind, body, hash])?;
        // A changed table can ignore a row without an error.
        if kept != 1 {
            let path = change.path().unwrap_or_default().into();
            return Err(StoreError::Dropped { path, run: run.clone(), seq: event.seq }.into());
        }
        if event.kind.lesson().is_some() {
            lessons::insert(change, event)?;
        }
        let after = derive::fold(derived, Placed { n, hash, event })?;
        if let Some(announcer) = announcer {
            outbox::insert(change, event, &announcer.messages(event, &after.run))?;
        }
        derived = Some(after);
    }
    if let Some(derived) = &derived {
        write(change, lease, before.as_ref(), derived)?;
        let had = before.as_ref().is_some_and(|before| before.run.claim.is_some());
        latest.freed_name |= had && derived.run.claim.is_none();
    }
    Ok(Latest { n, derived, starts: false, ..latest })
}

fn load(change: &Connection, run: &RunId) -> Result<Option<Derived>, Failure> {
    let Some(run) = runs::load(change, run.as_str())? else { return Ok(None) };
    let questions = match run.waiting {
        0 => Vec::new(),
        _ => questions::load_open(change, run.id.as_str())?,
    };
    Ok(Some(Derived { run, questions }))
}

/// Writes the derived rows that changed.
fn write(
    change: &Connection,
    lease: &Lease,
    before: Option<&Derived>,
    after: &Derived,
) -> Result<(), Failure> {
    match before {
        // The lease of the outermost run covers those inside.
        None if after.run.id == *lease.run() => runs::insert(change, &after.run, lease.epoch())?,
        None => runs::insert(change, &after.run, 0)?,
        Some(before) => runs::update(change, &before.run, &after.run)?,
    }
    for row in &after.questions {
        match before.and_then(|before| before.questions.iter().find(|old| old.n == row.n)) {
            None => questions::insert(change, row)?,
            Some(old) if old != row => questions::update(change, row)?,
            Some(_) => {}
        }
    }
    if after.run.status.is_ended() {
        mailbox::refuse_rest(change, &after.run.id)?;
    }
    Ok(())
}

/// The number of the last event there ever was: pruning must not make numbers
/// return, or a watcher that remembers its place would miss events.
pub(super) fn last_n(change: &Connection) -> Result<u64, rusqlite::Error> {
    change
        .prepare_cached(
            "SELECT max(floor.id, coalesce((SELECT max(events.id) FROM events), 0)) FROM floor",
        )?
        .query_row([], |row| row.get(0))
}
