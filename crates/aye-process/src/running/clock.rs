//! One clock for everything about a step. It stands still while the step is
//! paused, so every timer measured by it does too.

use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    started: Instant,
    paused: Duration,
    paused_at: Option<Instant>,
}

impl Clock {
    pub(crate) fn start(now: Instant) -> Self {
        Self { started: now, paused: Duration::ZERO, paused_at: None }
    }

    /// Time since the start without the pauses.
    pub(crate) fn active(&self, now: Instant) -> Duration {
        let now = self.paused_at.unwrap_or(now);
        now.saturating_duration_since(self.started).saturating_sub(self.paused)
    }

    /// False if it stands already.
    pub(crate) fn pause(&mut self, now: Instant) -> bool {
        let runs = self.paused_at.is_none();
        if runs {
            self.paused_at = Some(now);
        }
        runs
    }

    /// False if it runs already.
    pub(crate) fn resume(&mut self, now: Instant) -> bool {
        match self.paused_at.take() {
            Some(since) => {
                self.paused += now.saturating_duration_since(since);
                true
            }
            None => false,
        }
    }

    /// When the active time will be `due`; never while paused.
    pub(crate) fn instant_of(&self, due: Duration, now: Instant) -> Option<Instant> {
        match self.paused_at {
            Some(_) => None,
            None => now.checked_add(due.saturating_sub(self.active(now))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_moves_every_timer() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut clock = Clock::start(start);
        assert_eq!(clock.instant_of(Duration::from_secs(10), at(4)), Some(at(10)));
        assert!(clock.pause(at(4)));
        assert!(!clock.pause(at(5)));
        assert_eq!(clock.active(at(100)), Duration::from_secs(4));
        assert_eq!(clock.instant_of(Duration::from_secs(10), at(100)), None);
        assert!(clock.resume(at(104)));
        assert!(!clock.resume(at(105)));
        assert_eq!(clock.active(at(105)), Duration::from_secs(5));
        assert_eq!(clock.instant_of(Duration::from_secs(10), at(105)), Some(at(110)));
    }
}
