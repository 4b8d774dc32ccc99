//! The view for terminals: a line for each step, its output beneath it, and
//! one line at the bottom that shows what runs, for how long, and what is next.
//! A line of output that is not finished, such as a progress bar, is shown
//! above that line as it stands.

use std::io::Write;
use std::time::Duration;

use aye_core::event::{Event, Fact};
use aye_core::flow::{Flow, Outcome, Route, Target};
use aye_core::journal::State;
use aye_core::skill::Body;
use aye_process::Stream;
use aye_process::lines::Lines;

use crate::paint::{Glyph, Paint, Tone, duration};
use crate::term;

use super::step_line::{first_line, heading};
use super::tidy::{Tidy, painted_width, rows};
use super::{Report, Verbosity, event_json, step_line};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_SPINNER: [&str; 4] = ["|", "/", "-", "\\"];
/// Columns in front of a step's output: two spaces, the bar, a space.
const INDENT: usize = 4;

/// Paints everything through one writer, so that nothing overlaps.
pub struct LiveReport<'a, W> {
    out: W,
    paint: Paint,
    verbosity: Verbosity,
    flow: &'a Flow,
    columns: fn() -> usize,
    step: String,
    lines: [Lines; 2],
    tidy: [Tidy; 2],
    /// The stream that wrote last: 0 or 1.
    last: usize,
    frame: usize,
    /// The bottom as it stands on the screen.
    bottom: Option<Bottom>,
    /// An interactive step has the terminal.
    lent: bool,
}

/// What is taken away and shown again below new output.
#[derive(Debug, Clone)]
struct Bottom {
    /// The output that is not a line yet, with its colours.
    pending: Option<String>,
    /// What runs, for how long, without colours.
    line: String,
}

impl<'a, W: Write> LiveReport<'a, W> {
    /// A view on a terminal.
    pub fn new(out: W, paint: Paint, verbosity: Verbosity, flow: &'a Flow) -> Self {
        Self {
            out,
            paint,
            verbosity,
            flow,
            columns: || term::size().map_or(80, |(columns, _)| usize::from(columns)),
            step: String::new(),
            lines: Default::default(),
            tidy: Default::default(),
            last: 0,
            frame: 0,
            bottom: None,
            lent: false,
        }
    }

    /// What takes the bottom off the screen. A window that was made narrower
    /// has folded its lines into several rows.
    fn eraser(&mut self) -> String {
        let Some(bottom) = self.bottom.take() else { return String::new() };
        let columns = (self.columns)().max(1);
        let folds = |width: usize| width.saturating_sub(1) / columns;
        let above = bottom.pending.map_or(0, |row| 1 + folds(INDENT + painted_width(&row)));
        match above + folds(term::width(&bottom.line)) {
            0 => "\r\u{1b}[2K".to_owned(),
            rows => format!("\r\u{1b}[{rows}A\u{1b}[J"),
        }
    }

    /// One write for everything: nothing flickers.
    fn put(&mut self, text: &str) {
        // A terminal that has gone away must not stop the run.
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }

    fn erase(&mut self) {
        let eraser = self.eraser();
        self.put(&eraser);
    }

    fn line(&mut self, text: &str) {
        let eraser = self.eraser();
        self.put(&format!("{eraser}{}\n", text.trim_end()));
    }

    fn output_lines(&mut self, stream: usize, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let bottom = self.bottom.as_ref().map(|bottom| bottom.line.clone());
        let mut text = self.eraser();
        let room = (self.columns)().saturating_sub(INDENT);
        for line in lines {
            let line = self.tidy[stream].line(line, self.paint.color);
            if self.verbosity == Verbosity::Quiet {
                text.push_str(&format!("{line}\n"));
                continue;
            }
            for row in rows(&line, room) {
                text.push_str(&self.row(&row));
            }
        }
        if let Some(line) = bottom {
            text.push_str(&self.show_bottom(line));
        }
        self.put(&text);
    }

    /// One row of a step's output.
    fn row(&self, row: &str) -> String {
        let bar = self.paint.text(Tone::Dim, self.paint.glyph(Glyph::Bar));
        format!("{}\n", format!("  {bar} {row}").trim_end())
    }

    /// What shows the bottom with this line, and what is pending above it.
    fn show_bottom(&mut self, line: String) -> String {
        let pending = self.pending();
        let above = pending.as_ref().map(|row| self.row(row)).unwrap_or_default();
        let text = format!("{above}{}", self.painted(&line));
        self.bottom = Some(Bottom { pending, line });
        text
    }

    /// What the stream that wrote last has not finished, as far as it fits.
    fn pending(&self) -> Option<String> {
        let text = self.lines[self.last].pending();
        let text = self.tidy[self.last].pending(text, self.paint.color);
        let mut rows = rows(&text, (self.columns)().saturating_sub(INDENT));
        let row = rows.swap_remove(0);
        (painted_width(&row) > 0).then_some(row)
    }

    /// The bottom line with its colours.
    fn painted(&self, bottom: &str) -> String {
        let (spinner, rest) = bottom.split_once(' ').unwrap_or((bottom, ""));
        let spinner = self.paint.text(Tone::Ask, spinner);
        format!("{spinner} {}", self.paint.text(Tone::Dim, rest))
    }

    /// `tests 1.2s · 2 of 3 · then release`, as far as there is room.
    fn progress(&self, elapsed: Duration, remaining: Option<Duration>) -> String {
        let spinner = if self.paint.unicode {
            SPINNER[self.frame % SPINNER.len()]
        } else {
            PLAIN_SPINNER[self.frame % PLAIN_SPINNER.len()]
        };
        let mut parts = vec![format!("{} {}", self.step, duration(elapsed))];
        // What is left matters when it is little.
        parts.extend(
            remaining
                .filter(|left| *left < elapsed.max(Duration::from_secs(30)))
                .map(|left| format!("{} left", duration(left))),
        );
        parts.extend(place(self.flow, &self.step));
        parts.extend(next_step(self.flow, &self.step).map(|next| format!("then {next}")));
        let between = format!(" {} ", self.paint.glyph(Glyph::Dot));
        let text = format!("{spinner} {}", parts.join(&between));
        term::cut(&text, (self.columns)().saturating_sub(1))
    }
}

impl<W: Write> Report for LiveReport<'_, W> {
    fn event(&mut self, event: &Event, state: &State) {
        if let Fact::StepStarted(started) = &event.fact {
            self.step.clone_from(&started.step);
        }
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        if self.verbosity == Verbosity::Verbose {
            self.line(&self.paint.text(Tone::Dim, &event_json(event)));
        }
        let line = match &event.fact {
            Fact::StepStarted(started) => started.command.as_ref().map(|command| {
                // A long command must not push the output away.
                let room = (self.columns)().saturating_sub(term::width(&started.step) + INDENT);
                let command = term::cut(&first_line(command, self.paint), room);
                format!(
                    "{} {}  {}",
                    self.paint.text(Tone::Ask, self.paint.glyph(Glyph::Running)),
                    self.paint.text(Tone::Strong, &started.step),
                    self.paint.text(Tone::Dim, &command)
                )
            }),
            _ => heading(event, state, self.paint).or_else(|| step_line(event, self.paint)),
        };
        if let Some(line) = line {
            self.line(&line);
        }
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        self.last = usize::from(stream == Stream::Stderr);
        let mut lines = Vec::new();
        self.lines[self.last].push(bytes, &mut |line| lines.push(line.to_owned()));
        self.output_lines(self.last, &lines);
    }

    fn wants_output(&self) -> bool {
        true
    }

    fn shows_color(&self) -> bool {
        self.paint.color
    }

    fn is_live(&self) -> bool {
        true
    }

    fn step_begins(&mut self, interactive: bool) {
        self.erase();
        self.lent = interactive;
    }

    fn step_ends(&mut self) {
        self.lent = false;
        self.erase();
        for index in 0..2 {
            let mut rest = Vec::new();
            self.lines[index].finish(&mut |line| rest.push(line.to_owned()));
            self.output_lines(index, &rest);
            // Nobody's colours go on in the next step.
            self.tidy[index] = Tidy::default();
        }
    }

    fn tick(&mut self, elapsed: Duration, remaining: Option<Duration>) {
        if self.lent || self.verbosity == Verbosity::Quiet {
            return;
        }
        self.frame += 1;
        let eraser = self.eraser();
        let line = self.progress(elapsed, remaining);
        let bottom = self.show_bottom(line);
        self.put(&format!("{eraser}{bottom}"));
    }

    fn pause(&mut self) {
        self.erase();
    }
}

/// `2 of 3`, where steps follow one another.
fn place(flow: &Flow, step: &str) -> Option<String> {
    match (&flow.skill.body, flow.nodes.len()) {
        (Body::States { .. }, _) | (_, 0 | 1) => None,
        (Body::Steps(_), all) => Some(format!("{} of {all}", flow.find(step)? + 1)),
    }
}

/// The step that follows if all goes well.
fn next_step(flow: &Flow, step: &str) -> Option<String> {
    match flow.route(flow.find(step)?, Outcome::Success) {
        Route::To(Target::Step(next)) => Some(flow.nodes[next].step.name.value.clone()),
        Route::To(Target::End(_)) | Route::Done | Route::Uncaught => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKILL: &str = "name: s\nsteps:\n- {name: build, shell: x}\n- {name: ship, shell: y}\n";

    fn flow() -> Flow {
        let mut skills = aye_core::skill::parse("s.yaml", SKILL).skills;
        Flow::compile(skills.remove(0))
    }

    /// What is written for these calls, on a terminal of 24 columns.
    fn written(verbosity: Verbosity, act: impl Fn(&mut LiveReport<'_, &mut Vec<u8>>)) -> String {
        let flow = flow();
        let mut bytes = Vec::new();
        let paint = Paint { color: false, unicode: true };
        let mut report = LiveReport::new(&mut bytes, paint, verbosity, &flow);
        report.columns = || 24;
        report.step = "build".to_owned();
        act(&mut report);
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn the_bottom_line_says_what_runs_how_long_and_what_is_next() {
        let text = written(Verbosity::Normal, |report| {
            report.columns = || 80;
            report.tick(Duration::from_secs(2), Some(Duration::from_secs(90)));
            report.tick(Duration::from_secs(12), Some(Duration::from_secs(5)));
        });
        insta::assert_snapshot!(text.replace('\r', "\\r").replace('\u{1b}', "\\e"), @"⠙ build 2.0s · 1 of 2 · then ship\\r\\e[2K⠹ build 12s · 5.0s left · 1 of 2 · then ship");
    }

    #[test]
    fn the_bottom_line_is_cut_and_stays_beneath_the_output() {
        let text = written(Verbosity::Normal, |report| {
            report.tick(Duration::from_secs(2), None);
            report.output(Stream::Stdout, b"a line that is longer than the window\n");
        });
        insta::assert_snapshot!(text.replace('\r', "\\r").replace('\u{1b}', "\\e"), @r"
        ⠙ build 2.0s · 1 of 2 …\r\e[2K  │ a line that is longe
          │ r than the window
        ⠙ build 2.0s · 1 of 2 …
        ");
    }

    #[test]
    fn a_bottom_line_folded_by_a_narrower_window_goes_as_a_whole() {
        let text = written(Verbosity::Normal, |report| {
            report.tick(Duration::from_secs(2), None);
            report.columns = || 10;
            report.pause();
        });
        assert!(text.ends_with("\r\u{1b}[2A\u{1b}[J"), "{text:?}");
    }

    #[test]
    fn a_progress_bar_is_shown_while_it_moves() {
        let text = written(Verbosity::Normal, |report| {
            report.output(Stream::Stderr, b"10%\r50%");
            report.tick(Duration::from_secs(2), None);
            report.output(Stream::Stderr, b"\r\x1b[K90%");
            report.tick(Duration::from_secs(3), None);
            report.output(Stream::Stderr, b"\r100%\n");
            report.step_ends();
        });
        let bottom =
            |spinner: &str, seconds: u32| format!("{spinner} build {seconds}.0s · 1 of 2 …");
        let expected = [
            format!("  │ 50%\n{}", bottom("⠙", 2)),
            format!("  │ 90%\n{}", bottom("⠹", 3)),
            format!("  │ 100%\n{}", bottom("⠹", 3)),
        ];
        assert_eq!(text, expected.join("\r\u{1b}[1A\u{1b}[J") + "\r\u{1b}[2K");
    }

    #[test]
    fn quiet_shows_the_output_alone() {
        let text = written(Verbosity::Quiet, |report| {
            report.tick(Duration::from_secs(2), None);
            report.output(Stream::Stderr, b"only this");
            report.step_ends();
        });
        assert_eq!(text, "only this\n");
    }
}
