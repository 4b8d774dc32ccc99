//! Values as text for people: durations, counts, widths, and text made harmless.

use std::time::Duration;

use aye_core::diagnostic::visible;
pub use aye_process::text::shell_word;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A duration as people say it: `340ms`, `2.3s`, `1m 5s`, `2h 10m`.
pub fn duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    let secs = duration.as_secs();
    match secs {
        0 => format!("{ms}ms"),
        1..=9 => format!("{}.{}s", secs, (ms % 1000) / 100),
        10..=59 => format!("{secs}s"),
        60..=3599 => format!("{}m {}s", secs / 60, secs % 60),
        3600..=86_399 => format!("{}h {}m", secs / 3600, secs % 3600 / 60),
        _ => format!("{}d {}h", secs / 86_400, secs % 86_400 / 3600),
    }
}

/// `1 file`, `2 files`, `3 processes`.
pub fn plural(count: usize, word: &str) -> String {
    match (count, word.ends_with('s')) {
        (1, _) => format!("{count} {word}"),
        (_, true) => format!("{count} {word}es"),
        (_, false) => format!("{count} {word}s"),
    }
}

/// Text made safe for a terminal: control, bidirectional and zero-width
/// characters are shown as escapes; nothing in it can move the cursor.
pub fn escape_control(text: &str) -> String {
    visible(text).into_owned()
}

/// The same, line by line.
pub fn escape_control_lines(text: &str) -> String {
    text.lines().map(escape_control).collect::<Vec<_>>().join("\n")
}

/// The same on one line.
pub fn escape_control_line(text: &str) -> String {
    escape_control(&text.lines().collect::<Vec<_>>().join(" "))
}

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    // Most texts are plain; looking that up character by character is slow.
    match aye_process::lines::is_printable(text.as_bytes()) {
        true => text.len(),
        false => text.width(),
    }
}

/// How many columns a character takes.
pub fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// The text cut to a number of columns, with an ellipsis if something is lost.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if used + width + 1 > columns {
            break;
        }
        used += width;
        kept.push(c);
    }
    kept.push('…');
    kept
}

/// The text filled up with spaces to a number of columns.
pub fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}
