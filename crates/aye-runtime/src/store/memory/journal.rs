//! The journal.

use aye_core::event::{Event, EventKind};
use aye_core::id::RunId;

use super::MemoryStore;
use super::state::{State, Stored};
use crate::store::{Journal, Lease, RequestId, Source, StoreError, Verdict};

impl Journal for MemoryStore {
    fn start(
        &mut self,
        lease: &Lease,
        events: &[Event],
        source: &Source,
    ) -> Result<(), StoreError> {
        source.check_start(events)?;
        let mut state = self.state();
        state.append(lease, events, &[], self.announcer.as_deref())?;
        state.sources.insert(source.digest.clone(), source.clone());
        drop(state);
        self.committed();
        Ok(())
    }

    fn append(
        &mut self,
        lease: &Lease,
        events: &[Event],
        settled: &[(RequestId, Verdict)],
    ) -> Result<(), StoreError> {
        self.state().append(lease, events, settled, self.announcer.as_deref())?;
        self.committed();
        Ok(())
    }

    fn events(&self, run: &RunId, after: u64) -> Result<Vec<Event>, StoreError> {
        Ok(of_run(&self.state(), run).filter(|event| event.seq > after).cloned().collect())
    }

    fn events_within(&self, run: &RunId, after: u64) -> Result<Vec<(u64, Event)>, StoreError> {
        let within = |stored: &&Stored| stored.n > after && stored.event.run.is_within(run);
        Ok(self.state().events.iter().filter(within).map(numbered).collect())
    }

    fn events_after(&self, after: u64, limit: u32) -> Result<Vec<(u64, Event)>, StoreError> {
        let state = self.state();
        let later = state.events.iter().filter(|stored| stored.n > after);
        Ok(later.take(limit as usize).map(numbered).collect())
    }

    fn first_event(&self, run: &RunId) -> Result<Option<Event>, StoreError> {
        Ok(of_run(&self.state(), run).next().cloned())
    }

    fn tail(&self, run: &RunId, count: u32) -> Result<Vec<Event>, StoreError> {
        let mut events = self.events(run, 0)?;
        let first = events.len().saturating_sub(count as usize);
        Ok(events.split_off(first))
    }

    fn position(&self) -> Result<u64, StoreError> {
        Ok(self.state().last_n)
    }

    fn source(&self, digest: &str) -> Result<Option<Source>, StoreError> {
        Ok(self.state().sources.get(digest).cloned())
    }
}

fn of_run<'a>(state: &'a State, run: &'a RunId) -> impl Iterator<Item = &'a Event> {
    state.events.iter().map(|stored| &stored.event).filter(move |event| event.run == *run)
}

fn numbered(stored: &Stored) -> (u64, Event) {
    (stored.n, stored.event.clone())
}

/// The event that asked a question.
pub(super) fn asking(state: &State, n: u64) -> Option<&EventKind> {
    let place = state.events.binary_search_by_key(&n, |stored| stored.n).ok()?;
    Some(&state.events[place].event.kind)
}
