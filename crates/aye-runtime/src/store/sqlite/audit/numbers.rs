//! The numbers of events: they have no gaps, and the entry of a pruned run says how
//! many it had.

use aye_core::id::RunId;
use rusqlite::{Connection, OptionalExtension as _};

use super::super::walk::{bounds, within};
use super::super::{append, pruned};

/// How many events were numbered that are neither pruned nor `accounted` for.
pub(super) fn unaccounted(db: &Connection, accounted: u64) -> Result<u64, rusqlite::Error> {
    let gone = pruned::events_gone(db)? + pruned::chain(db)?.unlisted;
    Ok(append::last_n(db)?.saturating_sub(gone + accounted))
}

/// How many events are missing that may be those of a run inside `run`: numbers
/// are missing from the time in which it had such runs, and no entry of a pruned
/// run explains that. Costs little where no number is missing.
pub(super) fn missing_inside(db: &Connection, run: &RunId) -> Result<u64, rusqlite::Error> {
    let first: Option<u64> = db
        .prepare_cached(
            "SELECT min(id) FROM events
             WHERE run = ?1 AND type = 'step_started' AND body LIKE '%\"nested\":true%'",
        )?
        .query_row([run.as_str()], |row| row.get(0))?;
    let Some(first) = first else { return Ok(0) };
    let bounds = bounds(Some(run));
    let last: u64 = db
        .prepare_cached(&format!("SELECT max(id) FROM events WHERE {}", within("run")))?
        .query_row(rusqlite::params_from_iter(bounds), |row| row.get(0))?;
    let next: Option<u64> = db
        .prepare_cached("SELECT id FROM events WHERE id > ?1 ORDER BY id LIMIT 1")?
        .query_row([last], |row| row.get(0))
        .optional()?;
    let end = match next {
        Some(next) => next,
        None => append::last_n(db)? + 1,
    };
    let there: u64 = db
        .prepare_cached("SELECT count(*) FROM events WHERE id >= ?1 AND id < ?2")?
        .query_row([first, end], |row| row.get(0))?;
    let missing = (end - first).saturating_sub(there);
    if missing == 0 {
        return Ok(0);
    }
    let all = db.query_row("SELECT count(*) FROM events", [], |row| row.get(0))?;
    Ok(unaccounted(db, all)?.min(missing))
}
