//! Text for programs that would read more into it: lines of a width, and the
//! characters that markup and escapes are made of.

use crate::fmt::{char_width, escape_control, width};

/// The text in lines of at most so many columns, broken between words where
/// there are any. Every line of it is harmless.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    text.lines().flat_map(|line| wrap_line(&escape_control(line), columns)).collect()
}

fn wrap_line(line: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line.split_inclusive(' ') {
        if width(&current) + width(word.trim_end()) > columns && !current.is_empty() {
            lines.push(std::mem::take(&mut current).trim_end().to_owned());
        }
        for c in word.chars() {
            if width(&current) + char_width(c) > columns && c != ' ' {
                lines.push(std::mem::take(&mut current));
            }
            current.push(c);
        }
    }
    lines.push(current.trim_end().to_owned());
    lines
}

/// As text of Pango's markup, or of HTML.
pub(super) fn escape_markup(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("a\n\nb", 8), ["a", "", "b"]);
        assert_eq!(wrap("日本語日本語", 6), ["日本語", "日本語"]);
        assert_eq!(wrap("  indented", 40), ["  indented"]);
        // Whatever it says, nothing of it is lost.
        let text = "kubectl delete namespace production --wait=false --grace-period=0";
        assert_eq!(wrap(text, 20).join(" "), text);
    }

    #[test]
    fn what_reorders_or_hides_text_is_shown_as_an_escape() {
        let lines = wrap("safe\u{202e}txt\u{200b}\u{1b}[31m", 80);
        assert_eq!(lines.len(), 1);
        assert!(!lines[0].contains(['\u{202e}', '\u{200b}', '\u{1b}']), "{}", lines[0]);
    }
}
