//! Memory takes in what the journal says was learned.

use aye_core::event::{Event, EventKind, MemoryKind, Remembered};

use crate::error::Error;
use crate::lessons;
use crate::memory::Memory;
use crate::runtime::Runtime;
use crate::store::{QuestionRow, Store};

use super::journal_reader::JournalReader;

impl Runtime {
    /// Takes in what a driver has learned and could not take in before it was
    /// killed, in whatever project.
    pub fn settle_lessons(&self, store: &mut dyn Store) -> Result<(), Error> {
        let mut memory_at = |workspace: &str| self.at(workspace).ok().map(|there| there.memory());
        Ok(lessons::settle(store, &mut memory_at)?)
    }

    /// What was learned, with everything that the journal says. A journal that
    /// cannot be read does not keep memory from being read.
    pub fn current_memory(&self) -> Memory {
        let settle = || -> Result<(), Error> {
            let waits = match self.store_to_read()? {
                Some(store) => !store.pending_lessons()?.is_empty(),
                None => false,
            };
            if waits {
                self.settle_lessons(&mut *self.store()?)?;
            }
            Ok(())
        };
        // What is missing is taken in the next time.
        let _ = settle();
        self.memory()
    }
}

impl JournalReader {
    /// What the journal says about remembering the answer to a question.
    pub fn remembered_answer(&self, question: &QuestionRow) -> Result<Option<Remembered>, Error> {
        let events = self.events(&question.run)?;
        let is_answer = |event: &Event| match &event.kind {
            EventKind::ConfirmationAnswered(one) => {
                one.question == question.id && one.refused.is_none()
            }
            _ => false,
        };
        let answered = events.iter().rposition(is_answer).unwrap_or(events.len());
        let mut after = events.into_iter().skip(answered);
        Ok(after.find_map(|event| match event.kind {
            EventKind::MemoryLearned(what) if what.kind == MemoryKind::Preference => Some(*what),
            _ => None,
        }))
    }
}
