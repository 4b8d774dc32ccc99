//! Plain lines, for pipes, logs and screen readers.

use std::io::Write;
use std::time::Duration;

use aye_core::event::Event;
use aye_core::journal::State;
use aye_process::Stream;

use crate::paint::{Paint, Tone};

use super::step_line::live_line;
use super::tidy::Tidy;
use super::voices::{Voices, index_of};
use super::{Place, Report, Verbosity, event_json, indent};

/// The steps' output goes to `out` and `err` as it came, each line with the
/// step's name; what Aye says goes to `err`.
pub struct PlainReport<O, E> {
    out: O,
    err: E,
    paint: Paint,
    /// Whether standard output and standard error show colours.
    colors: [bool; 2],
    verbosity: Verbosity,
    voices: Voices,
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
            voices: Voices::default(),
        }
    }

    fn line(&mut self, lane: usize, index: usize, line: &str) {
        let voice = self.voices.of(lane);
        let line = voice.tidy[index].line(line, self.colors[index]);
        let prefix = match self.verbosity {
            Verbosity::Quiet => String::new(),
            Verbosity::Normal | Verbosity::Verbose => format!("{} | ", voice.name()),
        };
        // A reader that has gone away must not stop the run.
        let _ = match index {
            0 => writeln!(self.out, "{prefix}{line}").and_then(|()| self.out.flush()),
            _ => writeln!(self.err, "{prefix}{line}"),
        };
    }
}

impl<O: Write, E: Write> Report for PlainReport<O, E> {
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State) {
        self.voices.event(place, event);
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        if self.verbosity == Verbosity::Verbose {
            let _ = writeln!(self.err, "{}", self.paint.text(Tone::Dim, &event_json(event)));
        }
        if let Some(line) = live_line(event, state, self.paint) {
            let _ = writeln!(self.err, "{}", indent(place, line.trim_end()));
        }
    }

    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]) {
        let index = index_of(stream);
        let mut lines = Vec::new();
        let feed = &mut self.voices.of(lane).lines[index];
        feed.push(bytes, &mut |line| lines.push(line.to_owned()));
        lines.iter().for_each(|line| self.line(lane, index, line));
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

    fn is_verbose(&self) -> bool {
        self.verbosity == Verbosity::Verbose
    }

    fn step_begins(&mut self, _: usize, _: bool) {}

    fn step_ends(&mut self, lane: usize) {
        for index in 0..2 {
            let mut last = None;
            let feed = &mut self.voices.of(lane).lines[index];
            feed.finish(&mut |line| last = Some(line.to_owned()));
            last.iter().for_each(|line| self.line(lane, index, line));
            // Nobody's colours go on in the next step.
            self.voices.of(lane).tidy[index] = Tidy::default();
        }
    }

    fn tick(&mut self, _: usize, _: Duration, _: Option<Duration>, _: usize) {}

    fn pause(&mut self) {}
}
