//! Following the journal.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use aye_core::event::Event;
use aye_core::id::RunId;

use crate::error::Error;
use crate::store::{Listener, Store};

/// How many events of the whole journal are read at once.
const AT_ONCE: u32 = 1000;

/// Tells what is committed. Who comes back says the number of the last event
/// they have seen, and misses nothing.
pub struct Subscription<'s> {
    store: &'s dyn Store,
    listener: Listener,
    run: Option<RunId>,
    after: u64,
}

impl<'s> Subscription<'s> {
    /// Follows a run and those inside it, after the event of this number.
    pub(super) fn to_run(store: &'s dyn Store, run: &RunId, after: u64) -> Result<Self, Error> {
        Ok(Self { store, listener: store.listen()?, run: Some(run.clone()), after })
    }

    /// Follows the whole journal, after the event of this number.
    pub(super) fn to_all(store: &'s dyn Store, after: u64) -> Result<Self, Error> {
        Ok(Self { store, listener: store.listen()?, run: None, after })
    }

    /// The events since the last look, with their numbers; of the whole
    /// journal a part, and nothing when all have been told.
    pub fn events(&mut self) -> Result<Vec<(u64, Event)>, Error> {
        self.drain()?;
        let events = match &self.run {
            Some(run) => self.store.events_within(run, self.after)?,
            None => self.store.events_after(self.after, AT_ONCE)?,
        };
        if let Some((last, _)) = events.last() {
            self.after = *last;
        }
        Ok(events)
    }

    /// Forgets that something was committed, for who looks at something else
    /// than the events.
    pub fn drain(&mut self) -> Result<(), Error> {
        Ok(self.listener.drain()?)
    }

    /// Waits until something is committed, at most this long.
    pub fn wait(&mut self, most: Duration) -> Result<(), Error> {
        self.listener.wait(most)?;
        Ok(())
    }
}

impl AsFd for Subscription<'_> {
    /// Readable when something may have been committed.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
