//! Reports: what a person or a program sees of a run while it goes on.
//!
//! Every report is a view of the same events and the same state; none keeps a
//! truth of its own. [`live`] is for terminals, [`plain`] for pipes and logs,
//! [`json`] for programs; [`summary`] says at the end what happened and what
//! to do next.

mod feed;
mod json;
mod live;
mod outlet;
mod plain;
mod step_line;
mod summary;
mod tidy;

use std::time::Duration;

use aye_core::event::Event;
use aye_core::journal::State;
use aye_process::Stream;

pub use json::{JsonReport, event_json};
pub use live::LiveReport;
pub use outlet::Outlet;
pub use plain::PlainReport;
pub use step_line::step_line;
pub use summary::{choices_shown, run_command, summary};

/// Shows a run as it goes on.
pub trait Report {
    /// Something was committed.
    fn event(&mut self, event: &Event, state: &State);

    /// The running step wrote something.
    fn output(&mut self, stream: Stream, bytes: &[u8]);

    /// Whether [`Report::output`] wants to be called.
    fn wants_output(&self) -> bool;

    /// Whether colours in the steps' output are shown as such.
    fn shows_color(&self) -> bool;

    /// Whether [`Report::tick`] shows anything.
    fn is_live(&self) -> bool;

    /// An action is about to start; an interactive one gets the terminal.
    fn step_begins(&mut self, interactive: bool);

    /// The action has ended; half lines are completed.
    fn step_ends(&mut self);

    /// Time has passed while an action ran.
    fn tick(&mut self, elapsed: Duration, remaining: Option<Duration>);

    /// Leaves the terminal clean, for a prompt or a stop.
    fn pause(&mut self);
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
