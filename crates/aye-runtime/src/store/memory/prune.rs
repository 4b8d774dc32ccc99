//! Pruning.

use std::io;
use std::path::Path;

use aye_core::id::RunId;
use jiff::Timestamp;

use super::MemoryStore;
use super::state::State;
use crate::store::{Prune, Pruned, Pruner, RunRow, StoreError};

impl Prune for MemoryStore {
    fn has_finished_older_than(&self, ended_before: Timestamp) -> Result<bool, StoreError> {
        Ok(!old(&self.state(), ended_before).is_empty())
    }

    fn prune_where(
        &mut self,
        pruner: &Pruner,
        ended_before: Timestamp,
        dry_run: bool,
        may_go: &mut dyn FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError> {
        self.forget(pruner, (ended_before, usize::MAX), dry_run, may_go)
    }

    fn prune_some(
        &mut self,
        pruner: &Pruner,
        ended_before: Timestamp,
        runs: usize,
        may_go: &mut dyn FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError> {
        self.forget(pruner, (ended_before, runs), false, may_go)
    }
}

/// Outermost runs that ended before a time, the longest ended first.
fn old(state: &State, ended_before: Timestamp) -> Vec<&RunRow> {
    let is_old =
        |row: &&RunRow| row.parent.is_none() && row.ended.is_some_and(|ended| ended < ended_before);
    let mut rows: Vec<&RunRow> = state.newest().into_iter().filter(is_old).collect();
    rows.sort_by_key(|row| (row.ended, row.n));
    rows
}

impl MemoryStore {
    fn forget(
        &mut self,
        pruner: &Pruner,
        (ended_before, most): (Timestamp, usize),
        dry_run: bool,
        may_go: &mut dyn FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError> {
        let mut state = self.state();
        let mut chosen = old(&state, ended_before);
        chosen.retain(|row| {
            let free = !state.held.contains_key(&row.id);
            free && row.ended.is_some_and(|ended| may_go(Path::new(&row.workspace), ended))
        });
        chosen.truncate(most);
        let chosen: Vec<RunId> = chosen.into_iter().map(|row| row.id.clone()).collect();
        let mut pruned = Pruned { runs: chosen.len() as u64, ..Pruned::default() };
        let is_gone = |run: &RunId| chosen.iter().any(|outer| run.is_within(outer));
        for stored in state.events.iter().filter(|stored| is_gone(&stored.event.run)) {
            pruned.events += 1;
            pruned.bytes += stored.bytes;
        }
        if !dry_run {
            let gone: Vec<RunId> = state
                .newest()
                .into_iter()
                .map(|row| &row.id)
                .filter(|id| is_gone(id))
                .cloned()
                .collect();
            for run in &gone {
                remove(&self.logs.join(run.as_str()))?;
            }
            for run in &chosen {
                state.keep_entry(run, pruner);
            }
            state.forget(&gone);
        }
        Ok(pruned)
    }
}

fn remove(logs: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(logs) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(logs, &error)),
        _ => Ok(()),
    }
}
