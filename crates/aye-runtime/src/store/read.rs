//! Reading events back.

use aye_core::event::{Event, EventKind, VERSION};
use aye_core::id::RunId;
use aye_core::nested::Parent;
use rusqlite::{Params, Row};
use serde_json::Value;

use super::{Store, StoreError};

impl Store {
    /// The events of a run after its event `after`; 0 for all.
    pub fn events(&self, run: &RunId, after: u64) -> Result<Vec<Event>, StoreError> {
        self.select(
            "SELECT id, run, seq, body FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq",
            (run.as_str(), after),
        )
        .map(without_numbers)
    }

    /// The events of a run and of the runs inside it after number `after`, in
    /// the order in which they were committed, each with its number.
    pub fn events_within(&self, run: &RunId, after: u64) -> Result<Vec<(u64, Event)>, StoreError> {
        self.select(
            "SELECT id, run, seq, body FROM events
             WHERE (run = ?1 OR (run >= ?2 AND run < ?3)) AND id > ?4 ORDER BY id",
            // The ids of runs inside another begin with its id.
            (run.as_str(), format!("{run}_"), format!("{run}`"), after),
        )
    }

    /// The steps and items that a run is inside of, from the outside in; none
    /// for a run that somebody started.
    pub fn place_of(&self, run: &RunId) -> Result<Vec<Parent>, StoreError> {
        let mut around = Vec::new();
        let mut run = run.clone();
        while let Some(parent) = self.parent_of(&run)? {
            run = parent.run.clone();
            around.push(parent);
        }
        around.reverse();
        Ok(around)
    }

    fn parent_of(&self, run: &RunId) -> Result<Option<Parent>, StoreError> {
        let first = self.select(
            "SELECT id, run, seq, body FROM events WHERE run = ?1 ORDER BY seq LIMIT 1",
            [run.as_str()],
        )?;
        Ok(first.into_iter().next().and_then(|(_, event)| match event.kind {
            EventKind::SkillStarted(started) => started.parent.map(|parent| *parent),
            _ => None,
        }))
    }

    /// The last `count` events of a run, in order.
    pub fn tail(&self, run: &RunId, count: u32) -> Result<Vec<Event>, StoreError> {
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

    /// Events of every run after number `after`, at most `limit`, each with
    /// its number: what a watcher asks for, saying the last number it saw.
    pub fn events_after(&self, after: u64, limit: u32) -> Result<Vec<(u64, Event)>, StoreError> {
        self.select(
            "SELECT id, run, seq, body FROM events WHERE id > ?1 ORDER BY id LIMIT ?2",
            (after, limit),
        )
    }

    /// The number of the newest event; 0 if there is none.
    pub fn position(&self) -> Result<u64, StoreError> {
        self.db
            .prepare_cached("SELECT coalesce(max(id), 0) FROM events")
            .and_then(|mut query| query.query_row([], |row| row.get(0)))
            .map_err(|error| self.failed(&error))
    }

    fn select(&self, sql: &str, values: impl Params) -> Result<Vec<(u64, Event)>, StoreError> {
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
