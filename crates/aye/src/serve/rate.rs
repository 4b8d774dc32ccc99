//! How many requests are let through.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Changes that one client may make at once, and each second after that.
const BURST: f64 = 2000.0;
const EACH_SECOND: f64 = 1000.0;
/// Wrong tokens that all clients together may show at once, and each second.
const WRONG_BURST: f64 = 50.0;
const WRONG_EACH_SECOND: f64 = 5.0;

/// Limits the requests of each client that change something, and wrong tokens.
/// A right token is let in however many wrong ones there were.
#[derive(Default)]
pub(super) struct Rates {
    buckets: Mutex<HashMap<String, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    /// Whether this client may change something now.
    pub(super) fn lets_change(&self, name: &str, now: Instant) -> bool {
        self.takes(name.to_owned(), now, BURST, EACH_SECOND)
    }

    /// Whether a wrong token is answered as one, or with a refusal to look at more.
    pub(super) fn lets_guess(&self, now: Instant) -> bool {
        self.takes(" wrong".to_owned(), now, WRONG_BURST, WRONG_EACH_SECOND)
    }

    /// Whether a link may be redeemed now. Wrong tokens do not use this up: who has a
    /// link can sign in whatever others try.
    pub(super) fn lets_sign_in(&self, now: Instant) -> bool {
        self.takes(" sign-in".to_owned(), now, WRONG_BURST, WRONG_EACH_SECOND)
    }

    fn takes(&self, name: String, now: Instant, burst: f64, each_second: f64) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(name).or_insert(Bucket { left: burst, at: now });
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + since * each_second).min(burst);
        bucket.at = now;
        let takes = bucket.left >= 1.0;
        if takes {
            bucket.left -= 1.0;
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_sends_too_much_waits_and_others_do_not() {
        let (rates, now) = (Rates::default(), Instant::now());
        let let_in = (0..3000).filter(|_| rates.lets_change("ann", now)).count();
        assert_eq!(let_in, 2000);
        assert!(rates.lets_change("bob", now));
        assert!(rates.lets_change("ann", now + Duration::from_secs(1)));
    }

    #[test]
    fn guesses_are_few() {
        let (rates, now) = (Rates::default(), Instant::now());
        assert_eq!((0..3000).filter(|_| rates.lets_guess(now)).count(), 50);
        assert!(rates.lets_sign_in(now), "who has a link still signs in");
    }
}
