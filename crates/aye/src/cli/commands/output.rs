//! Writing results to standard output.

use std::io::{IsTerminal as _, Write as _};

use serde::Serialize;

use crate::cli::{Context, say, warn_line};
use crate::harmless::{harmless, json_line, json_pretty};
use crate::paint::escape_control;
use crate::report::fold;
use crate::term;
use aye_runtime::error::Error;
use aye_runtime::skills::Listing;

/// Prints text.
pub(super) fn print(text: &str) -> Result<(), Error> {
    write(harmless(text).as_bytes())
}

/// Prints a line that a script waits for: in a pipe exactly as it is.
pub(super) fn print_answer(text: &str) -> Result<(), Error> {
    match std::io::stdout().is_terminal() {
        true => print_line(&escape_control(text)),
        false => write(format!("{text}\n").as_bytes()),
    }
}

/// Writes bytes as they are.
pub(super) fn write(bytes: &[u8]) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Prints what Aye itself says, folded on a terminal.
pub(super) fn print_words(text: &str) -> Result<(), Error> {
    print(&fold(text, term::columns(std::io::stdout())))
}

/// Prints a line.
pub(super) fn print_line(text: &str) -> Result<(), Error> {
    print(&format!("{text}\n"))
}

/// Says which skill directories are too large.
pub(super) fn warn_about(listing: &Listing, context: &Context) {
    for warning in listing.warnings() {
        warn_line(&warning, context);
    }
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
    let text = json_pretty(value).map_err(|error| Error::Refused {
        message: format!("cannot write JSON: {error}"),
        hint: None,
    })?;
    print_line(&text)
}

/// Prints a value as JSON on one line.
pub(super) fn print_json_line(value: &impl Serialize) -> Result<(), Error> {
    print_line(&json_line(value))
}
