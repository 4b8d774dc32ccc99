//! The journal: tables of events and of the texts of skills.

use aye_core::event::{Event, VERSION};
use aye_core::id::RunId;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use serde_json::Value;

use super::append::last_n;
use super::change::Failure;
use super::{SqliteStore, mailbox};
use crate::store::{Journal, Lease, RequestId, Source, StoreError, Verdict};

impl Journal for SqliteStore {
    fn start(
        &mut self,
        lease: &Lease,
        events: &[Event],
        source: &Source,
    ) -> Result<(), StoreError> {
        source.check_start(events)?;
        self.append_with(lease, events, |change| keep(change, source))
    }

    fn append(
        &mut self,
        lease: &Lease,
        events: &[Event],
        settled: &[(RequestId, Verdict)],
    ) -> Result<(), StoreError> {
        // Before the events: one that ends the run refuses what is left.
        self.append_with(lease, events, |change| mailbox::settle(change, settled))
    }

    fn events(&self, run: &RunId, after: u64) -> Result<Vec<Event>, StoreError> {
        self.select(
            "SELECT id, run, seq, body FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq",
            (run.as_str(), after),
        )
        .map(without_numbers)
    }

    fn events_within(&self, run: &RunId, after: u64) -> Result<Vec<(u64, Event)>, StoreError> {
        let inside = run.inside();
        self.select(
            "SELECT id, run, seq, body FROM events
             WHERE (run = ?1 OR (run >= ?2 AND run < ?3)) AND id > ?4 ORDER BY id",
            (run.as_str(), inside.start, inside.end, after),
        )
    }

    fn first_event(&self, run: &RunId) -> Result<Option<Event>, StoreError> {
        let first = self.select(
            "SELECT id, run, seq, body FROM events WHERE run = ?1 ORDER BY seq LIMIT 1",
            [run.as_str()],
        )?;
        Ok(first.into_iter().next().map(|(_, event)| event))
    }

    fn tail(&self, run: &RunId, count: u32) -> Result<Vec<Event>, StoreError> {
        self.select(
            "SELECT id, run, seq, body FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT ?2",
            (run.as_str(), count),
        )
        .map(without_numbers)
        .map(|mut events| {
            events.reverse();
            events
        })
    }

    fn events_after(&self, after: u64, limit: u32) -> Result<Vec<(u64, Event)>, StoreError> {
        // SQLite has no greater numbers.
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        self.select(
            "SELECT id, run, seq, body FROM events WHERE id > ?1 ORDER BY id LIMIT ?2",
            (after, limit),
        )
    }

    fn position(&self) -> Result<u64, StoreError> {
        last_n(&self.db).map_err(|error| self.failed(&error))
    }

    fn source(&self, digest: &str) -> Result<Option<Source>, StoreError> {
        let found = self
            .db
            .prepare_cached("SELECT digest, file, text FROM sources WHERE digest = ?1")
            .and_then(|mut query| {
                query
                    .query_row([digest], |row| {
                        Ok(Source { digest: row.get(0)?, file: row.get(1)?, text: row.get(2)? })
                    })
                    .optional()
            })
            .map_err(|error| self.failed(&error))?;
        if let Some(source) = &found {
            source.check()?;
        }
        Ok(found)
    }
}

impl SqliteStore {
    pub(super) fn select(
        &self,
        sql: &str,
        values: impl Params,
    ) -> Result<Vec<(u64, Event)>, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut query = self.db.prepare_cached(sql).map_err(failed)?;
        let mut rows = query.query(values).map_err(failed)?;
        let mut events = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let n = row.get(0).map_err(failed)?;
            events.push((n, self.read(row)?));
        }
        Ok(events)
    }

    fn read(&self, row: &Row<'_>) -> Result<Event, StoreError> {
        let text = |column| {
            row.get_ref(column)
                .and_then(|value| Ok(value.as_str()?))
                .map_err(|error| self.failed(&error))
        };
        let seq = row.get(2).map_err(|error| self.failed(&error))?;
        parse(text(1)?, seq, text(3)?)
    }
}

/// Keeps the text of a skill.
fn keep(change: &Connection, source: &Source) -> Result<(), Failure> {
    change
        .prepare_cached(
            "INSERT INTO sources (digest, file, text) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        )?
        .execute(params![source.digest, source.file, source.text])?;
    Ok(())
}

/// An event from its text.
pub(super) fn parse(run: &str, seq: u64, body: &str) -> Result<Event, StoreError> {
    serde_json::from_str(body).map_err(|error| {
        let run = run.to_owned();
        let version =
            serde_json::from_str::<Value>(body).ok().and_then(|event| event.get("v")?.as_u64());
        match version {
            Some(found) if found > u64::from(VERSION) => StoreError::NewerEvent { run, seq, found },
            _ => StoreError::Unreadable { run, seq, message: error.to_string() },
        }
    })
}

fn without_numbers(events: Vec<(u64, Event)>) -> Vec<Event> {
    events.into_iter().map(|(_, event)| event).collect()
}
