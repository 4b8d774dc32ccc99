//! Audits: the rows, logs and pruned runs against what the events say.

use std::collections::{BTreeMap, HashMap};

use aye_core::id::RunId;

use super::MemoryStore;
use super::state::Stored;
use crate::store::chain::{Hash, hashed};
use crate::store::derive::{self, Derived, Placed};
use crate::store::log_seal::SealedStep;
use crate::store::{
    Audit, Audited, Finding, Head, Heads, PrunedHead, PrunedRun, Runs as _, StoreError,
};

impl Audit for MemoryStore {
    fn audit(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, StoreError> {
        let state = self.state();
        let mut audited = Audited::default();
        let mut made: BTreeMap<&RunId, Derived> = BTreeMap::new();
        let mut steps = Vec::new();
        let mut ends: HashMap<&RunId, Hash> = HashMap::new();
        let chosen = |id: &RunId| run.is_none_or(|run| id.is_within(run));
        for stored in state.events.iter().filter(|stored| chosen(&stored.event.run)) {
            audited.events += 1;
            report_change(stored, ends.insert(&stored.event.run, stored.hash).as_ref(), report)?;
            steps.extend(SealedStep::of(&stored.event));
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
        if run.is_none() {
            state.chain.check(&state.pruned, report);
            let gone: u64 = state.pruned.iter().map(|entry| entry.events).sum();
            let events = state.last_n.saturating_sub(gone + audited.events);
            if events > 0 {
                report(Finding::Removed { events });
            }
        }
        // Not while others wait: reading logs may take long.
        drop(made);
        drop(state);
        for step in steps {
            let found = step.check(self, &mut audited);
            if !found.is_empty() && self.run(step.run())?.is_some() {
                found.into_iter().for_each(&mut *report);
            }
        }
        Ok(audited)
    }

    fn verify(&self, run: &RunId) -> Result<(), StoreError> {
        let state = self.state();
        let mut ends: HashMap<&RunId, Hash> = HashMap::new();
        for stored in &state.events {
            let of = &stored.event.run;
            if !of.is_within(run) {
                continue;
            }
            let hash = hashed(&stored.event, ends.get(of))?.1;
            if hash != stored.hash {
                let (seq, kind) = (stored.event.seq, stored.event.kind.name().to_owned());
                let finding = Box::new(Finding::Changed { run: of.to_string(), seq, kind });
                return Err(StoreError::Tampered { run: run.clone(), finding });
            }
            ends.insert(of, hash);
        }
        Ok(())
    }

    fn heads(&self) -> Result<Heads, StoreError> {
        let state = self.state();
        let mut rows = state.newest();
        rows.reverse();
        let head = |id: &RunId, events, head| Head { run: id.clone(), events, head };
        let runs = rows.into_iter().map(|row| head(&row.id, row.last_seq, row.head)).collect();
        let (entries, head) = (state.chain.entries, state.chain.head.unwrap_or_default());
        Ok(Heads { runs, pruned: PrunedHead { entries, head } })
    }

    fn hash_of_event(&self, run: &RunId, seq: u64) -> Result<Option<[u8; 32]>, StoreError> {
        let state = self.state();
        let mut events = state.events.iter();
        let found = events.find(|stored| stored.event.run == *run && stored.event.seq == seq);
        Ok(found.map(|stored| stored.hash))
    }

    fn pruned_runs(&self) -> Result<Vec<PrunedRun>, StoreError> {
        Ok(self.state().pruned.clone())
    }
}

fn report_change(
    stored: &Stored,
    before: Option<&Hash>,
    report: &mut dyn FnMut(Finding),
) -> Result<(), StoreError> {
    if hashed(&stored.event, before)?.1 != stored.hash {
        let (run, seq) = (stored.event.run.to_string(), stored.event.seq);
        report(Finding::Changed { run, seq, kind: stored.event.kind.name().to_owned() });
    }
    Ok(())
}
