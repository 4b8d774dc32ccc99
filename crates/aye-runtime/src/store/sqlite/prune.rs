//! Clearing finished runs away.
//!
//! A hundred runs at a time, so that other writers are kept waiting for
//! milliseconds only. Entries are written before files go, and files go before
//! rows: if Aye dies in between, the rows are still there and the next prune
//! finishes the work.
//!
//! What is inside a run stays as long as the run itself: an item that is done
//! and forgotten would be done again when its run continues.

use std::io;
use std::path::Path;

use aye_core::id::{CHILD_SEPARATOR, RunId};
use jiff::Timestamp;
use rusqlite::{Connection, params, params_from_iter};

use super::change::Failure;
use super::lease::RunLock;
use super::pruned::entry;
use super::walk::{bounds, within};
use super::{SqliteStore, runs};
use crate::store::{LeaseError, Prune, Pruned, Pruner, RunRow, Runs as _, StoreError};

const BATCH: usize = 100;

/// Batches that are looked through for a few runs that may go.
const LOOKED_AT: usize = 20;

/// A run that nothing holds: none is around it, or none that is still there. Its
/// id says so too, since its row may have been changed.
fn outermost() -> String {
    format!(
        "(parent IS NULL
    OR NOT EXISTS (SELECT 1 FROM runs AS around WHERE around.id = runs.parent))
    AND (instr(runs.id, '{CHILD_SEPARATOR}') = 0 OR NOT EXISTS (SELECT 1 FROM runs AS around
        WHERE around.id = substr(runs.id, 1, instr(runs.id, '{CHILD_SEPARATOR}') - 1)))"
    )
}

/// Free pages handed back to the file system in one transaction.
const PAGES: u32 = 2_000;

/// A finished run that is old enough.
#[derive(Debug)]
struct Old {
    run: RunId,
    n: u64,
    ended: i64,
    workspace: String,
}

impl Old {
    fn passes(&self, may_go: &mut dyn FnMut(&Path, Timestamp) -> bool) -> bool {
        let ended = Timestamp::from_millisecond(self.ended);
        ended.is_ok_and(|ended| may_go(Path::new(&self.workspace), ended))
    }
}

impl Prune for SqliteStore {
    fn has_finished_older_than(&self, ended_before: Timestamp) -> Result<bool, StoreError> {
        let sql =
            format!("SELECT EXISTS (SELECT 1 FROM runs WHERE ended < ?1 AND {})", outermost());
        self.db
            .prepare_cached(&sql)
            .and_then(|mut query| {
                query.query_row([ended_before.as_millisecond()], |row| row.get(0))
            })
            .map_err(|error| self.failed(&error))
    }

    fn prune_where(
        &mut self,
        pruner: &Pruner,
        ended_before: Timestamp,
        dry_run: bool,
        may_go: &mut dyn FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError> {
        let before = ended_before.as_millisecond();
        let mut pruned = Pruned::default();
        let mut place = (i64::MIN, 0);
        let mut stuck = None;
        loop {
            let mut batch = self.next_batch(before, place, BATCH)?;
            let Some(last) = batch.last() else { break };
            place = (last.ended, last.n);
            batch.retain(|old| old.passes(may_go));
            if dry_run {
                for old in &batch {
                    self.add_size(&self.whole(old)?, &mut pruned)?;
                }
            } else {
                let found = self.prune_batch(pruner, &batch, &mut pruned)?;
                stuck = stuck.or(found);
            }
        }
        if pruned.runs > 0 && !dry_run {
            self.clear_sources()?;
            self.shrink()?;
        }
        stuck.map_or(Ok(pruned), Err)
    }

    fn prune_some(
        &mut self,
        pruner: &Pruner,
        ended_before: Timestamp,
        runs: usize,
        may_go: &mut dyn FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError> {
        let before = ended_before.as_millisecond();
        let runs = runs.min(BATCH);
        let mut place = (i64::MIN, 0);
        let mut chosen: Vec<Old> = Vec::new();
        for _ in 0..LOOKED_AT {
            let batch = self.next_batch(before, place, BATCH)?;
            let Some(last) = batch.last() else { break };
            place = (last.ended, last.n);
            chosen.extend(batch.into_iter().filter(|old| old.passes(may_go)));
            if chosen.len() >= runs {
                break;
            }
        }
        chosen.truncate(runs);
        let mut pruned = Pruned::default();
        if chosen.is_empty() {
            return Ok(pruned);
        }
        let stuck = self.prune_batch(pruner, &chosen, &mut pruned)?;
        stuck.map_or(Ok(pruned), Err)
    }
}

impl SqliteStore {
    fn next_batch(
        &self,
        before: i64,
        place: (i64, u64),
        limit: usize,
    ) -> Result<Vec<Old>, StoreError> {
        next_batch(&self.db, before, place, limit).map_err(|error| self.failed(&error))
    }

    /// A run and all that is inside it, by their ids.
    fn whole(&self, old: &Old) -> Result<Vec<RunId>, StoreError> {
        self.db
            .prepare_cached(&format!("SELECT id FROM runs WHERE {}", within("id")))
            .and_then(|mut query| {
                query
                    .query_map(params_from_iter(bounds(Some(&old.run))), |row| {
                        RunId::new(row.get::<_, String>(0)?).map_err(|e| runs::unexpected(0, e))
                    })?
                    .collect()
            })
            .map_err(|error| self.failed(&error))
    }

    /// Says what kept a run from going, if anything did.
    fn prune_batch(
        &mut self,
        pruner: &Pruner,
        batch: &[Old],
        pruned: &mut Pruned,
    ) -> Result<Option<StoreError>, StoreError> {
        let mut locks = Vec::new();
        let mut chosen = Vec::new();
        let mut entries = Vec::new();
        let mut stuck = None;
        for old in batch {
            match RunLock::acquire_briefly(&self.home, &old.run) {
                Ok(lock) => locks.push(lock),
                Err(LeaseError::Held(_)) => continue,
                Err(LeaseError::Store(error)) => {
                    stuck.get_or_insert(error);
                    continue;
                }
            }
            // Someone may have taken it up again before it was locked.
            let is_old =
                |row: &RunRow| row.ended.is_some_and(|at| at.as_millisecond() == old.ended);
            let Some(row) = self.run(&old.run)?.filter(is_old) else { continue };
            let whole = self.whole(old)?;
            let mut weight = Pruned::default();
            match self.add_size(&whole, &mut weight) {
                Ok(()) => {
                    entries.push(entry(&row, pruner, weight.events));
                    chosen.push((whole, weight));
                }
                Err(error) => {
                    stuck.get_or_insert(error);
                }
            }
        }
        self.keep_entries(entries)?;
        let mut going = Vec::new();
        for (whole, weight) in chosen {
            match self.remove_logs(&whole) {
                Ok(()) => {
                    pruned.runs += weight.runs;
                    pruned.events += weight.events;
                    pruned.bytes += weight.bytes;
                    going.extend(whole);
                }
                Err(error) => {
                    stuck.get_or_insert(error);
                }
            }
        }
        self.commit(|change| {
            change.execute_batch(
                "UPDATE floor SET id = max(id, coalesce((SELECT max(events.id) FROM events), 0))",
            )?;
            going.iter().try_for_each(|run| delete(change, run.as_str()))
        })?;
        // The locks go here, their files with them.
        Ok(stuck)
    }

    fn remove_logs(&self, whole: &[RunId]) -> Result<(), StoreError> {
        whole.iter().try_for_each(|run| {
            let logs = self.home.logs(run);
            remove_tree(&logs).map_err(|error| StoreError::io(&logs, &error))
        })
    }

    /// Adds a run with all that is inside it.
    fn add_size(&self, whole: &[RunId], pruned: &mut Pruned) -> Result<(), StoreError> {
        for run in whole {
            let (events, bytes): (u64, u64) = self
                .db
                .prepare_cached(
                    "SELECT count(*), coalesce(sum(octet_length(body)), 0)
                     FROM events WHERE run = ?1",
                )
                .and_then(|mut query| {
                    query.query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
                })
                .map_err(|error| self.failed(&error))?;
            let logs = self.home.logs(run);
            let files = tree_size(&logs).map_err(|error| StoreError::io(&logs, &error))?;
            pruned.events += events;
            pruned.bytes += bytes + files;
        }
        pruned.runs += 1;
        Ok(())
    }

    fn clear_sources(&mut self) -> Result<(), StoreError> {
        self.commit(|change| {
            change
                .execute("DELETE FROM sources WHERE digest NOT IN (SELECT source FROM runs)", [])?;
            Ok(())
        })
    }

    /// Hands room back when a good part of the file is free. Less than that is
    /// left for the runs to come: moving pages about would cost more.
    fn shrink(&self) -> Result<(), StoreError> {
        let number = |sql: &str| {
            self.db
                .query_row(sql, [], |row| row.get::<_, u64>(0))
                .map_err(|error| self.failed(&error))
        };
        if number("PRAGMA freelist_count")? * 4 > number("PRAGMA page_count")? {
            while number("PRAGMA freelist_count")? > 0 {
                self.run_batch(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
            }
        }
        // Readers may keep the log from being cut; it is cut another time.
        let _ = self.run_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        Ok(())
    }
}

fn next_batch(
    db: &Connection,
    before: i64,
    place: (i64, u64),
    limit: usize,
) -> Result<Vec<Old>, rusqlite::Error> {
    db.prepare_cached(&format!(
        "SELECT id, n, ended, workspace FROM runs
         WHERE ended < ?1 AND (ended, n) > (?2, ?3) AND {}
         ORDER BY ended, n LIMIT ?4",
        outermost(),
    ))?
    .query_map(params![before, place.0, place.1, limit], |row| {
        Ok(Old {
            run: RunId::new(row.get::<_, String>(0)?).map_err(|e| runs::unexpected(0, e))?,
            n: row.get(1)?,
            ended: row.get(2)?,
            workspace: row.get(3)?,
        })
    })?
    .collect()
}

fn delete(change: &Connection, run: &str) -> Result<(), Failure> {
    for sql in [
        "DELETE FROM events WHERE run = ?1",
        "DELETE FROM questions WHERE id > ?1 || '-' AND id < ?1 || '.' AND run = ?1",
        "DELETE FROM requests WHERE run = ?1",
        "DELETE FROM lessons WHERE run = ?1",
        "DELETE FROM outbox WHERE run = ?1",
        "DELETE FROM answer_tokens WHERE question > ?1 || '-' AND question < ?1 || '.'",
        "DELETE FROM runs WHERE id = ?1",
    ] {
        change.prepare_cached(sql)?.execute([run])?;
    }
    Ok(())
}

fn remove_tree(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// How many bytes the files under a directory hold; 0 if there is none.
fn tree_size(path: &Path) -> io::Result<u64> {
    let entries = match path.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() { tree_size(&entry.path())? } else { meta.len() };
    }
    Ok(bytes)
}
