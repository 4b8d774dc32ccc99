//! Plain lines, for pipes, logs and screen readers.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write};

use aye_core::event::{Event, EventKind};
use aye_core::journal::State;
use aye_process::Stream;
use aye_process::lines::{Lines, Stretch};

use crate::paint::{Paint, Tone, escape_control_line};
use crate::term;
use aye_runtime::report::Wants;

use super::asked::AskedQuestions;
use super::kept_output::{KeptOutput, is_logged};
use super::sanitizer::Sanitizer;
use super::step_line::live_line;
use super::stream_state::{StreamState, StreamStates, index_of};
use super::verbose::verbose_line;
use super::{OutputMode, Place, Report, Verbosity, indent};

/// The steps' output goes to `out` and `err` as it came, each line with the
/// step's name; what Aye says goes to `err`.
pub struct PlainReport<O, E> {
    out: O,
    err: E,
    paint: Paint,
    /// Both streams are shown in one place, where nothing else tells them apart.
    together: bool,
    /// Whether standard output and standard error show colours.
    colors: [bool; 2],
    verbosity: Verbosity,
    mode: OutputMode,
    /// What each lane's step wrote, where it matters only if the step fails.
    kept: BTreeMap<usize, KeptOutput>,
    stream_states: StreamStates,
    asked: AskedQuestions,
    /// The lane whose step has the terminal.
    lent: Option<usize>,
    /// The lines of one piece of output; reused.
    text: String,
}

impl<O: Write, E: Write> PlainReport<O, E> {
    /// A report to two streams.
    pub fn new(out: O, err: E, paints: [Paint; 2], verbosity: Verbosity, mode: OutputMode) -> Self {
        Self {
            out,
            err,
            paint: paints[1],
            together: std::io::stdout().is_terminal() && std::io::stderr().is_terminal(),
            colors: paints.map(|paint| paint.color),
            verbosity,
            mode,
            kept: BTreeMap::new(),
            stream_states: StreamStates::default(),
            asked: AskedQuestions::default(),
            lent: None,
            text: String::new(),
        }
    }

    /// Shows what a step wrote when it has failed, or forgets it.
    fn show_kept(&mut self, lane: usize, event: &Event) {
        let failed = match &event.kind {
            EventKind::StepStarted(_) | EventKind::StepCompleted(_) => None,
            EventKind::StepFailed(failed) => Some(failed).filter(|it| it.leads_to.is_none()),
            _ => return,
        };
        let Some(kept) = self.kept.remove(&lane) else { return };
        let Some(failed) = failed.filter(|_| self.mode == OutputMode::Failed) else { return };
        let (cut, lines) = kept.all(self.paint.color, is_logged(failed));
        if let Some(cut) = cut {
            let cut =
                format!("{}: {cut}", escape_control_line(&self.stream_states.of(lane).name()));
            let _ = writeln!(self.err, "{}", self.paint.text(Tone::Dim, &cut));
        }
        for line in lines {
            self.lines(lane, line.stream, |_, each| each(Stretch::Line(&line.text)));
        }
    }

    /// The program that had the terminal may have left the cursor anywhere in its line.
    fn take_back(&mut self) {
        let _ = match (term::columns(std::io::stderr()), term::columns(std::io::stdout())) {
            (Some(columns), _) => write!(self.err, "{}", term::fresh_line(columns)),
            (None, Some(columns)) => write!(self.out, "{}", term::fresh_line(columns)),
            (None, None) => Ok(()),
        };
    }

    /// Writes the lines that `feed` gives, all at once: a reader of the same file sees whole
    /// lines.
    fn lines(
        &mut self,
        lane: usize,
        index: usize,
        feed: impl FnOnce(&mut Lines, &mut dyn FnMut(Stretch<'_>)),
    ) {
        let stream_state = self.stream_states.of(lane);
        let prefix = match self.verbosity {
            Verbosity::Quiet => String::new(),
            Verbosity::Normal | Verbosity::Verbose => {
                let bar = if self.together && index > 0 { '!' } else { '|' };
                format!("{} {bar} ", stream_state.name())
            }
        };
        let StreamState { lines, tidy, .. } = stream_state;
        let (text, tidy, color) = (&mut self.text, &mut tidy[index], self.colors[index]);
        text.clear();
        feed(&mut lines[index], &mut |stretch| {
            let lines = match stretch {
                Stretch::Plain(lines) if tidy.is_plain() && prefix.is_empty() => {
                    return text.push_str(lines);
                }
                Stretch::Plain(lines) => lines.strip_suffix('\n').unwrap_or(lines),
                Stretch::Line(line) => line,
            };
            for line in lines.split('\n') {
                text.push_str(&prefix);
                tidy.push_line(text, line, color);
                text.push('\n');
            }
        });
        // A reader that has gone away must not stop the run.
        let _ = match index {
            0 => self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()),
            _ => self.err.write_all(text.as_bytes()),
        };
    }
}

impl<O: Write, E: Write> Report for PlainReport<O, E> {
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State) {
        self.stream_states.event(place, event, state);
        self.show_kept(place.lane, event);
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
        if self.mode != OutputMode::Full {
            self.kept.entry(lane).or_default().push(index_of(stream), bytes);
            return;
        }
        self.lines(lane, index_of(stream), |lines, each| lines.push_stretches(bytes, each));
    }

    fn wants(&self) -> Wants {
        let details = self.verbosity == Verbosity::Verbose;
        Wants { color: self.paint.color, details, ..Wants::default() }
    }

    fn step_begins(&mut self, lane: usize, interactive: bool) {
        if interactive {
            self.lent = Some(lane);
        }
    }

    fn step_ends(&mut self, lane: usize) {
        if self.lent.take_if(|lent| *lent == lane).is_some() {
            self.take_back();
        }
        for index in 0..2 {
            self.lines(lane, index, |lines, each| {
                lines.finish(&mut |line| each(Stretch::Line(line)));
            });
            // Nobody's colours continue in the next step.
            self.stream_states.of(lane).tidy[index] = Sanitizer::default();
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
