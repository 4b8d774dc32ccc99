//! The port of lessons: those in the journal that are not yet written to
//! memory's files.

use aye_core::event::Event;
use aye_core::id::RunId;

use super::StoreError;

/// What was learned and is not in memory's files yet. An append that says what
/// was learned adds it here, in the same transaction.
pub trait Lessons {
    /// The events whose lessons are not written yet, oldest first.
    fn pending_lessons(&self) -> Result<Vec<Event>, StoreError>;

    /// Whether memory has not taken in the lesson of this event.
    fn is_pending_lesson(&self, run: &RunId, seq: u64) -> Result<bool, StoreError>;

    /// Memory has taken in the lesson of this event.
    fn lesson_taken_in(&mut self, run: &RunId, seq: u64) -> Result<(), StoreError>;
}
