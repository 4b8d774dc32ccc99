//! The line of an error that says what happened, as a pattern.

use super::fingerprint::fingerprint;
use super::pattern::{BadPattern, Pattern, SearchText};

/// The longest pattern that is made of an error.
const LONGEST: usize = 200;

/// Words by which the line that says it is known.
const SAYS: [&str; 14] = [
    "error",
    "errors",
    "failed",
    "failure",
    "fatal",
    "exception",
    "denied",
    "invalid",
    "unknown",
    "not found",
    "cannot",
    "can't",
    "unable",
    "missing",
];

/// What Aye writes before what a program wrote, where it shows an error.
const OUTPUT: &str = "output: ";

/// A pattern that finds this error again, whatever varies in it.
///
/// # Errors
/// When the error says too little to be known again.
pub fn pattern_of(error_text: &str) -> Result<Pattern, BadPattern> {
    let fingerprinted = fingerprint(salient_line(error_text));
    let fingerprinted = without_last_value(&fingerprinted);
    let end = match fingerprinted.len() {
        ..=LONGEST => fingerprinted.len(),
        _ => {
            let cut = fingerprinted.floor_char_boundary(LONGEST);
            fingerprinted[..cut].rfind(' ').unwrap_or(cut)
        }
    };
    Pattern::new(&fingerprinted[..end])
}

/// A pattern of what stands before and after values that were wrong, for any others in their
/// place; nothing where what stands before them says it all.
pub fn around_values(error_text: &str, wrong: &[&str]) -> Option<String> {
    let line = salient_line(error_text);
    let line = &line[..line.floor_char_boundary(LONGEST)];
    let value = wrong.iter().find(|value| fingerprint(line).contains(**value))?;
    let (_, after) = line.rsplit_once(value)?;
    if after.chars().filter(|c| c.is_alphabetic()).count() < 3 {
        return None;
    }
    let parts = line.split(value).map(|part| expression(&fingerprint(part)));
    let found = parts.collect::<Vec<_>>().join("\\s*\\S+?\\s*");
    Some(format!("/{found}/"))
}

/// A regular expression for a text with placeholders.
fn expression(fingerprinted: &str) -> String {
    let mut out = String::new();
    let mut rest = fingerprinted;
    while let Some(c) = rest.chars().next() {
        let placeholder = rest.strip_prefix('<').and_then(|inside| inside.split_once('>'));
        match placeholder {
            Some((name, after)) if name.bytes().all(|b| b.is_ascii_lowercase()) => {
                out.push_str(".+?");
                rest = after;
                continue;
            }
            _ if c == ' ' => out.push_str("\\s+"),
            _ if c.is_alphanumeric() || "_,;'\"<>".contains(c) => out.push(c),
            _ => out.extend(['\\', c]),
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Without the one word after the last colon, which is what the error is about
/// this time; numbers stay, because they may say what happened.
fn without_last_value(line: &str) -> &str {
    let Some((before, value)) = line.rsplit_once(": ") else { return line };
    let is_value = !value.trim().contains(' ') && !value.trim().bytes().all(|b| b.is_ascii_digit());
    let words =
        before.split_whitespace().filter(|word| !word.ends_with(':') && !word.contains('<'));
    match is_value && words.count() > 1 {
        true => before,
        false => line,
    }
}

/// The first line with a word that tells, else the last that says anything.
pub(super) fn salient_line(error_text: &str) -> &str {
    let all = || error_text.lines().map(str::trim).filter(|line| !line.is_empty());
    let all_added = all().all(is_added);
    let lines = all().filter(|line| all_added || !is_added(line));
    let mut lines = lines.map(|line| line.strip_prefix(OUTPUT).unwrap_or(line));
    let tells = |line: &&str| {
        let searched = SearchText::new(line);
        SAYS.iter().any(|word| searched.has(word)) || has_code(line)
    };
    lines.clone().find(tells).or_else(|| lines.next_back()).unwrap_or_default()
}

/// What Aye itself adds where it shows an error: its code, and what to do. A run compares
/// without these.
fn is_added(line: &str) -> bool {
    let code = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_code = |code: &str| code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    line.starts_with("hint: ") || code.is_some_and(is_code)
}

/// `ValueError: …`, `IOException: …`.
fn has_code(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    name.len() < line.len() && (name.ends_with("Error") || name.ends_with("Exception"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_it_is_taken() {
        let text = "Pulling image…\nError: manifest unknown: abc1234f\nsee the logs";
        assert_eq!(salient_line(text), "Error: manifest unknown: abc1234f");
        assert_eq!(salient_line("a\nb\n\n"), "b");
        assert_eq!(salient_line("Traceback\n  x\nValueError: no"), "ValueError: no");
        assert_eq!(salient_line(""), "");
    }

    #[test]
    fn the_pattern_finds_the_error_again() {
        let pattern = pattern_of("x\nError: image \"app\" at abc1234f is gone (took 3s)").unwrap();
        assert!(pattern.is_in("y\nz\nError: image \"web\" at 99887766aa is gone (took 12s)"));
        assert!(!pattern.is_in("Error: image \"web\" is there"));
    }

    #[test]
    fn what_it_is_about_this_time_is_left_out() {
        for (error, pattern) in [
            ("Error: manifest unknown: abc123", "Error: manifest unknown"),
            ("manifest unknown: quay.io/x/app:9f8e7d6", "manifest unknown"),
            ("Error: no such channel: nightly", "Error: no such channel"),
            ("fatal: Authentication failed", "fatal: Authentication failed"),
            ("Error: EOF", "Error: EOF"),
            ("process failed with code: 137", "process failed with code: 137"),
        ] {
            assert_eq!(pattern_of(error).unwrap().as_str(), pattern, "{error}");
        }
    }

    #[test]
    fn what_aye_adds_to_an_error_is_not_what_it_is_known_by() {
        for (shown, pattern) in [
            ("exit code 1\noutput: manifest unknown: abc123", "manifest unknown"),
            ("[tool_unknown]\nthe call failed: no\nhint: write a missing one", "the call failed"),
            ("exit code 3\noutput: Pulling\nno space on the disk\n", "no space on the disk"),
            ("hint: the name is missing", "hint: the name is missing"),
            ("exit code 2", "exit code 2"),
        ] {
            assert_eq!(pattern_of(shown).unwrap().as_str(), pattern, "{shown}");
        }
    }

    #[test]
    fn what_stands_after_a_wrong_value_counts_too() {
        let error = "dial tcp: lookup registry.example.org: no such host";
        let pattern = around_values(error, &["registry.example.org"]).unwrap();
        let pattern = Pattern::new(&pattern).unwrap();
        assert!(pattern.is_in("push:\ndial tcp: lookup other.example.net: no such host\n"));
        assert!(!pattern.is_in("dial tcp 10.0.0.1:443: connect: connection refused"));
        assert!(!pattern.is_in("dial tcp: lookup other.example.net: timed out"));
        let error = "it failed: 12 files of nightly (x86/64) are gone";
        let pattern = Pattern::new(&around_values(error, &["nightly"]).unwrap()).unwrap();
        assert!(pattern.is_in("it failed: 3 files of stable (x86/64) are gone"));
        // What stands before the value says it all.
        assert_eq!(around_values("Error: no such channel: nightly", &["nightly"]), None);
        assert_eq!(around_values(error, &["beta"]), None);
    }

    #[test]
    fn a_long_error_is_cut_between_words() {
        let pattern = pattern_of(&format!("error {}", "wörd ".repeat(100))).unwrap();
        assert!(pattern.as_str().len() <= LONGEST);
        assert!(pattern.as_str().ends_with("wörd"));
    }

    #[test]
    fn an_error_that_says_nothing_has_no_pattern() {
        assert!(pattern_of("").is_err());
        assert!(pattern_of("1").is_err());
    }
}
