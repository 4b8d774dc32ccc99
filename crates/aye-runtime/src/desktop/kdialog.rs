//! Windows of KDialog.
//!
//! In its questions with buttons Enter presses yes, and Escape means the same as the
//! button beside it: everything is picked from a list here, whose first row is the way out.
//!
//! Touches nothing: its arguments go to the prompter, which runs the program.

use aye_core::question::Channel;

use super::card::Card;
use super::program::{DialogProgram, Ended, Launch};
use super::window::{Closed, DECLINES, Row, Window, later};

/// In front of a row, so that typing what it is called does not pick it.
const BULLET: &str = "• ";
/// The tag of the row that is the way out.
const LATER: &str = "later";
/// What it says when the display is gone, which ends it like a button does.
const LOST: [&str; 3] = ["connect to display", "X11 connection broke", "Wayland connection broke"];

pub(super) struct Kdialog;

impl DialogProgram for Kdialog {
    fn name(&self) -> &'static str {
        "kdialog"
    }

    fn channel(&self) -> Channel {
        Channel::Kdialog
    }

    fn launch(&self, window: &Window, card: &Card) -> Launch {
        let mut args = vec![format!("--title={}", card.heading())];
        let open = |task: Option<String>| {
            let open = "The Cancel button and Esc close this window; the question stays open.";
            task.map_or_else(|| open.to_owned(), |task| format!("{task} {open}"))
        };
        let with_task = |card: &Card| Card { task: Some(open(card.task.clone())), ..card.clone() };
        let mut stdin = String::new();
        match window {
            Window::Read => {
                let task = Some("OK: answer. Esc: later.".to_owned());
                stdin = Card { task, ..card.clone() }.rich();
                args.extend(["--textbox", "-", "820", "600"].map(str::to_owned));
            }
            Window::Pick(rows) => {
                args.push(format!("--menu={}", with_task(card).rich()));
                args.push("--".to_owned());
                args.extend([LATER.to_owned(), format!("{BULLET}{}", later(rows))]);
                for (at, row) in rows.iter().enumerate() {
                    args.extend([at.to_string(), format!("{BULLET}{}", row_text(row))]);
                }
            }
            Window::Write { hidden: true, .. } => {
                args.push(format!("--password={}", with_task(card).rich()));
            }
            Window::Write { initial, hidden: false } => {
                args.push(format!("--inputbox={}", with_task(card).rich()));
                args.extend(["--".to_owned(), initial.clone()]);
            }
        }
        Launch { args, stdin, env: &[] }
    }

    fn read(&self, window: &Window, ended: &Ended) -> Closed {
        let lost = LOST.iter().any(|words| ended.stderr.contains(words));
        match (window, ended.code) {
            _ if lost => ended.failed(),
            (Window::Read, Some(0)) => Closed::Read,
            (Window::Write { .. }, Some(0)) => Closed::Text(ended.line().to_owned()),
            (Window::Pick(rows), Some(0)) => match ended.line().parse::<usize>() {
                Ok(at) if at < rows.len() => Closed::Row(at),
                Ok(_) | Err(_) => Closed::Later,
            },
            (Window::Read | Window::Pick(_) | Window::Write { .. }, Some(1 | 2)) => Closed::Later,
            (Window::Read | Window::Pick(_) | Window::Write { .. }, Some(_) | None) => {
                ended.failed()
            }
        }
    }
}

/// A row as it is read. The button below the list says Cancel and leaves the question open,
/// and no option of the program changes that: a row of the same name says what it does.
fn row_text(row: &Row) -> String {
    let is_like_the_button = row.label.eq_ignore_ascii_case("cancel");
    match row.meaning() {
        meaning if is_like_the_button && meaning == DECLINES => format!("Decline ({})", row.label),
        meaning if is_like_the_button && row.declines => {
            format!("Decline ({})   {meaning}", row.label)
        }
        meaning if is_like_the_button => format!("Answer “{}”   {meaning}", row.label),
        meaning if meaning.is_empty() => row.label.clone(),
        meaning => format!("{}   {meaning}", row.label),
    }
}

#[cfg(test)]
mod tests;
