//! Leases.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use aye_core::id::RunId;

use super::MemoryStore;
use super::state::State;
use crate::store::{Held, Holder, Lease, LeaseError, Leases, StoreError};

impl Leases for MemoryStore {
    fn acquire(&mut self, run: &RunId, holder: &Holder) -> Result<Lease, LeaseError> {
        let mut state = self.state();
        if let Some((_, holder)) = state.held.get(run) {
            return Err(Held { run: run.clone(), holder: Some(holder.clone()) }.into());
        }
        state.leases += 1;
        let number = state.leases;
        state.held.insert(run.clone(), (number, holder.clone()));
        // The append that starts a run claims epoch 1.
        let epoch = match state.epochs.get_mut(run) {
            Some(epoch) => {
                *epoch += 1;
                *epoch
            }
            None => 1,
        };
        let given = Given { state: Arc::downgrade(&self.state), run: run.clone(), number };
        Ok(Lease::new(run.clone(), epoch, given))
    }

    fn holder(&self, run: &RunId) -> Result<Option<Held>, StoreError> {
        Ok(self.held()?.into_iter().find(|held| held.run == *run))
    }

    fn held(&self) -> Result<Vec<Held>, StoreError> {
        let held = |(run, (_, holder)): (&RunId, &(u64, Holder))| Held {
            run: run.clone(),
            holder: Some(holder.clone()),
        };
        Ok(self.state().held.iter().map(held).collect())
    }
}

impl MemoryStore {
    /// Takes a lease away from its holder, who does not notice: as if the
    /// holder had been cut off.
    pub fn expire(&self, run: &RunId) {
        self.state().held.remove(run);
    }
}

/// Gives the lease back when dropped, unless it is someone else's by then.
#[derive(Debug)]
struct Given {
    state: Weak<Mutex<State>>,
    run: RunId,
    number: u64,
}

impl Drop for Given {
    fn drop(&mut self) {
        let Some(state) = self.state.upgrade() else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.held.get(&self.run).is_some_and(|(number, _)| *number == self.number) {
            state.held.remove(&self.run);
        }
    }
}
