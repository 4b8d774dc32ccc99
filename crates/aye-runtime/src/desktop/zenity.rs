//! Windows of zenity: written for 3 and 4, tested with 3.44, tried with 4.1.90.
//!
//! Its exit codes are set, because Escape, a button and a failure to start are
//! otherwise all 1. Rows and long texts come through standard input: there, nothing is
//! taken for an option, and no other user can read it, as everyone can read arguments.
//! The way out is always what Enter and Space press: a window comes up while someone types
//! elsewhere. A list of zenity 4 has no such row once someone types: it shows the rows that
//! match, and Enter takes the first. So what is picked from a list is asked about once more.
//!
//! Touches nothing: its arguments go to the prompter, which runs the program.

use aye_core::question::Channel;

use crate::fmt::width;

use super::card::{Card, Part};
use super::program::{DialogProgram, Ended, Launch};
use super::window::{Closed, Row, Window, later};

/// Exit codes that mean something, and that nothing else has.
const CODES: &[(&str, &str)] = &[
    ("ZENITY_OK", "0"),
    ("ZENITY_ESC", "11"),
    ("ZENITY_CANCEL", "12"),
    ("ZENITY_EXTRA", "13"),
    ("ZENITY_ERROR", "14"),
    ("ZENITY_TIMEOUT", "15"),
];
const ESC: i32 = 11;
const CANCEL: i32 = 12;
/// The most rows that are buttons, and the widest label of one.
const BUTTONS: usize = 4;
const WIDEST: usize = 24;
/// In front of a row, so that typing what it is called does not pick it.
const BULLET: &str = "• ";
/// The key of the row that is the way out.
const LATER: &str = "later";

pub(super) struct Zenity;

impl DialogProgram for Zenity {
    fn name(&self) -> &'static str {
        "zenity"
    }

    fn channel(&self) -> Channel {
        Channel::Zenity
    }

    fn launch(&self, window: &Window, card: &Card) -> Launch {
        let title = format!("--title={}", card.heading());
        let (columns, lines) = card.size();
        let wide = (columns * 7 + 60).clamp(420, 760);
        let (args, stdin) = match window {
            Window::Read => {
                let mut args =
                    vec!["--text-info".to_owned(), title, "--font=monospace 10".to_owned()];
                args.extend(size(820, 600));
                args.extend(["--ok-label=Answer…", "--cancel-label=Later"].map(str::to_owned));
                (args, card.plain())
            }
            Window::Pick(rows) if are_buttons(rows) => (buttons(card, rows, title), String::new()),
            Window::Pick(rows) => {
                let mut args =
                    vec!["--list".to_owned(), title, compressed("--text=", &card.pango())];
                args.extend(
                    [
                        "--column=key",
                        "--column=Answer",
                        "--column=What it means",
                        "--hide-column=1",
                        "--print-column=1",
                        "--hide-header",
                        "--ok-label=Choose",
                        "--cancel-label=Later",
                    ]
                    .map(str::to_owned),
                );
                let cell = |row: &Row| width(&row.label) + width(&row.meaning()) + 6;
                let widest = rows.iter().map(cell).max().unwrap_or_default();
                let wide = (columns.max(widest) * 7 + 60).clamp(420, 1000);
                let high = (lines * 18 + (rows.len() + 1) * 26 + 130).clamp(320, 720);
                args.extend(size(wide, high));
                (args, listed(rows))
            }
            Window::Write { initial, hidden } => {
                // Here the text is plain, but for an underscore before a letter.
                let text = card.plain().replace('_', "__");
                let mut args = vec!["--entry".to_owned(), title, compressed("--text=", &text)];
                args.push(format!("--width={wide}"));
                args.extend((!initial.is_empty()).then(|| format!("--entry-text={initial}")));
                args.extend(hidden.then(|| "--hide-text".to_owned()));
                args.extend(["--ok-label=Answer", "--cancel-label=Later"].map(str::to_owned));
                (args, String::new())
            }
        };
        Launch { args, stdin, env: CODES }
    }

    fn read(&self, window: &Window, ended: &Ended) -> Closed {
        let line = ended.line();
        match (window, ended.code) {
            // A button of ours wrote what it is called.
            (Window::Pick(rows), Some(_)) if are_buttons(rows) && !line.is_empty() => {
                let pressed = |row: &Row| label(&row.label) == line;
                match rows.iter().position(pressed) {
                    Some(at) => Closed::Row(at),
                    None if line == later(rows) => Closed::Later,
                    None => ended.failed(),
                }
            }
            (_, Some(ESC | CANCEL)) => Closed::Later,
            (Window::Read, Some(0)) => Closed::Read,
            (Window::Write { .. }, Some(0)) => Closed::Text(line.to_owned()),
            (Window::Pick(rows), Some(0)) => match line.parse::<usize>() {
                Ok(at) if at < rows.len() => Closed::Row(at),
                // The way out, or no row at all.
                Ok(_) | Err(_) => Closed::Later,
            },
            (Window::Read | Window::Pick(_) | Window::Write { .. }, Some(_) | None) => {
                ended.failed()
            }
        }
    }

    fn typing_picks(&self, rows: &[Row]) -> bool {
        !are_buttons(rows)
    }
}

fn buttons(card: &Card, rows: &[Row], title: String) -> Vec<String> {
    let leads =
        rows.iter().filter_map(|row| Some(format!("{} → {}", row.label, row.leads.as_ref()?)));
    let mut card = card.clone();
    let at = card.parts.len().saturating_sub(1);
    let leads: Vec<String> = leads.collect();
    if !leads.is_empty() {
        card.parts.insert(at, Part::Note(leads));
    }
    let mut args = vec!["--question".to_owned(), "--switch".to_owned(), title];
    args.push(compressed("--text=", &card.pango()));
    // Without it zenity 4 makes a window of some 300 pixels, higher than a screen.
    args.push(format!("--width={}", (card.size().0 * 8).clamp(320, 680)));
    args.push(format!("--extra-button={}", later(rows)));
    // The first option is where people look for it: on the right.
    args.extend(rows.iter().rev().map(|row| format!("--extra-button={}", label(&row.label))));
    args
}

/// Whether these rows fit below a text.
fn are_buttons(rows: &[Row]) -> bool {
    let fits = |row: &Row| row.about.is_none() && width(&row.label) <= WIDEST;
    rows.len() <= BUTTONS && rows.iter().all(fits)
}

/// The rows, a cell a line.
fn listed(rows: &[Row]) -> String {
    let mut cells = vec![LATER.to_owned(), format!("{BULLET}{}", later(rows)), " ".to_owned()];
    for (at, row) in rows.iter().enumerate() {
        let meaning = row.meaning();
        let meaning = if meaning.is_empty() { " ".to_owned() } else { meaning };
        cells.extend([at.to_string(), format!("{BULLET}{}", row.label), meaning]);
    }
    cells.join("\n") + "\n"
}

/// The label of a button, where an underscore marks a key.
fn label(text: &str) -> String {
    text.replace('_', "__")
}

/// A text in which a backslash begins an escape.
fn compressed(option: &str, text: &str) -> String {
    format!("{option}{}", text.replace('\\', "\\\\"))
}

fn size(wide: usize, high: usize) -> [String; 2] {
    [format!("--width={wide}"), format!("--height={high}")]
}

#[cfg(test)]
mod tests;
