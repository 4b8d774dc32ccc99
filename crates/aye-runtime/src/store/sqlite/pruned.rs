//! The table of pruned runs: who removed what, in a chain.

use aye_core::id::RunId;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::change::Failure;
use crate::store::pruned_run::Chain;
use crate::store::{Durability, PrunedRun, Pruner, RunRow, StoreError};

/// The entry of a run, without its place.
pub(super) fn entry(row: &RunRow, pruner: &Pruner, events: u64) -> PrunedRun {
    PrunedRun {
        n: 0,
        run: row.id.to_string(),
        at: pruner.at,
        by: pruner.by.clone(),
        events,
        last_seq: row.last_seq,
        head: row.head,
        hash: [0; 32],
    }
}

impl SqliteStore {
    /// Writes entries before anything is removed: a log that is missing then
    /// has a reason, even if Aye dies in between. The commit that removes the
    /// rows syncs this one too, so it does not wait for the disk.
    pub(super) fn keep_entries(&mut self, entries: Vec<PrunedRun>) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let durability = self.durability;
        self.sync(Durability::Process)?;
        let kept = self.commit(|change| {
            let mut chain = chain(change)?;
            for mut entry in entries {
                // From an earlier try that was cut off.
                if is_listed(change, &entry)? {
                    continue;
                }
                chain.add(&mut entry);
                insert(change, &entry)?;
            }
            let sql = "UPDATE floor SET entries = ?1, head = ?2";
            change.prepare_cached(sql)?.execute(params![chain.entries, chain.head])?;
            Ok(())
        });
        self.sync(durability)?;
        kept
    }
}

fn is_listed(db: &Connection, entry: &PrunedRun) -> Result<bool, rusqlite::Error> {
    // The table has no index: what is left to be done is among the newest.
    db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM (SELECT run, head FROM pruned ORDER BY n DESC LIMIT 1000)
         WHERE run = ?1 AND head = ?2)",
    )?
    .query_row(params![entry.run, entry.head], |row| row.get(0))
}

fn insert(db: &Connection, entry: &PrunedRun) -> Result<(), Failure> {
    db.prepare_cached("INSERT INTO pruned VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?.execute(
        params![
            entry.n,
            entry.run,
            entry.at.as_millisecond(),
            entry.by,
            entry.events,
            entry.last_seq,
            entry.head,
            entry.hash,
        ],
    )?;
    Ok(())
}

/// Where the chain ends.
pub(super) fn chain(db: &Connection) -> Result<Chain, rusqlite::Error> {
    db.prepare_cached("SELECT entries, head, unlisted FROM floor")?.query_row([], |row| {
        let head = row.get_ref(1)?.as_blob_or_null()?.map(|blob| hash(Some(blob)));
        Ok(Chain { entries: row.get(0)?, head, unlisted: row.get(2)? })
    })
}

/// Every entry, in order. What cannot be an entry's is read as zeros, which
/// its hash tells.
pub(super) fn entries(db: &Connection) -> Result<Vec<PrunedRun>, rusqlite::Error> {
    db.prepare("SELECT n, run, at, who, events, last_seq, head, hash FROM pruned ORDER BY n")?
        .query_map([], read)?
        .collect()
}

fn read(row: &Row<'_>) -> Result<PrunedRun, rusqlite::Error> {
    let number = |column| row.get(column).unwrap_or(0);
    let text = |column| row.get(column).unwrap_or_default();
    let at = row.get(2).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    Ok(PrunedRun {
        n: number(0),
        run: text(1),
        at: at.unwrap_or_default(),
        by: text(3),
        events: number(4),
        last_seq: number(5),
        head: hash(row.get_ref(6)?.as_blob().ok()),
        hash: hash(row.get_ref(7)?.as_blob().ok()),
    })
}

fn hash(blob: Option<&[u8]>) -> [u8; 32] {
    blob.and_then(|blob| blob.try_into().ok()).unwrap_or_default()
}

/// How many events are gone with pruned runs. A run that is still there is not
/// pruned to the end; one with two entries went twice.
pub(super) fn events_gone(db: &Connection) -> Result<u64, rusqlite::Error> {
    db.query_row(
        "SELECT coalesce(sum(most), 0) FROM (SELECT max(events) AS most FROM pruned
         WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = pruned.run) GROUP BY run)",
        [],
        |row| row.get(0),
    )
}

/// Whether an event came before its run was to be pruned: the entry of the run,
/// or of the one around it, is there, so its log is gone or about to go. That
/// holds if the run was retried since.
pub(super) fn was_going(db: &Connection, run: &RunId, n: u64) -> Result<bool, rusqlite::Error> {
    let goes = |outer: Result<String, _>| {
        let outer = outer.ok().and_then(|outer| RunId::new(outer).ok());
        outer.is_some_and(|outer| run.is_within(&outer))
    };
    let mut query = db.prepare_cached(
        "SELECT pruned.run FROM pruned JOIN events ON events.run = pruned.run
             AND events.seq = pruned.last_seq AND events.hash = pruned.head
         WHERE events.id >= ?1",
    )?;
    let mut going = query.query_map([n], |row| row.get(0))?;
    Ok(going.any(goes))
}
