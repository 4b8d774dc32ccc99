//! Facts about the terminal, and text that fits it.

use std::io::IsTerminal as _;
use std::os::fd::AsFd;

pub use aye_runtime::fmt::{char_width, cut, pad, width};

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

/// Leads to the beginning of an empty line, wherever in its line the cursor is:
/// as many blanks as a row has lead to the next one, or stay in an empty one.
pub fn fresh_line(columns: usize) -> String {
    format!("{}\r", " ".repeat(columns))
}

/// The text for a list on standard output: cut to a number of columns on a
/// terminal, whole for whatever else reads it.
pub fn fit(text: &str, columns: usize) -> String {
    match std::io::stdout().is_terminal() {
        true => cut(text, columns),
        false => text.to_owned(),
    }
}
