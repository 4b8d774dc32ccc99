//! Lessons that are not yet written to memory.

use aye_core::event::Event;
use aye_core::id::RunId;
use rusqlite::{Connection, params};

use super::SqliteStore;
use crate::store::{Lessons, StoreError};

impl Lessons for SqliteStore {
    fn pending_lessons(&self) -> Result<Vec<Event>, StoreError> {
        let mut pending = self.select(
            "SELECT events.id, events.run, events.seq, events.body FROM lessons
             JOIN events ON events.run = lessons.run AND events.seq = lessons.seq",
            [],
        )?;
        // Sorted here: SQLite sets aside half a megabyte to sort, and each start asks.
        pending.sort_by_key(|(n, _)| *n);
        Ok(pending.into_iter().map(|(_, event)| event).collect())
    }

    fn is_pending_lesson(&self, run: &RunId, seq: u64) -> Result<bool, StoreError> {
        self.db
            .prepare_cached("SELECT 1 FROM lessons WHERE run = ?1 AND seq = ?2")
            .and_then(|mut query| query.exists((run.as_str(), seq)))
            .map_err(|error| self.failed(&error))
    }

    fn lesson_taken_in(&mut self, run: &RunId, seq: u64) -> Result<(), StoreError> {
        self.commit(|change| {
            change
                .prepare_cached("DELETE FROM lessons WHERE run = ?1 AND seq = ?2")?
                .execute((run.as_str(), seq))?;
            Ok(())
        })
    }
}

/// Notes that memory has to take in the lesson of an event.
pub(super) fn insert(change: &Connection, event: &Event) -> Result<(), rusqlite::Error> {
    change
        .prepare_cached("INSERT INTO lessons (run, seq) VALUES (?1, ?2)")?
        .execute(params![event.run.as_str(), event.seq])
        .map(drop)
}
