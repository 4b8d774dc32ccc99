//! Going through events run by run, one row in memory at a time.

use aye_core::id::RunId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::change::Failure;
use super::error::BadCell;
use crate::store::chain::{Hash, Link};

/// A row of the table of events: an event, or something that has no place
/// among them.
#[derive(Debug)]
pub(super) enum Visited<'a> {
    Event(Stored<'a>),
    Misplaced(BadCell),
}

/// One row of the table of events, as it is stored.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    pub(super) n: u64,
    pub(super) link: Link<'a>,
    /// `None` if it is not a hash.
    pub(super) hash: Option<Hash>,
}

/// Calls `visit` with the events of `run` and of those inside it, or of every
/// run, ordered by run and sequence number.
pub(super) fn walk(
    db: &Connection,
    run: Option<&RunId>,
    mut visit: impl FnMut(Visited<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let which = if run.is_some() { within("run") } else { "true".to_owned() };
    let mut query = db.prepare(&format!(
        "SELECT id, run, seq, at, type, body, hash FROM events WHERE {which} ORDER BY run, seq"
    ))?;
    for (place, bound) in bounds(run).iter().enumerate() {
        query.raw_bind_parameter(place + 1, bound)?;
    }
    let mut rows = query.raw_query();
    while let Some(row) = rows.next()? {
        match stored(row) {
            Ok(stored) => visit(Visited::Event(stored))?,
            Err(error) => visit(Visited::Misplaced(BadCell::of(error)?))?,
        }
    }
    Ok(())
}

/// Whether `column` names the run, or one inside it, whose [`bounds`] are the
/// first parameters.
pub(super) fn within(column: &str) -> String {
    format!("({column} = ?1 OR ({column} >= ?2 AND {column} < ?3))")
}

/// The id of a run, and those between which the runs inside it are; nothing
/// for every run.
pub(super) fn bounds(run: Option<&RunId>) -> Vec<String> {
    let Some(run) = run else { return Vec::new() };
    let inside = run.inside();
    vec![run.to_string(), inside.start, inside.end]
}

/// What is not text was changed: it stands for something that hashes to
/// nothing that was ever written.
fn text(value: ValueRef<'_>) -> &str {
    let bytes = value.as_bytes().unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or("\u{fffd}")
}

/// Fails if the two numbers that give an event its place are none. What else
/// is not as it was written shows in the hash.
fn stored<'a>(row: &'a Row<'_>) -> Result<Stored<'a>, rusqlite::Error> {
    Ok(Stored {
        n: row.get(0)?,
        link: Link {
            run: text(row.get_ref(1)?),
            seq: row.get(2)?,
            at: row.get(3).unwrap_or(i64::MIN),
            kind: text(row.get_ref(4)?),
            body: text(row.get_ref(5)?),
        },
        hash: row.get_ref(6)?.as_blob().ok().and_then(|blob| blob.try_into().ok()),
    })
}
