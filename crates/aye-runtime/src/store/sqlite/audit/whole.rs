//! The audit of a journal, or of one run in it.

use std::cell::Cell;

use aye_core::id::RunId;
use rusqlite::Connection;

use super::super::change::Failure;
use super::super::error::BadCell;
use super::super::{SqliteStore, pruned};
use super::{file, numbers, runs, sources};
use crate::store::{Audit, Audited, Finding, Heads, PrunedRun, StoreError};

impl Audit for SqliteStore {
    fn audit(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, StoreError> {
        let mut audited = self.check_all(run, report).map_err(|error| self.explained(error))?;
        // Without the transaction: reading logs may take minutes.
        let logs = self.check_logs(run, &mut audited, report);
        tolerate(logs, report).map_err(|error| self.explained(error))?;
        Ok(audited)
    }

    fn verify(&self, run: &RunId) -> Result<(), StoreError> {
        self.verify_run(run).map_err(|error| self.explained(error))
    }

    fn heads(&self) -> Result<Heads, StoreError> {
        self.read_heads().map_err(|error| self.failed(&error))
    }

    fn hash_of_event(&self, run: &RunId, seq: u64) -> Result<Option<[u8; 32]>, StoreError> {
        self.read_hash(run, seq).map_err(|error| self.failed(&error))
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

    fn check_all(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, Failure> {
        // One state of the journal throughout, though others continue writing.
        let db = self.db.unchecked_transaction()?;
        if run.is_none() {
            tolerate(file::check_pages(&db, report), report)?;
            tolerate(file::check_schema(&db, report), report)?;
        }
        let mut audited = Audited::default();
        // Events that are missing and that a finding has told of.
        let told = Cell::new(0);
        let report = &mut |finding: Finding| {
            told.set(told.get() + finding.events_missing());
            report(finding);
        };
        let checked = runs::check_runs(&db, run, &mut audited, report);
        tolerate(checked, report)?;
        tolerate(sources::check_sources(&db, run, report), report)?;
        if run.is_none() {
            let accounted = audited.events + told.get();
            tolerate(check_pruned(&db, accounted, report), report)?;
        }
        Ok(audited)
    }
}

/// The entries of pruned runs, and whether all events are accounted for.
fn check_pruned(
    db: &Connection,
    accounted: u64,
    report: &mut dyn FnMut(Finding),
) -> Result<(), rusqlite::Error> {
    let chain = match pruned::chain(db) {
        Ok(chain) => chain,
        Err(error) => {
            let BadCell(message) = BadCell::of(error)?;
            report(Finding::Row { table: "floor", message });
            return Ok(());
        }
    };
    chain.check(&pruned::entries(db)?, report);
    let events = numbers::unaccounted(db, accounted)?;
    if events > 0 {
        report(Finding::Removed { events });
    }
    Ok(())
}

/// Damage that one check meets is a finding, and the next one is done all the
/// same.
fn tolerate<E: Into<Failure>>(
    checked: Result<(), E>,
    report: &mut dyn FnMut(Finding),
) -> Result<(), Failure> {
    match checked.map_err(Into::into) {
        Err(Failure::Sqlite(error)) => {
            let message = error.to_string();
            match StoreError::sqlite(std::path::Path::new(""), &error) {
                StoreError::Damaged { .. } => report(Finding::File { message }),
                _ => return Err(error.into()),
            }
            Ok(())
        }
        other => other,
    }
}
