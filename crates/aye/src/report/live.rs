//! The view for terminals: a line for each step, its output beneath it, and
//! one line at the bottom that shows what runs, for how long, and what is next.

use std::io::Write;
use std::time::Duration;

use aye_core::event::{Event, Fact};
use aye_core::flow::{Flow, Outcome, Route, Target};
use aye_core::journal::State;
use aye_process::Stream;

use crate::paint::{Glyph, Paint, Tone, duration};

use super::feed::Feed;
use super::{Report, Verbosity, step_line};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

/// Paints everything through one writer, so that nothing overlaps.
pub struct LiveReport<'a, W> {
    out: W,
    paint: Paint,
    verbosity: Verbosity,
    flow: &'a Flow,
    step: String,
    next: Option<String>,
    feeds: [Feed; 2],
    frame: usize,
    /// The bottom line is on the screen.
    painted: bool,
    /// An interactive step has the terminal.
    lent: bool,
}

impl<'a, W: Write> LiveReport<'a, W> {
    /// A view on a terminal.
    pub fn new(out: W, paint: Paint, verbosity: Verbosity, flow: &'a Flow) -> Self {
        Self {
            out,
            paint,
            verbosity,
            flow,
            step: String::new(),
            next: None,
            feeds: Default::default(),
            frame: 0,
            painted: false,
            lent: false,
        }
    }

    fn erase(&mut self) {
        if self.painted {
            // A terminal that has gone away must not stop the run.
            let _ = write!(self.out, "\r\u{1b}[2K");
            self.painted = false;
        }
    }

    fn line(&mut self, text: &str) {
        self.erase();
        let _ = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
    }

    fn output_lines(&mut self, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        self.erase();
        let bar = self.paint.text(Tone::Dim, self.paint.glyph(Glyph::Bar));
        for line in lines {
            let _ = match self.verbosity {
                Verbosity::Quiet => writeln!(self.out, "{line}"),
                Verbosity::Normal | Verbosity::Verbose => writeln!(self.out, "  {bar} {line}"),
            };
        }
        let _ = self.out.flush();
    }
}

impl<W: Write> Report for LiveReport<'_, W> {
    fn event(&mut self, event: &Event, _: &State) {
        if let Fact::StepStarted(started) = &event.fact {
            self.step.clone_from(&started.step);
            self.next = next_step(self.flow, &started.step);
        }
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        if let Fact::SkillStarted(started) = &event.fact {
            let head = format!(
                "{}  {}",
                self.paint.text(Tone::Strong, &started.skill),
                self.paint.text(Tone::Dim, &format!("run {}", event.run))
            );
            self.line(&head);
        }
        if let Some(line) = step_line(event, self.paint) {
            self.line(&line);
        }
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let index = usize::from(stream == Stream::Stderr);
        let mut lines = Vec::new();
        self.feeds[index].push(bytes, |line| lines.push(line.to_owned()));
        self.output_lines(&lines);
    }

    fn wants_output(&self) -> bool {
        true
    }

    fn is_live(&self) -> bool {
        true
    }

    fn step_begins(&mut self, interactive: bool) {
        self.erase();
        let _ = self.out.flush();
        self.lent = interactive;
    }

    fn step_ends(&mut self) {
        self.lent = false;
        for index in 0..2 {
            let mut rest = Vec::new();
            self.feeds[index].finish(|line| rest.push(line.to_owned()));
            self.output_lines(&rest);
        }
        self.erase();
    }

    fn tick(&mut self, elapsed: Duration, remaining: Option<Duration>) {
        if self.lent || self.verbosity == Verbosity::Quiet {
            return;
        }
        self.frame += 1;
        let spinner = if self.paint.unicode {
            SPINNER[self.frame % SPINNER.len()]
        } else {
            PLAIN_SPINNER[self.frame % PLAIN_SPINNER.len()]
        };
        let dot = self.paint.glyph(Glyph::Dot);
        let mut rest = vec![duration(elapsed)];
        // What is left matters when it is little.
        rest.extend(
            remaining
                .filter(|left| *left < elapsed.max(Duration::from_secs(30)))
                .map(|left| format!("{} left", duration(left))),
        );
        rest.extend(self.next.as_ref().map(|next| format!("then {next}")));
        let text = format!("{} {}", self.step, rest.join(&format!(" {dot} ")));
        let width = crate::term::size().map_or(80, |(columns, _)| usize::from(columns));
        let text = crate::term::cut(&text, width.saturating_sub(3));
        let painted = self.paint.text(Tone::Dim, &text);
        let spinner = self.paint.text(Tone::Ask, spinner);
        let _ = write!(self.out, "\r\u{1b}[2K{spinner} {painted}").and_then(|()| self.out.flush());
        self.painted = true;
    }

    fn pause(&mut self) {
        self.erase();
        let _ = self.out.flush();
    }
}

/// The step that follows if all goes well.
fn next_step(flow: &Flow, step: &str) -> Option<String> {
    match flow.route(flow.find(step)?, Outcome::Success) {
        Route::To(Target::Step(next)) => Some(flow.nodes[next].step.name.value.clone()),
        Route::To(Target::End(_)) | Route::Done | Route::Uncaught => None,
    }
}
