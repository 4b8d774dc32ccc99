//! Time, injected.

use jiff::Timestamp;

/// Tells the time.
pub trait Clock {
    /// Now, in UTC.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // Milliseconds are what the journal keeps: no state may depend on more.
        let now = Timestamp::now();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}
