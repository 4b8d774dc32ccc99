//! Checking that the journal is what was written.
//!
//! Each event is checked against the hash stored before it, so a changed event
//! is named alone and not with everything after it. Then the run's row says
//! where the chain has to end, and the derived rows are compared with what the
//! events make of them. One row is in memory at a time, whatever the size.
//!
//! Event numbers are given out without gaps, so the events that are there, those
//! of pruned runs and those that a finding names must add up: whole runs that
//! were removed show.
//!
//! The chain shows damage and careless changes. It is not signed: somebody who
//! may write the file and recomputes every hash from the change on, and the
//! run's row, leaves no trace in it. Heads that are kept elsewhere show that too.

mod check;
mod logs;
mod verify;

use std::cell::Cell;

use aye_core::id::RunId;
use rusqlite::{OptionalExtension as _, params_from_iter};

use super::change::Failure;
use super::walk::{bounds, walk, within};
use super::{SqliteStore, append, pruned, schema};
use crate::store::{
    Audit, Audited, Finding, Head, Heads, PrunedHead, PrunedRun, SchemaProblem, Source, StoreError,
};
use check::Check;

impl Audit for SqliteStore {
    fn audit(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, StoreError> {
        let mut audited = self.check_all(run, report).map_err(|error| self.explained(error))?;
        // Without the transaction: reading logs may take minutes.
        self.check_logs(run, &mut audited, report).map_err(|error| self.failed(&error))?;
        Ok(audited)
    }

    fn verify(&self, run: &RunId) -> Result<(), StoreError> {
        self.verify_run(run).map_err(|error| self.explained(error))
    }

    fn heads(&self) -> Result<Heads, StoreError> {
        self.read_heads().map_err(|error| self.failed(&error))
    }

    fn hash_of_event(&self, run: &RunId, seq: u64) -> Result<Option<[u8; 32]>, StoreError> {
        self.db
            .prepare_cached("SELECT hash FROM events WHERE run = ?1 AND seq = ?2")
            .and_then(|mut query| {
                query
                    .query_row((run.as_str(), seq), |row| {
                        Ok(row.get_ref(0)?.as_blob()?.try_into().ok())
                    })
                    .optional()
            })
            .map(Option::flatten)
            .map_err(|error| self.failed(&error))
    }

    fn pruned_runs(&self) -> Result<Vec<PrunedRun>, StoreError> {
        pruned::entries(&self.db).map_err(|error| self.failed(&error))
    }
}

impl SqliteStore {
    fn explained(&self, failure: Failure) -> StoreError {
        match failure {
            Failure::Sqlite(error) => self.failed(&error),
            Failure::Store(error) => error,
        }
    }

    fn read_heads(&self) -> Result<Heads, rusqlite::Error> {
        let db = self.db.unchecked_transaction()?;
        let runs = db
            .prepare("SELECT id, last_seq, head FROM runs ORDER BY n")?
            .query_map([], |row| {
                let run = RunId::new(row.get::<_, String>(0)?);
                let run = run.map_err(|error| super::runs::unexpected(0, error))?;
                Ok(Head { run, events: row.get(1)?, head: row.get(2)? })
            })?
            .collect::<Result<_, _>>()?;
        let chain = pruned::chain(&db)?;
        let (entries, head) = (chain.entries, chain.head.unwrap_or_default());
        Ok(Heads { runs, pruned: PrunedHead { entries, head } })
    }

    fn check_all(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, Failure> {
        // One state of the journal throughout, though others go on writing.
        let db = self.db.unchecked_transaction()?;
        if run.is_none() {
            check_file(&db, report)?;
            check_schema(&db, report)?;
        }
        let mut audited = Audited::default();
        // Events that are missing and that a finding has told of.
        let told = Cell::new(0);
        let report = &mut |finding: Finding| {
            told.set(told.get() + finding.events_missing());
            report(finding);
        };
        check_runs(&db, run, &mut audited, report)?;
        check_sources(&db, run, report)?;
        if run.is_none() {
            pruned::chain(&db)?.check(&pruned::entries(&db)?, report);
            check_sum(&db, audited.events + told.get(), report)?;
        }
        Ok(audited)
    }
}

/// Checks the events of one run and of those inside it, or of all, and the rows
/// that they make.
fn check_runs(
    db: &rusqlite::Connection,
    run: Option<&RunId>,
    audited: &mut Audited,
    report: &mut dyn FnMut(Finding),
) -> Result<(), Failure> {
    let mut check: Option<Check> = None;
    walk(db, run, |stored| {
        audited.events += 1;
        if let Some(done) = check.take_if(|check| check.run() != stored.link.run) {
            done.finish(db, report)?;
        }
        let check = check.get_or_insert_with(|| {
            audited.runs += 1;
            Check::new(stored.link.run)
        });
        check.next(stored, report);
        Ok(())
    })?;
    if let Some(done) = check {
        done.finish(db, report)?;
    }
    check_rows_without_events(db, run, report)?;
    Ok(())
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

/// Whether the file holds what Aye made, and nothing else. Triggers and views
/// of others do not act (see `open`), but somebody put them there.
fn check_schema(
    db: &rusqlite::Connection,
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

/// Whether every event that was ever numbered is there, pruned or told of.
fn check_sum(
    db: &rusqlite::Connection,
    accounted: u64,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let gone = pruned::events_gone(db)? + pruned::chain(db)?.unlisted;
    let events = append::last_n(db)?.saturating_sub(gone + accounted);
    if events > 0 {
        report(Finding::Removed { events });
    }
    Ok(())
}

fn check_rows_without_events(
    db: &rusqlite::Connection,
    run: Option<&RunId>,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let which = |column| if run.is_some() { within(column) } else { "true".to_owned() };
    let mut query = db.prepare(&format!(
        "SELECT id, last_seq FROM runs WHERE {}
         AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = runs.id)",
        which("id")
    ))?;
    let mut rows = query.query(params_from_iter(bounds(run)))?;
    while let Some(row) = rows.next()? {
        report(Finding::Truncated { run: row.get(0)?, last: 0, recorded: row.get(1)? });
    }
    let mut query = db.prepare(&format!(
        "SELECT run, id FROM questions WHERE {}
         AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = questions.run)",
        which("run")
    ))?;
    let mut rows = query.query(params_from_iter(bounds(run)))?;
    while let Some(row) = rows.next()? {
        report(Finding::Question { run: row.get(0)?, question: row.get(1)? });
    }
    Ok(())
}

/// Whether the text of every run is there and is what it was.
fn check_sources(
    db: &rusqlite::Connection,
    run: Option<&RunId>,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let chosen = if run.is_some() { within("id") } else { "true".to_owned() };
    let which = match run {
        Some(_) => format!("digest IN (SELECT source FROM runs WHERE {chosen})"),
        None => "true".to_owned(),
    };
    let mut query = db.prepare(&format!("SELECT digest, file, text FROM sources WHERE {which}"))?;
    let mut rows = query.query(params_from_iter(bounds(run)))?;
    while let Some(row) = rows.next()? {
        let source = Source { digest: row.get(0)?, file: row.get(1)?, text: row.get(2)? };
        if source.check().is_err() {
            report(Finding::Source { file: source.file, digest: source.digest });
        }
    }
    let mut query = db.prepare(&format!(
        "SELECT source, min(file) FROM runs WHERE {chosen}
         AND NOT EXISTS (SELECT 1 FROM sources WHERE digest = runs.source) GROUP BY source"
    ))?;
    let mut rows = query.query(params_from_iter(bounds(run)))?;
    while let Some(row) = rows.next()? {
        report(Finding::SourceMissing { digest: row.get(0)?, file: row.get(1)? });
    }
    Ok(())
}
