//! Words of a shell: how to quote them, and which are plain.

use crate::error_code::ErrorCode;
use crate::text::TextError;

/// A word that any POSIX shell reads back as exactly this text.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c);
    quote_unless(word, plain)
}

/// A word as a person would type it: fewer quotes, to read and to copy.
pub(crate) fn legible(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~^".contains(c);
    quote_unless(word, plain)
}

fn quote_unless(word: &str, plain: impl Fn(char) -> bool) -> String {
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The name of a variable.
pub(super) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Checks text that goes into a script as it is: one plain word, with nothing
/// that a shell would act upon.
pub(super) fn check_plain(value: &str) -> Result<(), TextError> {
    let found = value.chars().find_map(|letter| match letter {
        '\n' | '\r' => Some("a line break"),
        '\0' => Some("a zero byte"),
        '`' | '$' => Some("an expansion"),
        ';' | '&' | '|' => Some("a command separator"),
        '<' | '>' => Some("a redirection"),
        '(' | ')' | '{' | '}' => Some("a group"),
        '"' | '\'' | '\\' => Some("a quote"),
        '*' | '?' | '[' | ']' | '~' | '!' | '#' => Some("a pattern or comment"),
        ' ' | '\t' => Some("a blank"),
        letter if letter.is_control() => Some("a control character"),
        _ => None,
    });
    let found = found
        .or_else(|| value.is_empty().then_some("nothing"))
        .or_else(|| value.starts_with('-').then_some("a leading dash, which makes it an option"));
    match found {
        None => Ok(()),
        Some(what) => Err(TextError {
            code: ErrorCode::InjectionDetected,
            hint: Some(
                "leave `| safe` out and the value is one word, whatever is in it; \
                 `check_shell_values` under `[policy]` asks for this"
                    .to_owned(),
            ),
            ..TextError::new(format!(
                "a value that enters the script as code (`| safe`) contains {what}"
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_word_passes() {
        for good in ["main", "v1.2.3", "HEAD^3..HEAD", "a/b_c-d", "x=y", "50%", "name@host:path"] {
            assert_eq!(check_plain(good), Ok(()), "{good}");
        }
        let bad = [
            "",
            "a;b",
            "$(id)",
            "`id`",
            "a b",
            "a\nb",
            "-rf",
            "a|b",
            "a>b",
            "it's",
            "*",
            "~",
            "!x",
            "\u{1b}[0m",
            "a\0b",
        ];
        for bad in bad {
            let refused = check_plain(bad).expect_err(bad);
            assert_eq!(refused.code, ErrorCode::InjectionDetected);
        }
    }

    #[test]
    fn quoting_keeps_words_whole() {
        for (word, quoted) in [
            ("plain-word", "plain-word"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("A=b", "'A=b'"),
            ("~", "'~'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
        assert_eq!(legible("A=b"), "A=b");
    }
}
