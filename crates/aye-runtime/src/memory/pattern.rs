//! Finding words in a text: whole ones, so that "MR !1403" is not a 403 and
//! "typeof" no EOF.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::LazyLock;

use aye_core::heal::{contains_words, fold};
use regex_lite::{Regex, RegexBuilder};

use super::fingerprint::fingerprint;

/// How large a compiled expression may be; each size is tried before the next,
/// and so says what comparing with it costs.
const SIZES: [usize; 8] = [1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16];
/// How long a regular expression may be.
const LONGEST: usize = 4 * 1024;
/// How many regular expressions of a file count.
pub(super) const MOST_REGEXES: usize = 500;
/// What may be spent on comparing regular expressions with one error, in bytes
/// of compiled expression times bytes of text: some tenths of a second.
pub(super) const MOST_WORK: usize = 1 << 30;

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
    Regex { regex: Regex, size: usize },
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// It would be found nearly everywhere.
    #[error(
        "the pattern `{0}` would match nearly everything: write at least {FEWEST} letters or digits"
    )]
    TooShort(String),
    /// It is not a regular expression.
    #[error("the pattern `{0}` is not a regular expression: {1}")]
    Regex(String, String),
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it would match nearly everything, or is not a regular expression.
    pub fn new(written: &str) -> Result<Self, BadPattern> {
        let written = written.trim();
        if let Some(inner) = regex_in(written) {
            let (regex, size) =
                compile(inner).map_err(|error| BadPattern::Regex(shortened(written), error))?;
            if regex.is_match("") {
                return Err(BadPattern::TooShort(written.to_owned()));
            }
            return Ok(Self { written: written.to_owned(), kind: Kind::Regex { regex, size } });
        }
        if count_letters(written) < FEWEST {
            return Err(BadPattern::TooShort(written.to_owned()));
        }
        Ok(Self { written: written.to_owned(), kind: Kind::Words(fold(written)) })
    }

    /// Whether it is in the text.
    pub fn is_in(&self, text: &str) -> bool {
        self.is_in_text(&SearchText::new(text))
    }

    /// Whether it is in a text that many patterns are looked for in.
    pub(super) fn is_in_text(&self, text: &SearchText<'_>) -> bool {
        match &self.kind {
            Kind::Regex { regex, size } => text.may_spend(*size) && regex.is_match(&text.raw),
            Kind::Words(words) => {
                contains_words(text.folded(), words)
                    || words.contains('<') && contains_words(text.fingerprinted(), words)
            }
        }
    }

    /// What comparing it with a long error takes of [`MOST_WORK`].
    pub(super) fn work(&self) -> usize {
        match &self.kind {
            Kind::Regex { size, .. } => size.saturating_mul(2 * END),
            Kind::Words(_) => 0,
        }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }
}

/// The regular expression that is written between slashes; a path is none.
pub(super) fn regex_in(written: &str) -> Option<&str> {
    let inner = written.trim().strip_prefix('/')?.strip_suffix('/')?;
    inner.contains(|c: char| "\\^$.|?*+()[]{}".contains(c)).then_some(inner)
}

/// Whether a pattern is written as a regular expression without saying so: it
/// would be looked for as it stands.
pub fn looks_like_regex(written: &str) -> bool {
    let signs = [".*", ".+", "(?", "[^"];
    let is_sign = |expression: &LazyLock<Option<Regex>>| {
        expression.as_ref().is_some_and(|expression| expression.is_match(written))
    };
    regex_in(written).is_none()
        && (signs.iter().any(|sign| written.contains(sign))
            || written.starts_with('^')
            || written.ends_with('$') && !written.ends_with(" $")
            || written.contains('|') && !written.contains(" | ") && !written.contains("||")
            || is_sign(&SIGNS))
}

/// What plain text does not have: an escape; a class of characters with a range or of
/// letters in both cases; `x?` and `x+` with more behind them; a count; a group that
/// is repeated or has alternatives.
static SIGNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\\[dswbDSWB.()\[\]{}+*?$^/|-]",
        r"|\[(?:[^\]]*\w-\w[^\]]*|[a-zA-Z]{2}|[^\]\s\w]+)\][\w*+?{]",
        r"|\[(?:Aa|Bb|Cc|Dd|Ee|Ff|Gg|Hh|Ii|Jj|Kk|Ll|Mm|Nn|Oo|Pp|Qq|Rr|Ss|Tt|Uu|Vv|Ww|Xx|Yy|Zz)\]",
        r"|\[(?:a-z|A-Z|0-9)",
        r"|[\w\])][?+][\w(\[]",
        r"|\w[?] \w",
        r"|\w\+(?:$| )",
        r"|[\w\])]\{\d+(?:,\d*)?\}",
        r"|\)[?*+{]",
        r"|\([^()]*\|[^()]*\)",
    ))
    .ok()
});

/// The regular expression that a value has to match, if it is one.
pub(super) fn form(written: &str) -> Option<Regex> {
    compile(written).ok().map(|(regex, _)| regex)
}

/// The expression, and how large it is at most.
fn compile(inner: &str) -> Result<(Regex, usize), String> {
    if inner.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let folded = format!("(?i){inner}");
    let mut failed = String::new();
    for size in SIZES {
        match RegexBuilder::new(&folded).size_limit(size).build() {
            Ok(regex) => return Ok((regex, size)),
            Err(error) => failed = error.to_string(),
        }
    }
    Err(failed)
}

fn shortened(written: &str) -> String {
    match written.len() {
        ..=LONGEST => written.to_owned(),
        _ => format!("{}…", &written[..written.floor_char_boundary(40)]),
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// A text to look for patterns in; what they need of it is made once.
#[derive(Debug)]
pub(super) struct SearchText<'a> {
    raw: Cow<'a, str>,
    /// What may still be spent on regular expressions.
    left: Cell<usize>,
    folded: OnceCell<String>,
    fingerprinted: OnceCell<String>,
}

impl<'a> SearchText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let raw = if text.len() <= 2 * END {
            Cow::Borrowed(text)
        } else {
            let first = &text[..text.floor_char_boundary(END)];
            let last = &text[text.ceil_char_boundary(text.len() - END)..];
            Cow::Owned(format!("{first}\n{last}"))
        };
        let (folded, fingerprinted) = (OnceCell::new(), OnceCell::new());
        Self { raw, left: Cell::new(MOST_WORK), folded, fingerprinted }
    }

    /// Whether an expression of this size may still be compared.
    fn may_spend(&self, size: usize) -> bool {
        let left = self.left.get().checked_sub(size.saturating_mul(self.raw.len()));
        self.left.set(left.unwrap_or_default());
        left.is_some()
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
fn count_letters(text: &str) -> usize {
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
        // A path is not a regular expression.
        assert!(found("/var/run/", "no such file: /var/run/"));
        assert!(matches!(Pattern::new("/(/"), Err(BadPattern::Regex(..))));
        assert!(matches!(Pattern::new("/x*/"), Err(BadPattern::TooShort(_))));
    }

    #[test]
    fn what_reads_like_an_expression_is_noticed() {
        for written in [
            "unauthor.*",
            "exit \\d",
            "colou?r",
            "errors? found",
            "(a|b) failed",
            "(no )?such file",
            "[Ee]rror in",
            "[a-f]+ unknown",
            "a{3}",
            "x{2,}",
            "foo\\.bar",
            "lo+ng",
            "many+",
            "^begin",
            "a|b",
        ] {
            assert!(looks_like_regex(written), "{written}");
        }
        for written in [
            "manifest unknown",
            "(exit code 1)",
            "[ERROR] no such file",
            "C++ compiler failed",
            "what happened?",
            "a | b",
            "cost: 5$ for <n>",
            "{name} is unknown",
            "pod [web-1]",
            "file (no such)",
            "/a regular expres+ion/",
            "~/.kube/config",
        ] {
            assert!(!looks_like_regex(written), "{written}");
        }
    }

    #[test]
    fn comparing_many_expressions_has_an_end() {
        let text = format!("{}\nexit 2", "a".repeat(60_000));
        let searched = SearchText::new(&text);
        let simple = Pattern::new("/exit [0-9]+/").expect("a pattern");
        assert!(simple.is_in_text(&searched));
        let hostile = Pattern::new("/(a|a|aa)*(a*)*7[ab]{200}c/").expect("a pattern");
        let compared = (0..MOST_REGEXES).filter(|_| {
            let before = searched.left.get();
            // Counted, not compared: a test may not take as long as what it prevents.
            let Kind::Regex { size, .. } = &hostile.kind else { return false };
            searched.may_spend(*size) && searched.left.get() < before
        });
        let compared = compared.count();
        assert!(compared > 0 && compared < 20, "{compared}");
        assert!(!simple.is_in_text(&searched), "nothing is left");
        assert!(simple.is_in_text(&SearchText::new(&text)), "the next error has its own");
        // Words cost next to nothing.
        assert!(Pattern::new("exit 2").expect("a pattern").is_in_text(&searched));
    }

    #[test]
    fn an_expression_has_a_largest_size() {
        for text in [format!("/{}+/", "a".repeat(LONGEST)), "/((a{1000}){1000}){1000}/".to_owned()]
        {
            let refused = Pattern::new(&text).expect_err("too large");
            assert!(matches!(refused, BadPattern::Regex(..)), "{refused}");
            assert!(refused.to_string().len() < 300, "{refused}");
        }
    }

    #[test]
    fn a_pattern_that_matches_everything_is_refused() {
        for text in ["", "  ", "<n>", "a", "<name>: <n>", "--"] {
            assert!(matches!(Pattern::new(text), Err(BadPattern::TooShort(_))), "{text}");
        }
    }
}
