//! Plain lines, for pipes, logs and screen readers.

use std::io::Write;

use aye_core::event::Event;
use aye_core::journal::State;
use aye_process::Stream;

use crate::paint::{Paint, Tone};

use super::asked::AskedQuestions;
use super::sanitizer::Sanitizer;
use super::step_line::live_line;
use super::stream_state::{StreamStates, index_of};
use super::verbose::verbose_line;
use super::{Place, Report, Verbosity, indent};

/// The steps' output goes to `out` and `err` as it came, each line with the
/// step's name; what Aye says goes to `err`.
pub struct PlainReport<O, E> {
    out: O,
    err: E,
    paint: Paint,
    /// Whether standard output and standard error show colours.
    colors: [bool; 2],
    verbosity: Verbosity,
    voices: StreamStates,
    asked: AskedQuestions,
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
            voices: StreamStates::default(),
            asked: AskedQuestions::default(),
        }
    }

    /// One write for all of them: whoever reads the same file sees whole lines.
    fn lines(&mut self, lane: usize, index: usize, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let voice = self.voices.of(lane);
        let prefix = match self.verbosity {
            Verbosity::Quiet => String::new(),
            Verbosity::Normal | Verbosity::Verbose => format!("{} | ", voice.name()),
        };
        let mut text = String::new();
        for line in lines {
            text.push_str(&prefix);
            text.push_str(&voice.tidy[index].line(line, self.colors[index]));
            text.push('\n');
        }
        // A reader that has gone away must not stop the run.
        let _ = match index {
            0 => self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()),
            _ => self.err.write_all(text.as_bytes()),
        };
    }
}

impl<O: Write, E: Write> Report for PlainReport<O, E> {
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State) {
        self.voices.event(place, event);
        let asked = self.asked.line(event, state, self.paint);
        if self.verbosity == Verbosity::Quiet {
            if let Some(line) = asked {
                let _ = writeln!(self.err, "{}", indent(place, line.trim_end()));
            }
            return;
        }
        if self.verbosity == Verbosity::Verbose {
            let _ = writeln!(self.err, "{}", self.paint.text(Tone::Dim, &verbose_line(event)));
        }
        if let Some(line) = asked.or_else(|| live_line(event, state, self.paint)) {
            let _ = writeln!(self.err, "{}", indent(place, line.trim_end()));
        }
    }

    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]) {
        let index = index_of(stream);
        let mut lines = Vec::new();
        let feed = &mut self.voices.of(lane).lines[index];
        feed.push(bytes, &mut |line| lines.push(line.to_owned()));
        self.lines(lane, index, &lines);
    }

    fn wants_output(&self) -> bool {
        true
    }

    fn shows_color(&self) -> bool {
        self.paint.color
    }

    fn is_verbose(&self) -> bool {
        self.verbosity == Verbosity::Verbose
    }

    fn step_ends(&mut self, lane: usize) {
        for index in 0..2 {
            let mut last = Vec::new();
            let feed = &mut self.voices.of(lane).lines[index];
            feed.finish(&mut |line| last.push(line.to_owned()));
            self.lines(lane, index, &last);
            // Nobody's colours go on in the next step.
            self.voices.of(lane).tidy[index] = Sanitizer::default();
        }
    }

    fn stopping(&mut self, words: &str) {
        let _ = writeln!(self.err, "{}", self.paint.text(Tone::Warn, words));
    }

    fn note(&mut self, words: &str) {
        if self.verbosity != Verbosity::Quiet {
            let _ = writeln!(self.err, "{}", self.paint.text(Tone::Dim, words));
        }
    }
}
