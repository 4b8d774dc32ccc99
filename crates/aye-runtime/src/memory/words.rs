//! Finding words in a text: whole ones, so that "MR !1403" is no 403 and
//! "typeof" no EOF.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use aye_core::heal::{contains_words, fold};
use regex_lite::{Regex, RegexBuilder};

use super::fingerprint::fingerprint;

/// How large a compiled expression may be: many are compared with one error.
const LARGEST: usize = 1 << 16;

/// Fewer letters and digits than this outside placeholders say nothing.
const FEWEST: usize = 3;
/// An error says what it says at its beginning and at its end; so much of each
/// is looked at.
const END: usize = 8 * 1024;

/// What errors are recognised by. Written as plain text: found whatever the
/// case, as whole words, any white space between them. `/…/` is a regular
/// expression. Placeholders such as `<n>` stand for what [`fingerprint`] puts them
/// for.
#[derive(Debug, Clone)]
pub struct Pattern {
    written: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Words(String),
    Regex(Regex),
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// It would be found nearly everywhere.
    #[error(
        "the pattern `{0}` would match nearly everything: write at least {FEWEST} letters or digits"
    )]
    TooShort(String),
    /// It is no regular expression.
    #[error("the pattern `{0}` is no regular expression: {1}")]
    Regex(String, String),
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it would match nearly everything, or is no regular expression.
    pub fn new(written: &str) -> Result<Self, BadPattern> {
        let written = written.trim();
        if let Some(inner) = written.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'))
            && inner.contains(|c: char| "\\^$.|?*+()[]{}".contains(c))
        {
            let regex = RegexBuilder::new(&format!("(?i){inner}"))
                .size_limit(LARGEST)
                .build()
                .map_err(|error| BadPattern::Regex(written.to_owned(), error.to_string()))?;
            if regex.is_match("") {
                return Err(BadPattern::TooShort(written.to_owned()));
            }
            return Ok(Self { written: written.to_owned(), kind: Kind::Regex(regex) });
        }
        if salient_line(written) < FEWEST {
            return Err(BadPattern::TooShort(written.to_owned()));
        }
        Ok(Self { written: written.to_owned(), kind: Kind::Words(fold(written)) })
    }

    /// Whether it is in the text.
    pub fn is_in(&self, text: &str) -> bool {
        self.is_told(&Told::new(text))
    }

    /// Whether it is in a text that many patterns are looked for in.
    pub(super) fn is_told(&self, text: &Told<'_>) -> bool {
        match &self.kind {
            Kind::Regex(regex) => regex.is_match(&text.raw),
            Kind::Words(words) => {
                contains_words(text.folded(), words)
                    || words.contains('<') && contains_words(text.fingerprinted(), words)
            }
        }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// A text to look for patterns in; what they need of it is made once.
#[derive(Debug)]
pub(super) struct Told<'a> {
    raw: Cow<'a, str>,
    folded: OnceCell<String>,
    fingerprinted: OnceCell<String>,
}

impl<'a> Told<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let raw = if text.len() <= 2 * END {
            Cow::Borrowed(text)
        } else {
            let first = &text[..text.floor_char_boundary(END)];
            let last = &text[text.ceil_char_boundary(text.len() - END)..];
            Cow::Owned(format!("{first}\n{last}"))
        };
        Self { raw, folded: OnceCell::new(), fingerprinted: OnceCell::new() }
    }

    /// What is looked at, as it was.
    pub(super) fn raw(&self) -> &str {
        &self.raw
    }

    /// Whether these words, in lower case, are in it.
    pub(super) fn has(&self, words: &str) -> bool {
        contains_words(self.folded(), words)
    }

    fn folded(&self) -> &str {
        self.folded.get_or_init(|| fold(&self.raw))
    }

    fn fingerprinted(&self) -> &str {
        self.fingerprinted.get_or_init(|| fold(&fingerprint(&self.raw)))
    }
}

/// How many letters and digits stand outside placeholders.
fn salient_line(text: &str) -> usize {
    let mut inside = false;
    text.chars()
        .filter(|&c| {
            inside = c == '<' || inside && c != '>';
            !inside && c.is_alphanumeric()
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).expect("a pattern").is_in(text)
    }

    #[test]
    fn only_whole_words_are_found() {
        assert!(!found("403", "MR !1403 not found"));
        assert!(!found("eof", "typeof x is not a function"));
        assert!(!found("author", "unauthorized"));
        assert!(found("403", "HTTP 403"));
        assert!(found("unexpected EOF", "read: unexpected   eof\n"));
        assert!(found("manifest unknown", "Error: MANIFEST\n  unknown: not there"));
    }

    #[test]
    fn a_border_is_only_wanted_where_the_pattern_has_a_letter() {
        assert!(found("!1403", "MR !1403 not found"));
        assert!(found("error:", "error:something"));
        assert!(found("größe", "die GRÖSSE oder größe"));
        assert!(!found("größ", "die größe"));
    }

    #[test]
    fn a_later_place_counts_when_the_first_is_inside_a_word() {
        assert!(found("eof", "typeof, then eof"));
    }

    #[test]
    fn of_a_long_text_both_ends_are_looked_at() {
        let long = format!("disk full {}quota over", "é ".repeat(100_000));
        assert!(found("disk full", &long) && found("quota over", &long));
        let inside = format!("{0}disk full {0}", "é ".repeat(100_000));
        assert!(!found("disk full", &inside));
    }

    #[test]
    fn placeholders_stand_for_what_varies() {
        assert!(found("pod <name> not found", "pod \"web-1\" not found"));
        assert!(found("timed out after <n>", "timed out after 30s"));
        assert!(!found("pod <name> not found", "pod was not found"));
    }

    #[test]
    fn regular_expressions_stand_between_slashes() {
        assert!(found("/exit (1|2)$/", "Exit 2"));
        assert!(!found("/exit (1|2)$/", "exit 23"));
        // A path is no regular expression.
        assert!(found("/var/run/", "no such file: /var/run/"));
        assert!(matches!(Pattern::new("/(/"), Err(BadPattern::Regex(..))));
        assert!(matches!(Pattern::new("/x*/"), Err(BadPattern::TooShort(_))));
    }

    #[test]
    fn a_pattern_that_matches_everything_is_refused() {
        for text in ["", "  ", "<n>", "a", "<name>: <n>", "--"] {
            assert!(matches!(Pattern::new(text), Err(BadPattern::TooShort(_))), "{text}");
        }
    }
}
