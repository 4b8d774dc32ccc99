//! Starts of runs, a few at a time: each is a process that opens the journal.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::problem::{Code, Problem};

/// How many runs are started at once.
const AT_ONCE: usize = 8;
/// How many wait for their turn.
const WAITING: usize = 200;
/// How long one waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// Who starts something, and how many wait.
#[derive(Default)]
pub(super) struct StartQueue {
    counts: Mutex<Counts>,
    freed: Condvar,
}

#[derive(Default)]
struct Counts {
    starting: usize,
    waiting: usize,
}

/// The right to start something; given back when it is dropped.
pub(super) struct Turn<'q>(&'q StartQueue);

impl StartQueue {
    /// Waits for a turn. One that would have to wait behind too many is refused.
    pub(super) fn turn(&self) -> Result<Turn<'_>, Problem> {
        self.turn_within(PATIENCE)
    }

    fn turn_within(&self, patience: Duration) -> Result<Turn<'_>, Problem> {
        let mut counts = self.counts();
        if counts.starting >= AT_ONCE {
            if counts.waiting >= WAITING {
                return Err(busy());
            }
            counts.waiting += 1;
            let is_full = |counts: &mut Counts| counts.starting >= AT_ONCE;
            let waited = self.freed.wait_timeout_while(counts, patience, is_full);
            let (after, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
            counts = after;
            counts.waiting -= 1;
            if timed_out.timed_out() {
                return Err(busy());
            }
        }
        counts.starting += 1;
        Ok(Turn(self))
    }

    /// As if as many as possible were starting and waiting.
    #[cfg(test)]
    pub(super) fn fill(&self) {
        *self.counts() = Counts { starting: AT_ONCE, waiting: WAITING };
    }

    #[cfg(test)]
    pub(super) fn empty(&self) {
        *self.counts() = Counts::default();
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.counts().starting -= 1;
        self.0.freed.notify_one();
    }
}

fn busy() -> Problem {
    Problem::new(Code::Unavailable, "too many runs are being started")
        .hint("try again with the same `Idempotency-Key`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_start_at_once_and_the_others_wait_their_turn() {
        let queue = StartQueue::default();
        let mut turns: Vec<Turn<'_>> =
            (0..AT_ONCE).map(|_| queue.turn().expect("a turn")).collect();
        let refused = queue.turn_within(Duration::from_millis(10)).err().expect("nobody is done");
        assert_eq!(refused.code, Code::Unavailable);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.turn().is_ok());
            turns.pop();
            assert!(waiting.join().expect("no panic"), "it had its turn");
        });
        drop(turns);
        assert_eq!(queue.counts().starting, 0);
    }

    #[test]
    fn nobody_waits_behind_too_many() {
        let queue = StartQueue::default();
        queue.fill();
        assert!(queue.turn().is_err());
    }
}
