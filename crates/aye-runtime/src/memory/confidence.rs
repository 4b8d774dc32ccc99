//! How sure a pattern of use is: seeing it raises it, being wrong and being
//! idle lower it, success never does.

use jiff::{SignedDuration, Timestamp};

/// From this on someone is warned.
pub const WARN: f64 = 0.75;
/// From this on a step waits for a person's word.
pub const BLOCK: f64 = 0.95;

/// Sightings and what they are worth.
const STEPS: [(u64, f64); 7] =
    [(100, 0.95), (45, 0.92), (20, 0.85), (10, 0.75), (5, 0.70), (3, 0.60), (1, 0.50)];
/// What being wrong once costs.
const WRONG: f64 = 0.05;
/// Being wrong costs no more than down to this.
const WRONG_FLOOR: f64 = 0.30;
/// What an idle month costs.
const IDLE: f64 = 0.05;
/// Being idle costs no more than down to this.
const IDLE_FLOOR: f64 = 0.50;
const MONTH: SignedDuration = SignedDuration::from_hours(30 * 24);
/// What is idle for longer, and not sure, is forgotten.
const FORGET_AFTER: SignedDuration = SignedDuration::from_hours(90 * 24);
const FORGET_BELOW: f64 = 0.70;

/// How sure a pattern is that was seen so often, was wrong so often, and was
/// last seen then.
pub fn confidence(sightings: u64, wrong: u64, last: Timestamp, now: Timestamp) -> f64 {
    let seen = STEPS.iter().find(|(from, _)| sightings >= *from).map_or(0.0, |(_, worth)| *worth);
    let after_errors = (seen - WRONG * wrong as f64).max(WRONG_FLOOR.min(seen));
    let months = now.duration_since(last).as_secs().max(0) / MONTH.as_secs();
    let after_idling = after_errors - IDLE * months as f64;
    let sure = after_idling.max(IDLE_FLOOR.min(after_errors));
    // 0.95 has to be 0.95, whatever was added up to it.
    (sure * 10_000.0).round() / 10_000.0
}

/// Whether it is to be forgotten: old and never sure.
pub(super) fn is_stale(confidence: f64, last: Timestamp, now: Timestamp) -> bool {
    confidence < FORGET_BELOW && now.duration_since(last) > FORGET_AFTER
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + day * 86_400).expect("in range")
    }

    #[test]
    fn sightings_raise_it_in_steps() {
        let sure = |sightings| confidence(sightings, 0, at(0), at(0));
        let steps = [0, 1, 2, 3, 4, 5, 9, 10, 19, 20, 44, 45, 99, 100, 10_000].map(sure);
        assert_eq!(
            steps,
            [0.0, 0.5, 0.5, 0.6, 0.6, 0.7, 0.7, 0.75, 0.75, 0.85, 0.85, 0.92, 0.92, 0.95, 0.95]
        );
    }

    #[test]
    fn being_wrong_lowers_it_down_to_a_floor() {
        assert_eq!(confidence(100, 1, at(0), at(0)), 0.90);
        assert_eq!(confidence(20, 2, at(0), at(0)), 0.75);
        assert_eq!(confidence(100, 50, at(0), at(0)), 0.30);
        assert_eq!(confidence(0, 3, at(0), at(0)), 0.0);
    }

    #[test]
    fn idle_months_lower_it_down_to_a_floor() {
        assert_eq!(confidence(100, 0, at(0), at(29)), 0.95);
        assert_eq!(confidence(100, 0, at(0), at(30)), 0.90);
        assert_eq!(confidence(100, 0, at(0), at(61)), 0.85);
        assert_eq!(confidence(100, 0, at(0), at(3650)), 0.50);
        // What was below already stays where it is.
        assert_eq!(confidence(100, 12, at(0), at(3650)), 0.35);
        // A clock that was set back makes nothing idle.
        assert_eq!(confidence(100, 0, at(60), at(0)), 0.95);
    }

    #[test]
    fn the_unsure_are_forgotten_after_three_months() {
        assert!(!is_stale(0.5, at(0), at(90)));
        assert!(is_stale(0.5, at(0), at(91)));
        assert!(!is_stale(0.85, at(0), at(91)));
    }
}
