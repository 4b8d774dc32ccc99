//! When requests of other processes are looked for.

use std::time::{Duration, Instant};

use crate::store::{Listener, StoreError};

/// How often the mailbox is looked at without a wake-up.
const SLOW_POLL: Duration = Duration::from_secs(1);
/// A step this short is over before anyone could want to stop it; listening
/// for wake-ups starts later and costs such steps nothing.
const QUICK: Duration = Duration::from_millis(30);

/// The listener, and when the mailbox was read.
pub(super) struct Mail {
    listener: Option<Listener>,
    read_at: Instant,
    /// Since when something is waited for.
    waiting_since: Instant,
}

impl Mail {
    pub(super) fn new(now: Instant) -> Self {
        Self { listener: None, read_at: now, waiting_since: now }
    }

    /// Something is waited for from now on.
    pub(super) fn start_waiting(&mut self, now: Instant) {
        self.waiting_since = now;
    }

    /// Whether wake-ups are listened for.
    pub(super) fn is_listening(&self) -> bool {
        self.listener.is_some()
    }

    /// Listens with this.
    pub(super) fn listen(&mut self, listener: Listener) {
        self.listener = Some(listener);
    }

    /// What listens.
    pub(super) fn listener(&self) -> Option<&Listener> {
        self.listener.as_ref()
    }

    /// The mailbox is about to be read.
    pub(super) fn reading(&mut self, now: Instant) -> Result<(), StoreError> {
        if let Some(listener) = &mut self.listener {
            listener.drain()?;
        }
        self.read_at = now;
        Ok(())
    }

    /// What is waited for is not over at once: it is time to listen.
    pub(super) fn should_listen(&self, now: Instant) -> bool {
        self.listener.is_none() && now.duration_since(self.waiting_since) >= QUICK
    }

    /// Whether the mailbox was read so long ago that something may wait.
    pub(super) fn is_stale(&self, now: Instant) -> bool {
        now.duration_since(self.read_at) > QUICK
    }

    /// Whether it is time to read the mailbox although nothing woke us.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        now.duration_since(self.read_at) >= SLOW_POLL
    }

    /// When the mailbox needs another look at the latest.
    pub(super) fn look_at(&self) -> Instant {
        match self.listener {
            None => self.waiting_since + QUICK,
            Some(_) => self.read_at + SLOW_POLL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MemoryStore, Wake as _};

    #[test]
    fn a_short_step_costs_no_bell_and_a_longer_one_is_listened_for() {
        let start = Instant::now();
        let mut mail = Mail::new(start);
        mail.start_waiting(start + QUICK);
        assert!(!mail.should_listen(start + QUICK));
        assert_eq!(mail.look_at(), start + 2 * QUICK);
        assert!(mail.should_listen(mail.look_at()));
    }

    #[test]
    fn with_a_bell_the_mailbox_is_still_read_now_and_then() {
        let start = Instant::now();
        let mut mail = Mail::new(start);
        mail.listen(
            MemoryStore::new(std::path::Path::new("/nowhere"))
                .listen_for_requests(&aye_core::id::RunId::from_random(1))
                .expect("a listener"),
        );
        assert!(!mail.should_listen(start + SLOW_POLL));
        assert!(mail.is_stale(start + 2 * QUICK) && !mail.is_overdue(start + 2 * QUICK));
        assert_eq!(mail.look_at(), start + SLOW_POLL);
        assert!(mail.is_overdue(mail.look_at()));
        mail.reading(mail.look_at()).expect("read");
        assert!(!mail.is_overdue(start + SLOW_POLL));
    }
}
