//! Replacing what varies in an error by placeholders, so that the same mistake
//! looks the same the next time.

use std::sync::LazyLock;

use regex_lite::Regex;

/// The longest text that is looked at; an error says what it says before that.
const LONGEST: usize = 4096;

/// What can vary and what stands for it. The first that fits wins. Each begins
/// where no word is being read, and ends where none continues.
static VARIES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"^<[a-z]+>", ""),
        (r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\x22'<>`]+", "<url>"),
        (
            r"^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?",
            "<time>",
        ),
        (r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d+)?", "<time>"),
        (r"^\d\d:\d\d:\d\d(?:[.,]\d+)?Z?", "<time>"),
        (r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", "<uuid>"),
        (r"^(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?", "<ip>"),
        (r"^\[?(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{1,4}\]?(?::\d+)?", "<ip>"),
        (r"^(?:sha256:|sha1:)?[0-9a-fA-F]{6,128}", "<hash>"),
        (r"^\x22[^\x22\n]*\x22", "<name>"),
        (r"^'[^'\n]*'", "<name>"),
        (r"^`[^`\n]*`", "<name>"),
        (r"^(?:~|\.{1,2})?/[\w.@+~-]+(?:/[\w.@+~-]*)*", "<path>"),
        (r"^[\w.@+-]+(?:/[\w.@+-]+)+/?", "<path>"),
        (r"^0x[0-9a-fA-F]+", "<n>"),
        (
            r"^-?\d+(?:[.,:]\d+)*(?:ns|us|µs|ms|s|m|h|d|%|[kKMGT]i?B?|B)?",
            "<n>",
        ),
    ]
    .into_iter()
    .filter_map(|(pattern, stands)| Some((Regex::new(pattern).ok()?, stands)))
    .collect()
});

/// Words after which a number says what happened.
const BEFORE_A_CODE: [&str; 10] = [
    "http",
    "https",
    "status",
    "code",
    "exit",
    "errno",
    "signal",
    "error",
    "statuscode",
    "returned",
];

/// The text on one line with what varies replaced: numbers, hashes, UUIDs,
/// paths, quoted names, times, addresses. Codes that say what happened stay
/// ("exit code 3", "HTTP 404").
pub fn fingerprint(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines = lines.filter(|line| !line.is_empty()).map(|line| fingerprint_line(&line));
    lines.collect::<Vec<_>>().join(" ")
}

fn fingerprint_line(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = rest.split(' ').next().unwrap_or_default();
        // Most of a text is words, and nothing in a word varies.
        if !word.is_empty() && word.trim_end_matches([':', ',', '.']).chars().all(is_steady) {
            out.push_str(word);
            rest = &rest[word.len()..];
            continue;
        }
        let fresh = !out.chars().next_back().is_some_and(is_word);
        let found = fresh.then(|| variable(rest, &out)).flatten();
        if let Some((length, stands)) = found {
            out.push_str(stands.unwrap_or(&rest[..length]));
            rest = &rest[length..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Whether nothing that varies can begin with it or have it inside.
fn is_steady(c: char) -> bool {
    !c.is_ascii_digit() && !"/:\"'`<~".contains(c)
}

/// What varies at the beginning of `rest`: how long it is, and what stands for
/// it; nothing stands for what has to stay.
fn variable(rest: &str, before: &str) -> Option<(usize, Option<&'static str>)> {
    VARIES.iter().find_map(|(regex, stands)| {
        let found = regex.find(rest)?.as_str();
        let goes_on = rest[found.len()..].chars().next();
        let ends = !(found.ends_with(char::is_alphanumeric)
            && goes_on.is_some_and(|c| c.is_alphanumeric() || c == '_'));
        let fits = ends
            && match *stands {
                // Words are made of these letters too: "defaced".
                "<hash>" => found.contains(|c: char| c.is_ascii_digit()) && !is_number(found),
                "<path>" => is_path(found),
                _ => true,
            };
        if !fits {
            return None;
        }
        let stays = stands.is_empty() || *stands == "<n>" && is_code(found, before);
        Some((found.len(), (!stays).then_some(*stands)))
    })
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// "and/or" is none; "src/main.rs" and "a/b/c" are.
fn is_path(found: &str) -> bool {
    let absolute = found.starts_with(['/', '~', '.']);
    let last = found.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    absolute || found.matches('/').count() > 1 || last.trim_matches('.').contains('.')
}

/// Whether a number says what happened.
fn is_code(number: &str, before: &str) -> bool {
    if number.len() > 3 || !is_number(number) {
        return false;
    }
    let before = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    BEFORE_A_CODE.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_is_replaced() {
        let cases = [
            ("took 35 ms, 1.5s and 20%", "took <n> ms, <n> and <n>"),
            ("image abc1234f not found", "image <hash> not found"),
            ("sha256:aabbccdd0011 is gone", "<hash> is gone"),
            ("id 123e4567-e89b-12d3-a456-426614174000.", "id <uuid>."),
            ("open /tmp/x-1/y: no such file", "open <path>: no such file"),
            ("in src/main.rs:12", "in <path>:<n>"),
            ("~/.kube/config is gone", "<path> is gone"),
            ("pod \"web 1\" or 'x' or `y z`", "pod <name> or <name> or <name>"),
            ("at 2026-11-16T04:11:54.123Z it", "at <time> it"),
            ("04:11:54 failed", "<time> failed"),
            ("dial tcp 10.0.0.1:443: refused", "dial tcp <ip>: refused"),
            ("to [fe80::1ff:2]:22", "to <ip>"),
            ("get https://x.example/a?b=1 failed", "get <url> failed"),
            ("MR !1403 not found", "MR !<n> not found"),
            ("0xdeadbeef at", "<n> at"),
        ];
        for (text, wanted) in cases {
            assert_eq!(fingerprint(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_says_what_happened_stays() {
        for text in [
            "HTTP 404 from the server",
            "exit code 3",
            "error: 403",
            "and/or",
            "can't find foo's file",
            "the defaced facade",
            "utf8 and v2",
        ] {
            assert_eq!(fingerprint(text), text);
        }
    }

    #[test]
    fn a_quote_ends_with_its_line() {
        assert_eq!(fingerprint("don't 'x\nerror 'y' bad"), "don't 'x error <name> bad");
    }

    #[test]
    fn it_is_one_line_and_no_longer_than_it_has_to_be() {
        assert_eq!(fingerprint("a\n\n  b\tc"), "a b c");
        assert!(fingerprint(&"é ".repeat(10_000)).len() <= LONGEST);
    }

    #[test]
    fn doing_it_twice_changes_nothing() {
        for text in ["pod \"a\" at 10.1.1.1 in /x/y 35", "id <uuid> and <n>"] {
            assert_eq!(fingerprint(&fingerprint(text)), fingerprint(text));
        }
    }
}
