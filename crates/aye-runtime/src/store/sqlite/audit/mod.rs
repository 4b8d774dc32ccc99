//! Checking that the journal is what was written.
//!
//! Each event is checked against the hash stored before it, so a changed event
//! is named alone and not with everything after it. Then the run's row says
//! where the chain has to end, and the derived rows are compared with what the
//! events make of them. One row is in memory at a time, whatever the size.
//!
//! The chain shows damage and careless changes. It is not signed: somebody who
//! may write the file and recomputes every hash from the change on, and the
//! run's row, leaves no trace in it.

mod check;

use aye_core::id::RunId;

use super::SqliteStore;
use super::change::Failure;
use super::walk::walk;
use crate::store::{Audit, Audited, Finding, Source, StoreError};
use check::Check;

impl Audit for SqliteStore {
    fn audit(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, StoreError> {
        self.check_all(run, report).map_err(|failure| match failure {
            Failure::Sqlite(error) => self.failed(&error),
            Failure::Store(error) => error,
        })
    }
}

impl SqliteStore {
    fn check_all(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, Failure> {
        // One state of the journal throughout, though others go on writing.
        let db = self.db.unchecked_transaction()?;
        if run.is_none() {
            check_file(&db, report)?;
        }
        let mut audited = Audited::default();
        let mut check: Option<Check> = None;
        walk(&db, run, |stored| {
            audited.events += 1;
            if let Some(done) = check.take_if(|check| check.run() != stored.link.run) {
                done.finish(&db, report)?;
            }
            let check = check.get_or_insert_with(|| {
                audited.runs += 1;
                Check::new(stored.link.run)
            });
            check.next(stored, report);
            Ok(())
        })?;
        if let Some(done) = check {
            done.finish(&db, report)?;
        }
        check_rows_without_events(&db, run, report)?;
        check_sources(&db, run, report)?;
        Ok(audited)
    }
}

/// What SQLite itself finds wrong with the file.
fn check_file(
    db: &rusqlite::Connection,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let mut query = db.prepare("PRAGMA quick_check(10)")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let message: String = row.get(0)?;
        if message != "ok" {
            report(Finding::File { message });
        }
    }
    Ok(())
}

fn check_rows_without_events(
    db: &rusqlite::Connection,
    run: Option<&RunId>,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let only = run.map(RunId::as_str);
    let mut query = db.prepare(
        "SELECT id, last_seq FROM runs WHERE (?1 IS NULL OR id = ?1)
         AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = runs.id)",
    )?;
    let mut rows = query.query([only])?;
    while let Some(row) = rows.next()? {
        report(Finding::Truncated { run: row.get(0)?, last: 0, recorded: row.get(1)? });
    }
    let mut query = db.prepare(
        "SELECT run, id FROM questions WHERE (?1 IS NULL OR run = ?1)
         AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = questions.run)",
    )?;
    let mut rows = query.query([only])?;
    while let Some(row) = rows.next()? {
        report(Finding::Question { run: row.get(0)?, question: row.get(1)? });
    }
    Ok(())
}

fn check_sources(
    db: &rusqlite::Connection,
    run: Option<&RunId>,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let only = run.map(RunId::as_str);
    let mut query = db.prepare(
        "SELECT digest, file, text FROM sources
         WHERE ?1 IS NULL OR digest = (SELECT source FROM runs WHERE id = ?1)",
    )?;
    let mut rows = query.query([only])?;
    while let Some(row) = rows.next()? {
        let source = Source { digest: row.get(0)?, file: row.get(1)?, text: row.get(2)? };
        if source.check().is_err() {
            report(Finding::Source { file: source.file, digest: source.digest });
        }
    }
    Ok(())
}
