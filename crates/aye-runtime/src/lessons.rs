//! From the journal to memory's files: what was learned is an event first, and
//! the files follow. The process that commits it takes it in; after a
//! crash, the next one that opens memory.

use std::collections::HashMap;

use aye_core::event::Event;

use crate::memory::{Lesson, LessonId, Memory, MemoryError, Once};
use crate::store::{Store, StoreError};

/// Takes in what these events say was learned, each lesson once; says what
/// people should know about that.
pub fn take_in(store: &mut dyn Store, memory: &Memory, events: &[Event]) -> Vec<String> {
    events.iter().filter_map(|event| take_in_one(store, memory, event)).collect()
}

fn take_in_one(store: &mut dyn Store, memory: &Memory, event: &Event) -> Option<String> {
    // What a newer Aye has learned waits for it.
    let lesson: Lesson = serde_json::from_value(event.kind.lesson()?.clone()).ok()?;
    let id = LessonId { run: event.run.clone(), seq: event.seq };
    let reader = &*store;
    let is_pending = |id: &LessonId| reader.is_pending_lesson(&id.run, id.seq).ok();
    let is_state = matches!(lesson, Lesson::State { .. });
    let taken = memory.take_in(lesson, Once { id: &id, is_pending: &is_pending });
    let (done, told) = match taken {
        Ok(told) => (true, told),
        // What it is about was forgotten meanwhile.
        Err(error @ MemoryError::NotFound(_)) => (true, Some(format!("memory: {error}"))),
        // A file that would become unreadable stays so: trying again slows down every command.
        Err(error @ MemoryError::Refused { .. }) if is_state => {
            (true, Some(format!("memory: {error}")))
        }
        Err(error) => {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            (false, Some(format!("memory: nothing is learned from this for now: {error}{hint}")))
        }
    };
    if done {
        // Where this fails it is tried again, and the file knows that it is done.
        let _ = store.lesson_taken_in(&id.run, id.seq);
    }
    told
}

/// Takes in what other drivers have learned and could not take in before they
/// were killed. `memory_at` opens the memory of a workspace, if there is one.
pub fn settle(
    store: &mut dyn Store,
    memory_at: &mut dyn FnMut(&str) -> Option<Memory>,
) -> Result<(), StoreError> {
    let mut memories: HashMap<String, Option<Memory>> = HashMap::new();
    for event in store.pending_lessons()? {
        let Some(row) = store.run(&event.run)? else { continue };
        let memory = memories.entry(row.workspace).or_insert_with_key(|place| memory_at(place));
        if let Some(memory) = memory {
            take_in_one(store, memory, &event);
        }
    }
    Ok(())
}
