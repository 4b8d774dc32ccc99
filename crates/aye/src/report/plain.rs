//! Plain lines, for pipes, logs and screen readers.

use std::io::Write;
use std::time::Duration;

use aye_core::event::{Event, Fact};
use aye_core::journal::State;
use aye_process::Stream;
use aye_process::lines::Lines;

use crate::paint::{Paint, Tone};

use super::step_line::heading;
use super::tidy::Tidy;
use super::{Report, Verbosity, event_json, step_line};

/// The steps' output goes to `out` and `err` as it came, each line with the
/// step's name; what Aye says goes to `err`.
pub struct PlainReport<O, E> {
    out: O,
    err: E,
    paint: Paint,
    /// Whether standard output and standard error show colours.
    colors: [bool; 2],
    verbosity: Verbosity,
    step: String,
    lines: [Lines; 2],
    tidy: [Tidy; 2],
}

impl<O: Write, E: Write> PlainReport<O, E> {
    /// A report to two streams.
    pub fn new(out: O, err: E, paints: [Paint; 2], verbosity: Verbosity) -> Self {
        Self {
            out,
            err,
            paint: paints[1],
            colors: paints.map(|paint| paint.color),
            verbosity,
            step: String::new(),
            lines: Default::default(),
            tidy: Default::default(),
        }
    }

    fn line(&mut self, index: usize, line: &str) {
        let line = self.tidy[index].line(line, self.colors[index]);
        let prefix = match self.verbosity {
            Verbosity::Quiet => String::new(),
            Verbosity::Normal | Verbosity::Verbose => format!("{} | ", self.step),
        };
        // A reader that has gone away must not stop the run.
        let _ = match index {
            0 => writeln!(self.out, "{prefix}{line}").and_then(|()| self.out.flush()),
            _ => writeln!(self.err, "{prefix}{line}"),
        };
    }
}

impl<O: Write, E: Write> Report for PlainReport<O, E> {
    fn event(&mut self, event: &Event, state: &State) {
        if let Fact::StepStarted(started) = &event.fact {
            self.step.clone_from(&started.step);
        }
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        if self.verbosity == Verbosity::Verbose {
            let _ = writeln!(self.err, "{}", self.paint.text(Tone::Dim, &event_json(event)));
        }
        let head = heading(event, state, self.paint);
        if let Some(line) = head.or_else(|| step_line(event, self.paint)) {
            let _ = writeln!(self.err, "{}", line.trim_end());
        }
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let index = usize::from(stream == Stream::Stderr);
        let mut lines = Vec::new();
        self.lines[index].push(bytes, &mut |line| lines.push(line.to_owned()));
        lines.iter().for_each(|line| self.line(index, line));
    }

    fn wants_output(&self) -> bool {
        true
    }

    fn shows_color(&self) -> bool {
        self.paint.color
    }

    fn is_live(&self) -> bool {
        false
    }

    fn step_begins(&mut self, _: bool) {}

    fn step_ends(&mut self) {
        for index in 0..2 {
            let mut last = None;
            self.lines[index].finish(&mut |line| last = Some(line.to_owned()));
            last.iter().for_each(|line| self.line(index, line));
            // Nobody's colours go on in the next step.
            self.tidy[index] = Tidy::default();
        }
    }

    fn tick(&mut self, _: Duration, _: Option<Duration>) {}

    fn pause(&mut self) {}
}
