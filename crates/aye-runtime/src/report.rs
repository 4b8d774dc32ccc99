//! The port through which a driver shows a run.

use std::time::Duration;

use aye_core::event::Event;
use aye_core::journal::State;
use aye_core::word_enum;
use aye_process::Stream;
use jiff::Timestamp;

/// Shows a run as it continues.
pub trait Report {
    /// Something was committed there.
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State);

    /// The running step of this lane wrote something.
    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]);

    /// What it wants to be told.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// An action is about to start; an interactive one gets the terminal.
    fn step_begins(&mut self, _lane: usize, _interactive: bool) {}

    /// The action has ended; half lines are completed.
    fn step_ends(&mut self, _lane: usize) {}

    /// A run inside the step of this lane had ended before, well or not: nothing more
    /// happens there.
    fn ended_before(&mut self, _lane: usize, _well: bool) {}

    /// Time has passed while the run was busy.
    fn tick(&mut self, _: Tick<'_>) {}

    /// What runs was told to stop, in words.
    fn stopping(&mut self, _words: &str) {}

    /// Something that Aye itself has to say, in a line of its own.
    fn note(&mut self, _words: &str) {}

    /// Leaves the place where it shows the run clean, for a question.
    fn pause(&mut self) {}

    /// Keeps what it would print: a question stands there that cannot be taken away for
    /// the moment. It is printed once that is over.
    fn hold(&mut self, _held: bool) {}

    /// This process is about to be stopped (Ctrl-Z).
    fn suspended(&mut self) {
        self.pause();
    }

    /// This process runs again after a stop.
    fn continued(&mut self) {}

    /// The window has another size.
    fn resized(&mut self) {}
}

/// What a report wants to be told.
#[derive(Debug, Clone, Copy)]
pub struct Wants {
    /// [`Report::output`] wants to be called.
    pub output: bool,
    /// [`Report::output`] prints at once, rather than when the step ends.
    pub printed: bool,
    /// Colours in the steps' output are shown as such.
    pub color: bool,
    /// [`Report::tick`] shows something.
    pub ticks: bool,
    /// Every detail is wanted.
    pub details: bool,
}

impl Default for Wants {
    fn default() -> Self {
        Self { output: true, printed: true, color: false, ticks: false, details: false }
    }
}

/// Shows nothing: the journal has it all.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Report for Silent {
    fn event(&mut self, _: Place<'_>, _: &Event, _: &State) {}
    fn output(&mut self, _: usize, _: Stream, _: &[u8]) {}
    fn wants(&self) -> Wants {
        Wants { output: false, ..Wants::default() }
    }
}

word_enum! {
    /// What is shown of the steps' output; the log has all of it.
    pub enum OutputMode {
        /// Everything, as it comes.
        Full = "full",
        /// That of steps that fail.
        Failed = "failed",
        /// Nothing.
        None = "none",
    }
}

/// What a run is busy with at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick<'a> {
    /// The moment.
    pub now: Timestamp,
    /// The actions that run.
    pub running: &'a [RunningAction],
    /// How many actions wait for a slot.
    pub waiting: usize,
}

/// An action that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningAction {
    /// Where.
    pub lane: usize,
    /// For how long.
    pub elapsed: Duration,
    /// How long it may still run, if it has a limit.
    pub remaining: Option<Duration>,
}

/// Where something happens: in the run itself, or in a run inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// 0 is the run itself; others may continue at the same time.
    pub lane: usize,
    /// The labels of the runs it is in; empty for the run itself.
    pub path: &'a [String],
}

impl Place<'static> {
    /// The run itself.
    pub const RUN: Self = Place { lane: 0, path: &[] };
}

/// Where a report's text goes. A reader may stop reading: then the text waits
/// there, and the driver holds steps back rather than lose it.
pub trait Sink {
    /// Whether so much waits that steps should be held back.
    fn is_full(&self) -> bool;

    /// Writes what can be written within this time; says whether nothing is left.
    fn drain(&self, patience: Duration) -> bool;

    /// Drops what waits: nobody wants it any more.
    fn discard(&self);

    /// Columns and rows of the window there, if it is one.
    fn window(&self) -> Option<(u16, u16)>;
}

/// For reports whose text nobody has to wait for.
#[derive(Debug, Clone, Copy)]
pub struct Unbuffered;

impl Sink for Unbuffered {
    fn is_full(&self) -> bool {
        false
    }

    fn drain(&self, _: Duration) -> bool {
        true
    }

    fn discard(&self) {}

    fn window(&self) -> Option<(u16, u16)> {
        None
    }
}
