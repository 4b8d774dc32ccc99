//! Checking one run, and those inside it, before it is resumed.

use aye_core::id::RunId;

use super::super::SqliteStore;
use super::super::change::Failure;
use super::numbers::missing_inside;
use super::runs::check_runs;
use crate::store::{Audited, Finding, StoreError};

impl SqliteStore {
    pub(super) fn verify_run(&self, run: &RunId) -> Result<(), Failure> {
        let db = self.db.unchecked_transaction()?;
        let mut first = None;
        check_runs(&db, Some(run), &mut Audited::default(), &mut |finding| {
            // The reader of the events says what to do about one of a newer Aye.
            if !matches!(finding, Finding::Unreadable { .. }) {
                first.get_or_insert(finding);
            }
        })?;
        if first.is_none() {
            // What a run inside it had done would be done again.
            let events = missing_inside(&db, run)?;
            first = (events > 0).then_some(Finding::Removed { events });
        }
        match first {
            Some(finding) => {
                let finding = Box::new(finding);
                Err(StoreError::Tampered { run: run.clone(), finding }.into())
            }
            None => Ok(()),
        }
    }
}
