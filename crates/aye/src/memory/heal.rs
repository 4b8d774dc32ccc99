//! Which errors a repair could help with.
//!
//! The built-in patterns are what programs print in earnest when a session ran
//! out or the network is away; each is a phrase or a status code in a place
//! where a status stands, never a bare number or a short word.

use serde::{Deserialize, Serialize};

use super::names::tool_fits;
use super::words::{Pattern, Told};

/// What kind of trouble it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Nobody is logged in, or not as somebody who may.
    Auth,
    /// The other side cannot be reached.
    Network,
    /// A registry of images or packages does not give what it should.
    Registry,
    /// The program wants a terminal and has none.
    Tty,
    /// What the rule's own pattern says.
    Custom,
}

impl Category {
    /// The word used in files and listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Network => "network",
            Self::Registry => "registry",
            Self::Tty => "tty",
            Self::Custom => "custom",
        }
    }
}

/// What a rule is used for.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// Only for these tools or programs; a name, or the beginning of one.
    pub tools: Vec<String>,
    /// Only for errors of this kind; its built-in patterns are used.
    pub category: Option<Category>,
    /// Only for errors with one of these in them.
    pub patterns: Vec<Pattern>,
    /// Only for these exit codes.
    pub exit_codes: Vec<i32>,
}

/// Whether a rule is for this failure, and which kind of trouble it is then.
/// Everything the rule names has to fit; a rule that names neither kind nor
/// pattern nor exit code is for nothing.
pub fn matches(
    rule: &Rule,
    tool_or_command: &str,
    error_text: &str,
    exit_code: Option<i32>,
) -> Option<Category> {
    let names_nothing =
        rule.category.is_none() && rule.patterns.is_empty() && rule.exit_codes.is_empty();
    let tool = rule.tools.is_empty()
        || rule.tools.iter().any(|tool| tool_fits(tool, tool_or_command).is_some());
    let code = rule.exit_codes.is_empty()
        || exit_code.is_some_and(|exit_code| rule.exit_codes.contains(&exit_code));
    if names_nothing || !tool || !code {
        return None;
    }
    let told = Told::new(error_text);
    let written = rule.patterns.iter().any(|pattern| pattern.is_told(&told));
    match rule.category {
        // Its own patterns come on top of those built in.
        Some(category) if category != Category::Custom => {
            (written || tells(category, &told)).then_some(category)
        }
        Some(_) | None => (written || rule.patterns.is_empty()).then_some(Category::Custom),
    }
}

/// What kind of trouble a text tells of, by the built-in patterns. A registry
/// that wants a login is a matter of the registry; a program that wants a
/// terminal is not unreachable.
pub fn classify(error_text: &str) -> Option<Category> {
    let told = Told::new(error_text);
    [Category::Registry, Category::Tty, Category::Auth, Category::Network]
        .into_iter()
        .find(|category| tells(*category, &told))
}

/// Whether the text has one of the built-in patterns of the kind.
pub(super) fn tells(category: Category, told: &Told<'_>) -> bool {
    let status = |codes: &[&str]| statuses(told.raw()).any(|code| codes.contains(&code));
    patterns(category).iter().any(|words| told.has(words))
        || match category {
            Category::Auth => status(&["401", "403"]),
            // The way there is broken, not the request.
            Category::Network => status(&["502", "503", "504"]),
            Category::Registry | Category::Tty | Category::Custom => false,
        }
}

/// The built-in patterns: whole words, whatever the case.
pub fn patterns(category: Category) -> &'static [&'static str] {
    match category {
        Category::Auth => &[
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
        Category::Network => &[
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
        Category::Registry => &[
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
        Category::Tty => &[
            "not a tty",
            "not a terminal",
            "not a typewriter",
            "inappropriate ioctl for device",
            "cannot open /dev/tty",
            "no tty present",
            "a terminal is required",
        ],
        Category::Custom => &[],
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

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(classify(text), None, "{text}");
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
            assert_eq!(classify(text), Some(Category::Auth), "{text}");
        }
        for text in ["dial tcp 10.0.0.1:443: i/o timeout", "status code: 503", "ECONNREFUSED"] {
            assert_eq!(classify(text), Some(Category::Network), "{text}");
        }
        assert_eq!(classify("manifest unknown: x"), Some(Category::Registry));
        assert_eq!(classify("the input device is not a TTY"), Some(Category::Tty));
    }

    #[test]
    fn a_file_that_may_not_be_read_is_no_login() {
        assert_eq!(classify("open /etc/shadow: permission denied"), None);
        let denied = "git@host: Permission denied (publickey).";
        assert_eq!(classify(denied), Some(Category::Auth));
    }

    #[test]
    fn a_rule_needs_all_it_names() {
        let rule = Rule {
            tools: vec!["oc".into()],
            category: Some(Category::Auth),
            exit_codes: vec![1],
            ..Rule::default()
        };
        assert_eq!(matches(&rule, "oc", "Unauthorized", Some(1)), Some(Category::Auth));
        assert_eq!(matches(&rule, "/usr/bin/oc", "Unauthorized", Some(1)), Some(Category::Auth));
        assert_eq!(matches(&rule, "oc", "Unauthorized", Some(2)), None);
        assert_eq!(matches(&rule, "oc", "Unauthorized", None), None);
        assert_eq!(matches(&rule, "kubectl", "Unauthorized", Some(1)), None);
        assert_eq!(matches(&rule, "oc", "connection refused", Some(1)), None);
    }

    #[test]
    fn own_patterns_come_on_top() {
        let pattern = Pattern::new("lease is over").expect("a pattern");
        let auth = Rule {
            category: Some(Category::Auth),
            patterns: vec![pattern.clone()],
            ..Rule::default()
        };
        assert_eq!(matches(&auth, "x", "the lease is over", None), Some(Category::Auth));
        assert_eq!(matches(&auth, "x", "unauthorized", None), Some(Category::Auth));
        let custom = Rule { patterns: vec![pattern], ..Rule::default() };
        assert_eq!(matches(&custom, "x", "the lease is over", None), Some(Category::Custom));
        assert_eq!(matches(&custom, "x", "unauthorized", None), None);
        let code = Rule { exit_codes: vec![75], ..Rule::default() };
        assert_eq!(matches(&code, "x", "whatever", Some(75)), Some(Category::Custom));
    }

    #[test]
    fn a_rule_that_names_nothing_is_for_nothing() {
        assert_eq!(matches(&Rule::default(), "x", "unauthorized", Some(1)), None);
        let tools = Rule { tools: vec!["x".into()], ..Rule::default() };
        assert_eq!(matches(&tools, "x", "unauthorized", Some(1)), None);
    }
}
