//! A program that shows windows: how it is called, and what its end means. No IO.

use aye_core::question::Channel;
use aye_process::Outcome;

use super::card::Card;
use super::window::{Closed, Row, Window};

/// How a program is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    /// Its arguments.
    pub(super) args: Vec<String>,
    /// What it reads.
    pub(super) stdin: String,
    /// Variables that it needs.
    pub(super) env: &'static [(&'static str, &'static str)],
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    /// Its exit code; none if a signal ended it.
    pub(super) code: Option<i32>,
    /// What it wrote.
    pub(super) stdout: String,
    /// What it complained about.
    pub(super) stderr: String,
}

/// The exit code of a program; none if it did not end by itself.
pub(super) fn exit_code(outcome: Outcome) -> Option<i32> {
    match outcome {
        Outcome::Exited(code) => Some(code),
        Outcome::Signaled(_) | Outcome::TimedOut | Outcome::Cancelled | Outcome::Interrupted => {
            None
        }
    }
}

impl Ended {
    /// The line it wrote, without its end.
    pub(super) fn line(&self) -> &str {
        self.stdout.strip_suffix('\n').unwrap_or(&self.stdout)
    }

    /// It did not show the window, or lost it.
    pub(super) fn failed(&self) -> Closed {
        let last = self.stderr.lines().rev().find(|line| !line.trim().is_empty());
        let last =
            last.map(|line| crate::fmt::cut(&crate::fmt::escape_control_line(line.trim()), 200));
        let how = match self.code {
            Some(code) => format!("exit code {code}"),
            None => "a signal ended it".to_owned(),
        };
        Closed::Failed(last.unwrap_or(how))
    }
}

/// A program that shows windows.
pub(super) trait DialogProgram: Sync {
    /// Its name, as it is found in `PATH`.
    fn name(&self) -> &'static str;

    /// What its answers are recorded as.
    fn channel(&self) -> Channel;

    /// How it is called to show this window with this text.
    fn launch(&self, window: &Window, card: &Card) -> Launch;

    /// What it means that it ended like this.
    fn read(&self, window: &Window, ended: &Ended) -> Closed;

    /// Whether typing a part of a label, and Enter, picks one of these rows.
    fn typing_picks(&self, _rows: &[Row]) -> bool {
        false
    }
}

/// The programs, the one that is tried first in front.
pub(super) const PROGRAMS: [&dyn DialogProgram; 2] = match cfg!(target_os = "macos") {
    true => [&super::osascript::Osascript, &super::zenity::Zenity],
    false => [&super::zenity::Zenity, &super::kdialog::Kdialog],
};
