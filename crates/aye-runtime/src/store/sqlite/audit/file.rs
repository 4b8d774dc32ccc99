//! The file: its pages and indexes, and what tables, triggers and views it has.

use rusqlite::Connection;

use super::super::schema;
use crate::store::{Finding, SchemaProblem};

/// What SQLite itself finds wrong with the file. An index that lacks a row, or
/// has one too many, hides it from queries that use that index.
pub(super) fn check_pages(
    db: &Connection,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let mut query = db.prepare("PRAGMA integrity_check(10)")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let message: String = row.get(0)?;
        if message != "ok" {
            report(Finding::File { message });
        }
    }
    Ok(())
}

/// Whether the file holds what Aye made, and nothing else. Triggers and views
/// of others do not act (see `open`), but someone put them there.
pub(super) fn check_schema(
    db: &Connection,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let mut expected = schema::expected()?;
    for found in schema::objects(db)? {
        let same = expected
            .iter()
            .position(|object| (&object.kind, &object.name) == (&found.kind, &found.name));
        let problem = match same.map(|place| expected.remove(place)) {
            Some(object) if object == found => continue,
            Some(_) => SchemaProblem::Changed,
            None => SchemaProblem::Foreign,
        };
        report(Finding::Schema { kind: found.kind, name: found.name, problem });
    }
    for schema::Object { kind, name, .. } in expected {
        report(Finding::Schema { kind, name, problem: SchemaProblem::Missing });
    }
    Ok(())
}
