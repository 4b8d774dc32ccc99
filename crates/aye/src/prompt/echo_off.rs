//! A report that draws on a terminal where keys leave no trace.
//!
//! What someone types would be echoed into the picture and move it, and rows
//! would stay behind for good. So nothing is echoed while a report draws, and
//! what was typed is thrown away: it answers no later question. Ctrl-C, Ctrl-Z
//! and Ctrl-\ are signals as ever.
//!
//! A step that gets the terminal, a stop and the end find it as it was. The
//! guard of `aye-process` restores it if this process is killed.

use aye_core::event::Event;
use aye_core::journal::State;
use aye_process::Stream;
use aye_runtime::report::{Place, Report, Tick, Wants};

use super::tty::{Mode, Tty};

/// A report, and the terminal that it has to itself.
pub struct EchoOff<R> {
    report: R,
    /// The terminal while nothing is echoed there.
    silent: Option<Tty>,
    /// The lane whose step has the terminal.
    lent: Option<usize>,
}

impl<R: Report> EchoOff<R> {
    /// Nothing is echoed from the first event on.
    pub fn new(report: R) -> Self {
        Self { report, silent: None, lent: None }
    }

    /// Takes the terminal if it can be had: one in the background belongs to
    /// someone else, and may come to the foreground later.
    fn take(&mut self) {
        if self.silent.is_some() || self.lent.is_some() {
            return;
        }
        if let Ok(mut tty) = Tty::open()
            && tty.take(Mode::Silent).is_ok()
        {
            self.silent = Some(tty);
        }
    }

    fn give_back(&mut self) {
        // Dropping it restores the modes.
        self.silent = None;
    }
}

impl<R: Report> Report for EchoOff<R> {
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State) {
        self.take();
        self.report.event(place, event, state);
    }

    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]) {
        self.report.output(lane, stream, bytes);
    }

    fn wants(&self) -> Wants {
        self.report.wants()
    }

    fn step_begins(&mut self, lane: usize, interactive: bool) {
        self.report.step_begins(lane, interactive);
        if interactive {
            self.give_back();
            self.lent = Some(lane);
        }
    }

    fn step_ends(&mut self, lane: usize) {
        if self.lent == Some(lane) {
            self.lent = None;
            self.take();
        }
        self.report.step_ends(lane);
    }

    fn ended_before(&mut self, lane: usize, well: bool) {
        self.report.ended_before(lane, well);
    }

    fn tick(&mut self, tick: Tick<'_>) {
        self.take();
        // A full buffer would hold up Ctrl-C as well.
        if let Some(tty) = self.silent.as_mut().filter(|tty| tty.is_foreground()) {
            tty.discard();
        }
        self.report.tick(tick);
    }

    fn stopping(&mut self, words: &str) {
        self.report.stopping(words);
    }

    fn note(&mut self, words: &str) {
        self.report.note(words);
    }

    fn pause(&mut self) {
        self.report.pause();
    }

    fn hold(&mut self, held: bool) {
        self.report.hold(held);
    }

    fn suspended(&mut self) {
        self.report.suspended();
        self.give_back();
    }

    fn continued(&mut self) {
        self.report.continued();
        // A stop may have been sent without asking us.
        match &mut self.silent {
            Some(tty) if tty.is_foreground() => tty.retake(),
            _ => self.take(),
        }
    }

    fn resized(&mut self) {
        self.report.resized();
    }
}
