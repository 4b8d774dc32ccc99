//! Turns of the browsers, editors and desktops that tests start.

use std::sync::{Condvar, Mutex, PoisonError};

/// How many there may be at a time: keys and clicks get lost where a screen is late, and on two
/// cores a third one makes all of them late. Other tests run meanwhile.
static FREE: Mutex<usize> = Mutex::new(2);
static LEFT: Condvar = Condvar::new();

/// One screen, for as long as this is kept.
pub(crate) struct Turn(());

impl Turn {
    /// Waits until one may start.
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
