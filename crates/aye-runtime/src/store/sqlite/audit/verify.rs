//! Checking the chains of one run before it is resumed: hashes only, since
//! whoever resumes it reads the events anyway.

use std::collections::HashMap;

use aye_core::id::RunId;
use rusqlite::params_from_iter;

use super::super::SqliteStore;
use super::super::change::Failure;
use super::super::walk::{bounds, walk, within};
use crate::store::chain::Hash;
use crate::store::{Finding, StoreError};

/// The last event of a run.
type End = (u64, Hash);

impl SqliteStore {
    pub(super) fn verify_chains(&self, run: &RunId) -> Result<(), Failure> {
        let db = self.db.unchecked_transaction()?;
        let tampered = |finding| {
            let finding = Box::new(finding);
            Failure::Store(StoreError::Tampered { run: run.clone(), finding })
        };
        let mut ends: HashMap<String, End> = HashMap::new();
        walk(&db, Some(run), |stored| {
            let link = &stored.link;
            let name = || link.run.to_owned();
            let before = ends.get(link.run);
            let last = before.map_or(0, |(seq, _)| *seq);
            if link.seq != last + 1 {
                let (first, last) = (last + 1, link.seq.saturating_sub(1));
                return Err(tampered(Finding::Missing { run: name(), first, last }));
            }
            let hash = link.hash(before.map(|(_, hash)| hash));
            if stored.hash != Some(hash) {
                let (seq, kind) = (link.seq, link.kind.to_owned());
                return Err(tampered(Finding::Changed { run: name(), seq, kind }));
            }
            match ends.get_mut(link.run) {
                Some(end) => *end = (link.seq, hash),
                None => drop(ends.insert(name(), (link.seq, hash))),
            }
            Ok(())
        })?;
        let mut query =
            db.prepare(&format!("SELECT id, last_seq, head FROM runs WHERE {}", within("id")))?;
        let mut rows = query.query(params_from_iter(bounds(Some(run))))?;
        while let Some(row) = rows.next()? {
            let (run, recorded): (String, u64) = (row.get(0)?, row.get(1)?);
            let head = row.get_ref(2)?.as_blob().ok().and_then(|blob| blob.try_into().ok());
            match ends.remove(&run) {
                Some((last, hash)) if last == recorded && head == Some(hash) => {}
                Some((last, _)) if last >= recorded => {
                    let columns = "last_seq, head".to_owned();
                    return Err(tampered(Finding::Run { run, columns }));
                }
                end => {
                    let last = end.map_or(0, |(last, _)| last);
                    return Err(tampered(Finding::Truncated { run, last, recorded }));
                }
            }
        }
        match ends.into_keys().next() {
            Some(run) => Err(tampered(Finding::Run { run, columns: "it is missing".to_owned() })),
            None => Ok(()),
        }
    }
}
