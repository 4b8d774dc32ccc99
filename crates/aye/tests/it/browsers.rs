//! Turns of the browsers that tests start.

use std::sync::{Condvar, Mutex, PoisonError};

/// How many may start: as many as there are tests at a time on two cores. Where more tests
/// run, more browsers would only make each other late.
static FREE: Mutex<usize> = Mutex::new(2);
static LEFT: Condvar = Condvar::new();

/// One browser may run for as long as this is kept.
pub(crate) struct Turn(());

impl Turn {
    /// Waits until a browser may start.
    pub(crate) fn take() -> Self {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let free = LEFT.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Self(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *FREE.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        LEFT.notify_one();
    }
}
