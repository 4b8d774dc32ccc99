//! Heal rules: a known error, a repair, and another try.
//!
//! Matching is by whole words: `403` is in `HTTP 403`, and not in `MR !1403`;
//! `EOF` is in `unexpected EOF`, and not in `typeof`.

use crate::word_enum;

/// Which failures a rule is for: everything that is given has to fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HealMatch {
    /// A tool; `*` stands for anything.
    pub tool: Option<String>,
    /// A program, by its name.
    pub command: Option<String>,
    /// A step, by its name; `*` stands for anything.
    pub step: Option<String>,
    /// One of these is in what went wrong, as whole words.
    pub errors: Vec<String>,
    /// Exit codes.
    pub codes: Vec<i32>,
    /// A kind of error that is known without rules.
    pub category: Option<Category>,
}

word_enum! {
    /// Kinds of errors that are known without rules.
    #[derive(schemars::JsonSchema)]
    #[schemars(inline)]
    pub enum Category {
        /// Not logged in, or no longer.
        Auth = "auth",
        /// The other side cannot be reached.
        Network = "network",
        /// An image that is not there or may not be had.
        Registry = "registry",
        /// A program that wants a terminal.
        Tty = "tty",
        /// Something else.
        Custom = "custom",
    }
}

impl Category {
    /// What programs print in earnest when it happens: phrases, never a bare
    /// number or a short word.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Auth => &[
                "unauthorized",
                "unauthenticated",
                "forbidden",
                "token expired",
                "token has expired",
                "token is expired",
                "expired token",
                "invalid token",
                "session expired",
                "credentials expired",
                "authentication required",
                "authentication failed",
                "not authorized",
                "not logged in",
                "please log in",
                "login required",
                "permission denied (publickey)",
                "asked for the client to provide credentials",
                "asked for credentials",
                "could not read username",
                "bad credentials",
            ],
            Self::Network => &[
                "no route to host",
                "connection refused",
                "connection reset",
                "connection timed out",
                "connection closed by remote host",
                "network is unreachable",
                "network unreachable",
                "host is unreachable",
                "i/o timeout",
                "tls handshake timeout",
                "could not resolve host",
                "temporary failure in name resolution",
                "name or service not known",
                "no such host",
                "cannot connect",
                "failed to connect",
                "could not connect",
                "unexpected eof",
                "operation timed out",
                "request timed out",
                "econnrefused",
                "econnreset",
                "etimedout",
                "enotfound",
                "eai_again",
            ],
            Self::Registry => &[
                "manifest unknown",
                "manifest not found",
                "pull access denied",
                "image not found",
                "registry authentication",
                "podman login",
                "docker login",
                "toomanyrequests",
                "imagepullbackoff",
                "errimagepull",
            ],
            Self::Tty => &[
                "not a tty",
                "not a terminal",
                "not a typewriter",
                "inappropriate ioctl for device",
                "cannot open /dev/tty",
                "no tty present",
                "a terminal is required",
            ],
            Self::Custom => &[],
        }
    }

    /// The kind of this error, if it is one that is known.
    pub fn of(error: &str) -> Option<Self> {
        // A registry that wants a login is a matter of the registry; a program
        // that wants a terminal is not unreachable.
        let order = [Self::Registry, Self::Tty, Self::Auth, Self::Network];
        order.into_iter().find(|kind| kind.is_in(error))
    }

    /// Whether the error is of this kind.
    pub fn is_in(self, error: &str) -> bool {
        let folded = fold(error);
        let status = |codes: &[&str]| statuses(error).any(|code| codes.contains(&code));
        self.words().iter().any(|words| contains_words(&folded, words))
            || match self {
                Self::Auth => status(&["401", "403"]),
                // The way there is broken, not the request.
                Self::Network => status(&["502", "503", "504"]),
                Self::Registry | Self::Tty | Self::Custom => false,
            }
    }
}

/// The status codes of a text: three digits where a status stands, after a word
/// that says so, or all there is. "RuntimeError: 401" and "HTTP/1.1 503", not
/// "line 401", "!403" or "403 files".
fn statuses(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(['4', '5']).filter_map(move |(at, _)| {
        let code = text.get(at..at + 3).filter(|code| code.bytes().all(|b| b.is_ascii_digit()))?;
        let (before, after) = (&text[..at], &text[at + 3..]);
        let ends = match after.chars().next() {
            None => true,
            Some('.') => after[1..].chars().next().is_none_or(char::is_whitespace),
            Some(c) => c.is_whitespace() || ")]\"',;:".contains(c),
        };
        let separators = |c: char| c.is_whitespace() || ":=(\"'".contains(c);
        let said = before.trim_end_matches(separators);
        let apart = said.len() < before.len();
        let alone = said.is_empty() && after.trim().is_empty();
        (ends && (alone || apart && says_status(said))).then_some(code)
    })
}

/// Whether the last word of a text announces a status.
fn says_status(text: &str) -> bool {
    let mut words = text.rsplit(|c: char| !(c.is_alphanumeric() || "_-/.".contains(c)));
    let last = words.next().unwrap_or_default().to_lowercase();
    let mut is_exit = || words.next().is_some_and(|word| word.eq_ignore_ascii_case("exit"));
    match last.as_str() {
        "http" | "https" | "statuscode" | "status_code" | "status-code" | "response"
        | "returned" | "http_code" => true,
        "status" | "code" => !is_exit(),
        last => last.starts_with("http/") || last.ends_with("error") || last.ends_with("exception"),
    }
}

/// What failed, and how.
#[derive(Debug, Clone, Copy)]
pub struct Failing<'a> {
    /// The step.
    pub step: &'a str,
    /// The tool it called.
    pub tool: Option<&'a str>,
    /// The program it ran.
    pub program: Option<&'a str>,
    /// What it said.
    pub error: &'a str,
    /// How it ended.
    pub code: Option<i32>,
}

impl HealMatch {
    /// Whether it looks at anything at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the rule can be for a failure of this step, whatever it says.
    pub fn could_fit(&self, step: &str, tool: Option<&str>, program: Option<&str>) -> bool {
        let named = |wanted: &Option<String>, found: Option<&str>| match wanted {
            None => true,
            Some(wanted) => found.is_some_and(|found| like(wanted, found)),
        };
        let program = program.map(|path| path.rsplit('/').next().unwrap_or(path));
        named(&self.tool, tool) && named(&self.command, program) && named(&self.step, Some(step))
    }

    /// Whether the rule is for this failure.
    pub fn fits(&self, failing: &Failing<'_>) -> bool {
        self.could_fit(failing.step, failing.tool, failing.program)
            && (self.errors.is_empty()
                || self.errors.iter().any(|words| has_words(failing.error, words)))
            && (self.codes.is_empty()
                || failing.code.is_some_and(|code| self.codes.contains(&code)))
            && self.category.is_none_or(|wanted| Category::of(failing.error) == Some(wanted))
    }
}

/// Whether a text holds these words, whole and in this order; case and the
/// kind of blanks between them do not matter.
pub fn has_words(text: &str, words: &str) -> bool {
    contains_words(&fold(text), &fold(words))
}

/// A text as words are looked for in it: lower case, one blank between words.
pub fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The same as [`has_words`] for what is folded already.
pub fn contains_words(text: &str, words: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (Some(first), Some(last)) = (words.chars().next(), words.chars().next_back()) else {
        return false;
    };
    text.match_indices(words).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        let begins = !is_word(first) || !before.is_some_and(is_word);
        let ends = !is_word(last) || !after.is_some_and(is_word);
        begins && ends
    })
}

/// Whether a name is like a pattern in which `*` stands for anything.
fn like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            match rest.find(part) {
                Some(at) => rest = &rest[at + str::len(part)..],
                None => return false,
            }
        }
    }
    match last {
        None => rest.is_empty(),
        Some(part) => rest.ends_with(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert!(has_words("HTTP 403 Forbidden", "403"));
        assert!(!has_words("MR !1403 not found", "403"));
        assert!(has_words("read: unexpected EOF", "eof"));
        assert!(!has_words("typeof x is not a function", "eof"));
        assert!(has_words("Connection\n  refused", "connection refused"));
        assert!(has_words("error: (unauthorized)", "Unauthorized"));
        assert!(!has_words("anything", " "));
        assert!(has_words("code=[E42]!", "[e42]"));
    }

    #[test]
    fn known_misfires_do_not_happen() {
        for text in [
            "MR !1403 not found",
            "MR !403 not found",
            "typeof x is not a function",
            "line 401: syntax error",
            "the author is unknown",
            "took 403 ms",
            "see issue #503",
            "12 passed, 0 failed, timeout set to 30s",
            "1.401.2",
            "403 files were changed",
            "exit code 401",
            "exit status: 503",
            "port 5030 and 4010",
            "EOF marker written",
        ] {
            assert_eq!(Category::of(text), None, "{text}");
        }
    }

    #[test]
    fn what_used_to_be_missed_is_found() {
        for text in [
            "Unauthorized",
            "RuntimeError: 401",
            "error: 403",
            "HTTP/1.1 401 ",
            "401",
            "curl: (22) The requested URL returned error: 403",
        ] {
            assert_eq!(Category::of(text), Some(Category::Auth), "{text}");
        }
        for text in ["dial tcp 10.0.0.1:443: i/o timeout", "status code: 503", "ECONNREFUSED"] {
            assert_eq!(Category::of(text), Some(Category::Network), "{text}");
        }
        assert_eq!(Category::of("manifest unknown: x"), Some(Category::Registry));
        assert_eq!(Category::of("the input device is not a TTY"), Some(Category::Tty));
    }

    #[test]
    fn a_file_that_may_not_be_read_is_no_login() {
        assert_eq!(Category::of("open /etc/shadow: permission denied"), None);
        let denied = "git@host: Permission denied (publickey).";
        assert_eq!(Category::of(denied), Some(Category::Auth));
    }

    #[test]
    fn names_may_be_patterns() {
        assert!(like("k8s.*", "k8s.get_pods"));
        assert!(like("*", "x"));
        assert!(like("a*c*e", "abcde"));
        assert!(!like("a*c*e", "abcdx"));
        assert!(!like("k8s.*", "git.push"));
        assert!(like("git", "git") && !like("git", "gitk"));
        assert!(!like("ab*ab", "ab"));
    }

    #[test]
    fn everything_that_is_given_has_to_fit() {
        let rule = HealMatch {
            command: Some("kubectl".to_owned()),
            errors: vec!["unauthorized".to_owned()],
            codes: vec![1],
            ..HealMatch::default()
        };
        let failing = Failing {
            step: "a",
            tool: None,
            program: Some("/usr/bin/kubectl"),
            error: "error: Unauthorized",
            code: Some(1),
        };
        assert!(rule.fits(&failing));
        assert!(!rule.fits(&Failing { code: Some(2), ..failing }));
        assert!(!rule.fits(&Failing { program: Some("oc"), ..failing }));
        assert!(!rule.fits(&Failing { error: "denied", ..failing }));
    }
}
