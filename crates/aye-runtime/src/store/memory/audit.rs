//! Audits: the rows against what the events make of them.

use std::collections::BTreeMap;

use aye_core::id::RunId;

use super::MemoryStore;
use crate::store::derive::{self, Derived, Placed};
use crate::store::{Audit, Audited, Finding, StoreError};

impl Audit for MemoryStore {
    fn audit(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, StoreError> {
        let state = self.state();
        let mut audited = Audited::default();
        let mut made: BTreeMap<&RunId, Derived> = BTreeMap::new();
        let chosen = |id: &RunId| run.is_none_or(|run| run == id);
        for stored in state.events.iter().filter(|stored| chosen(&stored.event.run)) {
            audited.events += 1;
            let next = Placed { n: stored.n, hash: stored.hash, event: &stored.event };
            let after = derive::fold(made.remove(&stored.event.run), next)?;
            made.insert(&stored.event.run, after);
        }
        audited.runs = made.len() as u64;
        for kept in state.derived().filter(|kept| chosen(&kept.run.id)) {
            if made.get(&kept.run.id) != Some(kept) {
                let columns = "it differs".to_owned();
                report(Finding::Run { run: kept.run.id.to_string(), columns });
            }
        }
        Ok(audited)
    }
}
