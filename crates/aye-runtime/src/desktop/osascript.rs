//! Windows of macOS, through `osascript`. Texts are arguments of the script and no part of
//! it. It was never tried on a Mac: its arguments are what the tests look at.
//!
//! Touches nothing: its arguments go to the prompter, which runs the program.

use aye_core::question::Channel;

use super::card::Card;
use super::program::{DialogProgram, Ended, Launch};
use super::window::{Closed, Row, Window, later};

/// The most buttons that a dialog has beside the way out.
const BUTTONS: usize = 2;

pub(super) struct Osascript;

impl DialogProgram for Osascript {
    fn name(&self) -> &'static str {
        "osascript"
    }

    fn channel(&self) -> Channel {
        Channel::Desktop
    }

    fn launch(&self, window: &Window, card: &Card) -> Launch {
        let mut values = vec![card.heading(), card.plain()];
        let dialog = "display dialog (item 2 of argv) with title (item 1 of argv)";
        let result = match window {
            Window::Read => {
                values.extend(["Later", "Answer…"].map(str::to_owned));
                format!(
                    "button returned of ({dialog} buttons {{item 3 of argv, item 4 of argv}} default button 1 cancel button 1)"
                )
            }
            Window::Pick(rows) if are_buttons(rows) => {
                values.push(later(rows).to_owned());
                values.extend(rows.iter().rev().map(|row| row.label.clone()));
                format!(
                    "button returned of ({dialog} buttons (items 3 thru -1 of argv) default button 1 cancel button 1)"
                )
            }
            Window::Pick(rows) => {
                values.push(later(rows).to_owned());
                values.extend(rows.iter().map(listed));
                "choose from list (items 3 thru -1 of argv) with title (item 1 of argv) with prompt (item 2 of argv) OK button name \"Choose\" cancel button name \"Close\"".to_owned()
            }
            Window::Write { initial, hidden } => {
                values.push(initial.clone());
                let hidden = if *hidden { " with hidden answer" } else { "" };
                format!(
                    "text returned of ({dialog} default answer (item 3 of argv){hidden} buttons {{\"Later\", \"Answer\"}} default button 2 cancel button 1)"
                )
            }
        };
        let script = ["on run argv", "activate", &format!("return {result}"), "end run"];
        let mut args: Vec<String> =
            script.iter().flat_map(|line| ["-e".to_owned(), (*line).to_owned()]).collect();
        args.push("--".to_owned());
        args.extend(values);
        Launch { args, stdin: String::new(), env: &[] }
    }

    fn read(&self, window: &Window, ended: &Ended) -> Closed {
        match (window, ended.code) {
            (Window::Read, Some(0)) => Closed::Read,
            (Window::Write { .. }, Some(0)) => Closed::Text(ended.line().to_owned()),
            (Window::Pick(rows), Some(0)) => {
                let name =
                    |row: &Row| if are_buttons(rows) { row.label.clone() } else { listed(row) };
                match rows.iter().position(|row| name(row) == ended.line()) {
                    Some(at) => Closed::Row(at),
                    // The way out, or nothing at all, which is `false`.
                    None => Closed::Later,
                }
            }
            // -128: the person cancelled.
            (_, Some(1)) if ended.stderr.contains("-128") => Closed::Later,
            (Window::Read | Window::Pick(_) | Window::Write { .. }, Some(_) | None) => {
                ended.failed()
            }
        }
    }
}

fn are_buttons(rows: &[Row]) -> bool {
    rows.len() <= BUTTONS && rows.iter().all(|row| row.about.is_none())
}

fn listed(row: &Row) -> String {
    match row.meaning() {
        meaning if meaning.is_empty() => row.label.clone(),
        meaning => format!("{}   {meaning}", row.label),
    }
}

#[cfg(test)]
mod tests;
