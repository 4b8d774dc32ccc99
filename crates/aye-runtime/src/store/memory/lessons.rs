//! Lessons that are not yet written to memory.

use aye_core::event::Event;
use aye_core::id::RunId;

use super::MemoryStore;
use crate::store::{Lessons, StoreError};

impl Lessons for MemoryStore {
    fn pending_lessons(&self) -> Result<Vec<Event>, StoreError> {
        let state = self.state();
        let is_pending = |event: &&Event| state.lessons.contains(&(event.run.clone(), event.seq));
        let events = state.events.iter().map(|stored| &stored.event);
        Ok(events.filter(is_pending).cloned().collect())
    }

    fn is_pending_lesson(&self, run: &RunId, seq: u64) -> Result<bool, StoreError> {
        Ok(self.state().lessons.contains(&(run.clone(), seq)))
    }

    fn lesson_taken_in(&mut self, run: &RunId, seq: u64) -> Result<(), StoreError> {
        self.state().lessons.remove(&(run.clone(), seq));
        Ok(())
    }
}
