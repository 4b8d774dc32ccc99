//! Facts about the terminal, and text that fits it.

use std::io::IsTerminal as _;
use std::os::fd::AsFd;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns and rows of the terminal on standard error, if it is one.
pub fn size() -> Option<(u16, u16)> {
    size_of(std::io::stderr())
}

/// Columns of the terminal there, if it is one.
pub fn columns(there: impl AsFd) -> Option<usize> {
    size_of(there).map(|(columns, _)| usize::from(columns))
}

fn size_of(there: impl AsFd) -> Option<(u16, u16)> {
    if !there.as_fd().is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(there).ok()?;
    (size.ws_col > 0).then_some((size.ws_col, size.ws_row))
}

/// The text for a list on standard output: cut to a number of columns on a
/// terminal, whole for whatever else reads it.
pub fn fit(text: &str, columns: usize) -> String {
    match std::io::stdout().is_terminal() {
        true => cut(text, columns),
        false => text.to_owned(),
    }
}

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    text.width()
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
