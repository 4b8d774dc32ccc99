//! Names that one run at a time can hold.

use aye_core::id::RunId;
use rusqlite::Connection;

use super::lease::RunLock;
use super::{Home, runs};
use crate::store::concurrency::Claims;
use crate::store::{RunRow, StoreError};

/// The journal in the middle of a change.
pub(super) struct Changing<'a> {
    pub(super) db: &'a Connection,
    pub(super) home: &'a Home,
}

impl Claims for Changing<'_> {
    fn claimants(&self, name: Option<&str>) -> Result<Vec<RunRow>, StoreError> {
        runs::claimants(self.db, name).map_err(|error| self.failed(&error))
    }

    fn around(&self, run: &RunId) -> Result<RunId, StoreError> {
        let mut outer = run.clone();
        // The row of a run may have been changed: its id has to say the same.
        while let Some(row) =
            runs::load(self.db, outer.as_str()).map_err(|error| self.failed(&error))?
            && let Some(parent) = row.parent.filter(|parent| outer.is_inside(parent))
        {
            outer = parent;
        }
        Ok(outer)
    }

    fn is_held(&self, outermost: &RunId) -> Result<bool, StoreError> {
        Ok(RunLock::holder(self.home, outermost)?.is_some())
    }
}

impl Changing<'_> {
    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.home.journal(), error)
    }
}
