//! Writing results to standard output.

use std::io::Write as _;

use serde::Serialize;

use crate::cli::{Context, say};
use crate::error::Error;
use crate::report::fold;
use crate::term;

/// Prints text as it is.
pub(super) fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Prints what Aye itself says, folded on a terminal.
pub(super) fn print_words(text: &str) -> Result<(), Error> {
    print(&fold(text, term::columns(std::io::stdout())))
}

/// Prints a line.
pub(super) fn print_line(text: &str) -> Result<(), Error> {
    print(&format!("{text}\n"))
}

/// Prints a line for people: with `--json` standard output belongs to programs.
pub(super) fn tell_people(text: &str, context: &Context) -> Result<(), Error> {
    match context.json {
        true => say(&format!("{text}\n")),
        false => print_line(text)?,
    }
    Ok(())
}

/// Prints a value as JSON, indented.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::Refused {
        message: format!("cannot write JSON: {error}"),
        hint: None,
    })?;
    print_line(&text)
}
