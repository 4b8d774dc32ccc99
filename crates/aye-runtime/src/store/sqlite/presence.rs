//! Where questions are shown: a small table that may be lost.

use std::collections::{BTreeSet, HashMap};

use aye_core::id::QuestionId;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::change::Failure;
use super::{Durability, SqliteStore, runs};
use crate::store::presence::LIFETIME;
use crate::store::{Presence, PresenceKind, Showing, ShowingProcess, Shown, StoreError};

impl Presence for SqliteStore {
    fn shows(
        &mut self,
        process: &ShowingProcess,
        shown: &[Showing],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        // It is worth nothing after a power cut.
        self.sync(Durability::Process)?;
        let is_new = self.commit_quietly(|change| replace(change, process, shown, now));
        self.sync(self.durability)?;
        if is_new? {
            let runs = shown.iter().filter_map(|one| one.question.run());
            for run in runs.map(|run| run.outermost()).collect::<BTreeSet<_>>() {
                self.notify_of_request(&run);
            }
        }
        Ok(())
    }

    fn shown(&self, question: &QuestionId, now: Timestamp) -> Result<Vec<Shown>, StoreError> {
        self.db
            .prepare_cached(
                "SELECT kind, client, pid, since, until FROM presence
                 WHERE question = ?1 AND until >= ?2 ORDER BY since, kind, client",
            )
            .and_then(|mut query| {
                query
                    .query_map(params![question.as_str(), now.as_millisecond()], read)?
                    .filter_map(Result::transpose)
                    .collect()
            })
            .map_err(|error| self.failed(&error))
    }
}

/// Nothing for a kind of a later version.
fn read(row: &Row<'_>) -> Result<Option<Shown>, rusqlite::Error> {
    let Some(kind) = PresenceKind::from_word(row.get_ref(0)?.as_str()?) else { return Ok(None) };
    let (since, until) = (runs::time(row, 3)?, runs::time(row, 4)?);
    Ok(Some(Shown { kind, client: row.get(1)?, pid: row.get(2)?, since, until }))
}

/// Makes these the rows of a process; says whether one was not there before.
fn replace(
    change: &Connection,
    process: &ShowingProcess,
    shown: &[Showing],
    now: Timestamp,
) -> Result<bool, Failure> {
    let now = now.as_millisecond();
    let life = i64::try_from(LIFETIME.as_millis()).unwrap_or(i64::MAX);
    change.prepare_cached("DELETE FROM presence WHERE until < ?1")?.execute([now])?;
    let before: HashMap<(String, String, String), i64> = change
        .prepare_cached("SELECT question, kind, client, since FROM presence WHERE process = ?1")?
        .query_map([&process.name], |row| {
            Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?))
        })?
        .collect::<Result<_, _>>()?;
    change.prepare_cached("DELETE FROM presence WHERE process = ?1")?.execute([&process.name])?;
    let mut is_new = false;
    let mut insert = change.prepare_cached(
        "INSERT OR IGNORE INTO presence (question, process, kind, client, pid, since, until)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for Showing { question, kind, client } in shown {
        let (question, kind) = (question.as_str(), kind.word());
        let known = before.get(&(question.to_owned(), kind.to_owned(), client.clone()));
        is_new |= known.is_none();
        let (since, until) = (known.copied().unwrap_or(now), now.saturating_add(life));
        insert.execute(params![question, process.name, kind, client, process.pid, since, until])?;
    }
    Ok(is_new)
}
