//! The last thing that happens to text before it is printed.
//!
//! What comes from outside is [escaped](crate::paint::escape_control) where it is
//! put into a line, since only there it is known where it begins and ends.
//! Here, at the edge, nothing that steers a terminal or hides is let out,
//! whatever a verb forgot.

use std::borrow::Cow;
use std::fmt::Write as _;

use aye_core::diagnostic::{is_hidden, visible};
use serde::Serialize;

/// Text for people: lines, tabs and Aye's own colours pass, everything else
/// that is hidden is written out.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(is_hidden) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        let hidden = rest.chars().next().map_or(0, char::len_utf8);
        let (part, after) = rest.split_at(own_style(rest).unwrap_or(hidden));
        match part.len() > hidden {
            true => shown.push_str(part),
            false => shown.push_str(&visible(part)),
        }
        rest = after;
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// The length of a colour of ours at the beginning of a text. None of them
/// conceals, blinks or paints the background.
fn own_style(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let codes = &codes[..codes.find('m')?];
    let known = |code| matches!(code, "0" | "1" | "2" | "31" | "32" | "33" | "34" | "35" | "36");
    codes.split(';').all(known).then_some(codes.len() + 3)
}

/// A value as JSON on one line. What is hidden is escaped, which means the same.
pub fn json_line(value: &impl Serialize) -> String {
    escaped(serde_json::to_string(value).unwrap_or_default())
}

/// Appends a text as a JSON string, as [`json_line`] writes it: quick for what is plain ASCII.
pub fn push_json_string(out: &mut Vec<u8>, text: &str) {
    // JSON itself escapes the control characters below these.
    if text.bytes().all(|byte| byte < 0x7f) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(out, text);
    } else {
        out.extend_from_slice(json_line(&text).as_bytes());
    }
}

/// A value as JSON, indented.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn json_pretty(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(escaped)
}

/// Only strings hold such characters, and there an escape stands for them.
fn escaped(json: String) -> String {
    if !json.contains(is_hidden) {
        return json;
    }
    let mut text = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_colours_pass_and_nothing_else() {
        let own = "\u{1b}[31merror:\u{1b}[0m a\tb\nc \u{1b}[1;34md\u{1b}[0m";
        assert_eq!(harmless(own), own);
        for (text, shown) in [
            ("\u{1b}[8mx", "\\u{1b}[8mx"),
            ("\u{1b}[2Jx", "\\u{1b}[2Jx"),
            ("\u{1b}[1;8mx", "\\u{1b}[1;8mx"),
            ("\u{1b}]0;m\u{7}", "\\u{1b}]0;m\\u{7}"),
            ("\u{1b}[", "\\u{1b}["),
            ("\u{1b}", "\\u{1b}"),
            ("a\u{202e}b\u{200b}\r", "a\\u{202e}b\\u{200b}\\r"),
            ("\u{9b}31m\u{e0041}", "\\u{9b}31m\\u{e0041}"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({ "a\u{9b}": "\u{7f}\u{202e}\u{e0041}\u{1b}\n" });
        for text in ["plain", "a\"b\\\n\u{1b}\t", "\u{7f}", "gr\u{fc}n\u{202e}", ""] {
            let mut pushed = b"before ".to_vec();
            push_json_string(&mut pushed, text);
            assert_eq!(pushed, format!("before {}", json_line(&text)).into_bytes());
        }
        for text in [json_line(&value), json_pretty(&value).expect("JSON")] {
            assert!(!text.contains(is_hidden), "{text:?}");
            let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(read, value);
        }
    }
}
