//! More time for someone who is at it.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::terminal::until;

/// Someone who writes with less time than this left gets more.
const SCARCE: Duration = Duration::from_secs(30);
/// How often more time is asked for.
const OFTEN: Duration = Duration::from_secs(3);
/// As much more as a question of a run can get in all.
const LIMIT: SignedDuration = SignedDuration::from_mins(5);

/// When more time was asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hold {
    last: Option<Instant>,
}

impl Hold {
    /// Whether more time should be asked for, now that someone writes.
    pub(super) fn is_due(&mut self, deadline: Option<Timestamp>, now: Timestamp) -> bool {
        let scarce = deadline.is_some_and(|deadline| until(deadline, now) < SCARCE);
        let due = scarce && self.last.is_none_or(|last| last.elapsed() >= OFTEN);
        if due {
            self.last = Some(Instant::now());
        }
        due
    }
}

/// The deadline once it is held, by the same rule as in a run: 30 seconds
/// from now, at most five minutes beyond the first one.
pub(super) fn held(first: Timestamp, deadline: Timestamp, now: Timestamp) -> Timestamp {
    let wanted = SignedDuration::try_from(SCARCE).ok().and_then(|more| now.checked_add(more).ok());
    let furthest = first.checked_add(LIMIT).unwrap_or(deadline);
    wanted.unwrap_or(deadline).min(furthest).max(deadline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_deadline_moves_forward_and_only_so_far() {
        let at = |second| Timestamp::from_second(second).expect("a moment");
        assert_eq!(held(at(100), at(100), at(95)), at(125));
        assert_eq!(held(at(100), at(125), at(95)), at(125), "never back");
        assert_eq!(held(at(100), at(390), at(385)), at(400), "five minutes in all");
        assert_eq!(held(at(100), at(400), at(399)), at(400));
    }
}
