//! Time, injected.

use std::path::PathBuf;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Tells the time.
pub trait Clock {
    /// Now, in UTC.
    fn now(&self) -> Timestamp;
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// From one moment to a later one, in milliseconds; 0 if it is not later.
pub fn ms_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millisecond() - from.as_millisecond()).unwrap_or(0)
}

/// A time as people read it: where they are, to the second.
pub fn local(time: Timestamp) -> String {
    let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
    time.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

/// The machine's clock.
#[derive(Debug, Clone, Default)]
pub struct SystemClock {
    /// How far ahead of it we are: in tests that last for weeks.
    shift: SignedDuration,
    /// A file with the seconds that we are ahead of that: in tests that let
    /// time pass.
    more: Option<PathBuf>,
}

impl SystemClock {
    /// The clock that the environment asks for: in builds for tests,
    /// `AYE_TEST_DAYS` puts it ahead, and so do the seconds in the file that
    /// `AYE_TEST_CLOCK` names; otherwise it is the machine's own.
    #[must_use]
    pub fn of(env: &std::collections::BTreeMap<String, String>) -> Self {
        if !cfg!(debug_assertions) {
            return Self::default();
        }
        let days = env.get("AYE_TEST_DAYS").and_then(|days| days.parse::<i64>().ok());
        let shift = SignedDuration::from_hours(24 * days.unwrap_or(0));
        Self { shift, more: env.get("AYE_TEST_CLOCK").map(PathBuf::from) }
    }

    /// How far ahead of the machine's clock we are.
    fn ahead(&self) -> SignedDuration {
        let Some(file) = &self.more else { return self.shift };
        let seconds = std::fs::read_to_string(file).ok();
        let seconds = seconds.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        self.shift.saturating_add(SignedDuration::from_secs(seconds))
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        let now = now.checked_add(self.ahead()).unwrap_or(now);
        // Milliseconds are what the journal keeps: no state may depend on more.
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}
