//! Reports: what a person or a program sees of a run while it goes on.
//!
//! Every report is a view of the same events and the same state; none keeps a
//! truth of its own. [`live`] is for terminals, [`plain`] for pipes and logs,
//! [`json`] for programs; [`summary`] says at the end what happened and what
//! to do next.

mod inside;
mod json;
mod live;
mod markdown;
mod outlet;
mod plain;
mod step_line;
mod story;
mod summary;
mod tidy;
mod voices;

use std::time::Duration;

use aye_core::event::Event;
use aye_core::journal::State;
use aye_process::Stream;

pub use inside::{about_inside, level_words, place_words};
pub use json::{JsonReport, event_json};
pub use live::LiveReport;
pub use markdown::markdown;
pub use outlet::Outlet;
pub use plain::PlainReport;
pub use step_line::step_line;
pub use story::{Decision, Story, shown_status, took};
pub use summary::{choices_shown, run_command, standing, summary};

/// Shows a run as it goes on.
pub trait Report {
    /// Something was committed there.
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State);

    /// The running step of this lane wrote something.
    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]);

    /// Whether [`Report::output`] wants to be called.
    fn wants_output(&self) -> bool;

    /// Whether colours in the steps' output are shown as such.
    fn shows_color(&self) -> bool;

    /// Whether [`Report::tick`] shows anything.
    fn is_live(&self) -> bool;

    /// Whether every detail is wanted.
    fn is_verbose(&self) -> bool;

    /// An action is about to start; an interactive one gets the terminal.
    fn step_begins(&mut self, lane: usize, interactive: bool);

    /// The action has ended; half lines are completed.
    fn step_ends(&mut self, lane: usize);

    /// Time has passed while an action ran, beside so many others.
    fn tick(&mut self, lane: usize, elapsed: Duration, remaining: Option<Duration>, others: usize);

    /// Leaves the terminal clean, for a prompt or a stop.
    fn pause(&mut self);
}

/// Where something happens: in the run itself, or in a run inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// 0 is the run itself; others may go on at the same time.
    pub lane: usize,
    /// The labels of the runs it is in; empty for the run itself.
    pub path: &'a [String],
}

impl Place<'static> {
    /// The run itself.
    pub const RUN: Self = Place { lane: 0, path: &[] };
}

/// What stands in front of a line, the further in the more; the items of a
/// list, which may go on side by side, are told apart by their number.
pub(crate) fn indent(place: Place<'_>, line: &str) -> String {
    let Some(last) = place.path.last() else { return line.to_owned() };
    let space = "  ".repeat(place.path.len());
    let number = last.find('[').map(|at| format!("{} ", &last[at..])).unwrap_or_default();
    let mut lines = line.lines().enumerate().map(|(at, line)| match at {
        // The heading of an item has its number already.
        0 if line.contains(last.as_str()) => format!("{space}{line}"),
        0 => format!("{space}{number}{line}"),
        _ => format!("{space}{:1$}{line}", "", number.len()),
    });
    let first = lines.next().unwrap_or_default();
    std::iter::once(first).chain(lines).collect::<Vec<_>>().join("\n")
}

/// How much Aye says of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verbosity {
    /// Only the steps' output and errors.
    Quiet,
    /// Steps and the summary.
    #[default]
    Normal,
    /// Every event.
    Verbose,
}
