//! Going through events run by run, one row in memory at a time.

use aye_core::id::RunId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::change::Failure;
use crate::store::chain::{Hash, Link};

/// One row of the table of events, as it is stored.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    pub(super) n: u64,
    pub(super) link: Link<'a>,
    /// `None` if it has not the length of a hash.
    pub(super) hash: Option<Hash>,
}

/// Calls `visit` with the events of `run` and of those inside it, or of every
/// run, ordered by run and sequence number.
pub(super) fn walk(
    db: &Connection,
    run: Option<&RunId>,
    mut visit: impl FnMut(&Stored<'_>) -> Result<(), Failure>,
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
        visit(&stored(row)?)?;
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

/// What is no text was changed: it stands for something that hashes to
/// nothing that was ever written.
fn text(value: ValueRef<'_>) -> &str {
    let bytes = value.as_bytes().unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or("\u{fffd}")
}

fn stored<'a>(row: &'a Row<'_>) -> Result<Stored<'a>, rusqlite::Error> {
    Ok(Stored {
        n: row.get(0)?,
        link: Link {
            run: row.get_ref(1)?.as_str()?,
            seq: row.get(2)?,
            at: row.get(3)?,
            kind: text(row.get_ref(4)?),
            body: text(row.get_ref(5)?),
        },
        hash: row.get_ref(6)?.as_blob()?.try_into().ok(),
    })
}
