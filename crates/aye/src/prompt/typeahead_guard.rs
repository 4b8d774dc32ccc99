//! The rest of a word whose first letter was the answer.
//!
//! Who is used to typing `yes` and Enter has answered with the `y` and goes
//! on typing. Those keys are for the question that is gone, not for the next
//! one, where Enter might be the default.

use std::time::{Duration, Instant};

use super::key::Key;

/// Nobody reads a question and answers it faster than this.
const PACE: Duration = Duration::from_millis(400);

/// A key that is held down does not repeat more often before it is noticed.
const REPEATS: usize = 32;

/// What may still come.
#[derive(Debug, Default)]
pub struct TypeaheadGuard {
    rest: Vec<Key>,
    last: Option<Instant>,
}

impl TypeaheadGuard {
    /// This key was an answer.
    pub fn begin(&mut self, key: &Key, now: Instant) {
        self.rest = match key {
            Key::Char('y' | 'Y') => vec![Key::Char('e'), Key::Char('s'), Key::Enter],
            Key::Char('n' | 'N') => vec![Key::Char('o'), Key::Enter],
            Key::Enter => vec![Key::Enter; REPEATS],
            _ => Vec::new(),
        };
        self.last = Some(now);
    }

    /// Removes what belongs to the answer before.
    pub fn strip(&mut self, keys: &mut Vec<Key>, now: Instant) {
        let late = self.last.is_none_or(|last| now.duration_since(last) > PACE);
        if late || self.rest.is_empty() {
            self.rest.clear();
            return;
        }
        let belongs = |key: &Key, wanted: &Key| match (key, wanted) {
            (Key::Char(key), Key::Char(wanted)) => key.eq_ignore_ascii_case(wanted),
            (key, wanted) => key == wanted,
        };
        let count =
            keys.iter().zip(&self.rest).take_while(|(key, rest)| belongs(key, rest)).count();
        keys.drain(..count);
        self.rest.drain(..count);
        self.last = Some(now);
        if !keys.is_empty() {
            self.rest.clear();
        }
    }
}
