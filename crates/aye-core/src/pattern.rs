//! Regular expressions that others wrote, and what they may cost.
//!
//! Comparing takes time that grows with the length of the text times the size
//! of the compiled expression, and a short expression can be a large one.

use regex_lite::RegexBuilder;

/// What may be spent, in bytes of compiled expression times bytes of text:
/// some tenths of a second.
const MOST: usize = 1 << 30;

/// Compiling costs as much as comparing a text of this length.
const COMPILING: usize = 16;

/// How large an expression may get; each size is tried before the next.
const SIZES: [usize; 9] =
    [1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20];

/// Why a text could not be compared.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BadPattern {
    /// It cannot be compiled, or gets too large.
    #[error(transparent)]
    Invalid(#[from] regex_lite::Error),
    /// Nothing is left to spend on it.
    #[error("comparing with it takes too long")]
    TooMuch,
}

/// What may still be spent on expressions.
#[derive(Debug, Clone)]
pub struct Work {
    left: usize,
}

impl Default for Work {
    fn default() -> Self {
        Self { left: MOST }
    }
}

impl Work {
    /// Whether the text matches.
    ///
    /// # Errors
    /// When the pattern is not a regular expression, or takes too long.
    pub fn is_match(&mut self, pattern: &str, text: &str) -> Result<bool, BadPattern> {
        let mut failed = BadPattern::TooMuch;
        for size in SIZES {
            let cost = size.saturating_mul(text.len().saturating_add(COMPILING));
            self.left = self.left.checked_sub(cost).ok_or(BadPattern::TooMuch)?;
            match RegexBuilder::new(pattern).size_limit(size).build() {
                Ok(regex) => return Ok(regex.is_match(text)),
                Err(error) => failed = error.into(),
            }
            // Nothing was compared.
            self.left += size.saturating_mul(text.len());
        }
        Err(failed)
    }

    /// Whether the pattern can be used at all.
    ///
    /// # Errors
    /// When it is not a regular expression, or takes too long.
    pub fn check(&mut self, pattern: &str) -> Result<(), BadPattern> {
        self.is_match(pattern, "").map(drop)
    }
}

/// Whether one text matches; what cannot be compared does not.
pub fn is_match(pattern: &str, text: &str) -> bool {
    Work::default().is_match(pattern, text).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_and_usual_patterns_are_compared() {
        assert!(is_match("^[0-9a-f]{40}$", &"a1".repeat(20)));
        assert!(is_match("^.{1,2000}$", &"x".repeat(2000)));
        assert!(!is_match("^.{1,2000}$", &"x".repeat(2001)));
        assert!(is_match("^[a-z ]*$", &"long text ".repeat(1000)));
        assert!(Work::default().check("(").is_err());
    }

    #[test]
    fn what_would_take_too_long_is_refused() {
        let text = "a".repeat(200_000);
        let refused = Work::default().is_match(r"^(\w{1,1000}){1,5}$", &text);
        assert!(matches!(refused, Err(BadPattern::TooMuch)), "{refused:?}");
        let nested = Work::default().check("((((a{1000}){1000}){1000}){1000})");
        assert!(matches!(nested, Err(BadPattern::Invalid(_))), "{nested:?}");
        // Many small ones add up.
        let mut work = Work::default();
        let compiled = (0..100_000).take_while(|_| work.check("(a{1000}){5}").is_ok()).count();
        assert!(compiled < 200, "{compiled}");
    }
}
