//! The events of runs, and the rows that they make.

use aye_core::id::RunId;
use rusqlite::{Connection, Params, Row, params_from_iter};

use super::super::change::Failure;
use super::super::error::BadCell;
use super::super::walk::{Visited, bounds, walk, within};
use super::check::Check;
use crate::store::{Audited, Finding};

/// Checks the events of one run and of those inside it, or of all, and the rows
/// that they make.
pub(super) fn check_runs(
    db: &Connection,
    run: Option<&RunId>,
    audited: &mut Audited,
    report: &mut dyn FnMut(Finding),
) -> Result<(), Failure> {
    let mut check: Option<Check> = None;
    walk(db, run, |visited| {
        let stored = match visited {
            Visited::Event(stored) => stored,
            Visited::Misplaced(BadCell(message)) => {
                report(Finding::Row { table: "events", message });
                return Ok(());
            }
        };
        audited.events += 1;
        if let Some(done) = check.take_if(|check| check.run() != stored.link.run) {
            done.finish(db, report)?;
        }
        let check = check.get_or_insert_with(|| {
            audited.runs += 1;
            Check::new(stored.link.run)
        });
        check.next(&stored, report);
        Ok(())
    })?;
    if let Some(done) = check {
        done.finish(db, report)?;
    }
    check_rows_without_events(db, run, report)?;
    Ok(())
}

fn check_rows_without_events(
    db: &Connection,
    run: Option<&RunId>,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let which = |column| if run.is_some() { within(column) } else { "true".to_owned() };
    let sql = format!(
        "SELECT id, last_seq FROM runs WHERE {}
         AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = runs.id)",
        which("id")
    );
    each(db, "runs", &sql, params_from_iter(bounds(run)), report, |row| {
        Ok(Some(Finding::Truncated { run: row.get(0)?, last: 0, recorded: row.get(1)? }))
    })?;
    let sql = format!(
        "SELECT run, id FROM questions WHERE {}
         AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = questions.run)",
        which("run")
    );
    each(db, "questions", &sql, params_from_iter(bounds(run)), report, |row| {
        Ok(Some(Finding::Question { run: row.get(0)?, question: row.get(1)? }))
    })
}

/// Reports what `find` makes of each row; a row that cannot be read is a
/// finding of its own.
pub(super) fn each(
    db: &Connection,
    table: &'static str,
    sql: &str,
    values: impl Params,
    report: &mut dyn FnMut(Finding),
    find: impl Fn(&Row<'_>) -> Result<Option<Finding>, rusqlite::Error>,
) -> Result<(), rusqlite::Error> {
    let mut query = db.prepare(sql)?;
    let mut rows = query.query(values)?;
    while let Some(row) = rows.next()? {
        match find(row) {
            Ok(found) => found.into_iter().for_each(&mut *report),
            Err(error) => {
                let BadCell(message) = BadCell::of(error)?;
                report(Finding::Row { table, message });
            }
        }
    }
    Ok(())
}
