//! Appending: events, derived rows and verdicts in one transaction.

use aye_core::event::{Event, EventKind};
use aye_core::id::RunId;
use rusqlite::{Connection, params};

use super::chain::Link;
use super::change::Failure;
use super::derive::{self, Derived, Placed};
use super::open::{LOG, LONG_LOG};
use super::sources::Source;
use super::{RequestId, Store, StoreError, Verdict, mailbox, questions, runs};

/// Appends that make a process one that appends a lot.
const MANY: u32 = 50;

/// What an append has left: need not be read again before the next one, as
/// long as nobody else has changed the journal.
#[derive(Debug)]
pub(super) struct Latest {
    /// What SQLite said of changes by others.
    version: i64,
    /// The number of the last event there is.
    n: u64,
    derived: Option<Derived>,
}

impl Store {
    /// Appends `events` and settles the requests they come from, all or
    /// nothing, and rings. Only the holder of a run's lock may append to it;
    /// an event that does not follow the last one is refused as a conflict.
    pub fn append(
        &mut self,
        events: &[Event],
        handled: &[(RequestId, Verdict)],
    ) -> Result<(), StoreError> {
        let latest = self.latest.take();
        let latest = self.commit(|change| {
            // Before the events: one that ends the run refuses what is left.
            mailbox::settle(change, handled)?;
            append_all(change, events, latest)
        })?;
        self.latest = Some(latest);
        self.keep_pace();
        Ok(())
    }

    /// The log of a long run grows longer, until the run ends; one inside it
    /// is a part of it. What was appended is committed: a failure here changes
    /// nothing about that, and whoever comes next tries again.
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

    /// The first append of a run, with the text of its skill.
    pub fn start(&mut self, events: &[Event], source: &Source) -> Result<(), StoreError> {
        source.check()?;
        if let Some(EventKind::SkillStarted(started)) = events.first().map(|event| &event.kind)
            && started.source != source.digest
        {
            return Err(StoreError::Source {
                file: source.file.clone(),
                digest: started.source.clone(),
            });
        }
        let latest = self.commit(|change| {
            source.keep(change)?;
            append_all(change, events, None)
        })?;
        self.latest = Some(latest);
        Ok(())
    }
}

fn append_all(
    change: &Connection,
    events: &[Event],
    latest: Option<Latest>,
) -> Result<Latest, Failure> {
    let version =
        change.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get::<_, i64>(0))?;
    let mut latest = match latest.filter(|latest| latest.version == version) {
        Some(latest) => latest,
        None => Latest { version, n: last_n(change)?, derived: None },
    };
    for of_one_run in events.chunk_by(|a, b| a.run == b.run) {
        latest = append_run(change, latest, of_one_run)?;
    }
    Ok(latest)
}

fn append_run(change: &Connection, latest: Latest, events: &[Event]) -> Result<Latest, Failure> {
    let run = &events[0].run;
    let Latest { version, mut n, derived } = latest;
    let before = match derived.filter(|derived| derived.run.id == *run) {
        Some(derived) => Some(derived),
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
        let body = serde_json::to_string(event).map_err(|error| StoreError::Unreadable {
            run: run.to_string(),
            seq: event.seq,
            message: error.to_string(),
        })?;
        let link = Link {
            run: run.as_str(),
            seq: event.seq,
            at: event.at.as_millisecond(),
            kind: event.kind.name(),
            body: &body,
        };
        let hash = link.hash(last.map(|run| &run.head));
        insert.execute(params![n, link.run, link.seq, link.at, link.kind, link.body, hash])?;
        derived = Some(derive::fold(derived, Placed { n, hash, event })?);
    }
    if let Some(derived) = &derived {
        write(change, before.as_ref(), derived)?;
    }
    Ok(Latest { version, n, derived })
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
fn write(change: &Connection, before: Option<&Derived>, after: &Derived) -> Result<(), Failure> {
    match before {
        None => runs::insert(change, &after.run)?,
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
fn last_n(change: &Connection) -> Result<u64, rusqlite::Error> {
    change
        .prepare_cached(
            "SELECT max(floor.id, coalesce((SELECT max(events.id) FROM events), 0)) FROM floor",
        )?
        .query_row([], |row| row.get(0))
}
