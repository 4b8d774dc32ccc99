//! The view for terminals: a line for each step, its output beneath it, and
//! one line at the bottom that shows what runs, for how long, and what is next.
//! A line of output that is not finished, such as a progress bar, is shown
//! above that line as it stands.

use std::io::Write;
use std::time::Duration;

use aye_core::event::{Event, EventKind};
use aye_core::flow::{Flow, Route, Target};
use aye_core::journal::{State, StepOutcome};
use aye_core::skill::Body;
use aye_process::Stream;

use crate::paint::{Glyph, Paint, Tone, duration};
use crate::term;

use super::asked::AskedQuestions;
use super::fold::fold;
use super::sanitizer::{Sanitizer, painted_width, rows};
use super::step_line::{QUEUED, live_line, started_words};
use super::stream_state::{StreamState, StreamStates, index_of};
use super::verbose::verbose_line;
use super::{Others, Place, Report, Verbosity, indent, indented};

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
    /// Whether the terminal is ours to move about in.
    foreground: fn() -> bool,
    voices: StreamStates,
    /// The lane that wrote last.
    last: usize,
    frame: usize,
    /// The bottom as it stands on the screen.
    bottom: Option<Bottom>,
    /// An interactive step has the terminal.
    lent: bool,
    asked: AskedQuestions,
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
            foreground: || !aye_process::group::in_background(std::io::stderr()),
            voices: StreamStates::default(),
            last: 0,
            frame: 0,
            bottom: None,
            lent: false,
            asked: AskedQuestions::default(),
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
        let text = fold(text.trim_end(), Some((self.columns)()));
        self.put(&format!("{eraser}{text}\n"));
    }

    fn output_lines(&mut self, lane: usize, stream: usize, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let bottom = self.bottom.as_ref().map(|bottom| bottom.line.clone());
        let mut text = self.eraser();
        let name = self.names_output(lane);
        let room = (self.columns)().saturating_sub(INDENT + name.as_deref().map_or(0, term::width));
        for line in lines {
            let line = self.voices.of(lane).tidy[stream].line(line, self.paint.color);
            if self.verbosity == Verbosity::Quiet {
                text.push_str(&format!("{line}\n"));
                continue;
            }
            for row in rows(&line, room) {
                text.push_str(&self.row(name.as_deref(), &row));
            }
        }
        if let Some(line) = bottom {
            text.push_str(&self.show_bottom(line));
        }
        self.put(&text);
    }

    /// One row of a step's output.
    fn row(&self, name: Option<&str>, row: &str) -> String {
        let bar = self.paint.text(Tone::Dim, self.paint.glyph(Glyph::Bar));
        let name = self.paint.text(Tone::Dim, name.unwrap_or_default());
        format!("{}\n", format!("  {bar} {name}{row}").trim_end())
    }

    /// What stands in front of the output of runs inside the run, which may
    /// go on side by side.
    fn names_output(&self, lane: usize) -> Option<String> {
        let voice = self.voices.get(lane).filter(|voice| !voice.path.is_empty())?;
        Some(format!("{} ", term::cut(&voice.name(), (self.columns)() / 3)))
    }

    /// What shows the bottom with this line, and what is pending above it.
    fn show_bottom(&mut self, line: String) -> String {
        let pending = self.pending();
        let above = pending.as_ref().map(|row| self.row(None, row)).unwrap_or_default();
        let text = format!("{above}{}", self.painted(&line));
        self.bottom = Some(Bottom { pending, line });
        text
    }

    /// What the stream that wrote last has not finished, as far as it fits.
    fn pending(&self) -> Option<String> {
        let voice = self.voices.get(self.last)?;
        let text = voice.lines[voice.last].pending();
        let text = voice.tidy[voice.last].pending(text, self.paint.color);
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
    fn progress(
        &self,
        lane: usize,
        elapsed: Duration,
        remaining: Option<Duration>,
        others: Others,
    ) -> String {
        let name = self.voices.get(lane).map(StreamState::name).unwrap_or_default();
        let spinner = if self.paint.unicode {
            SPINNER[self.frame % SPINNER.len()]
        } else {
            PLAIN_SPINNER[self.frame % PLAIN_SPINNER.len()]
        };
        let mut parts = vec![format!("{name} {}", duration(elapsed))];
        // What is left matters when it is little.
        parts.extend(
            remaining
                .filter(|left| *left < elapsed.max(Duration::from_secs(30)))
                .map(|left| format!("{} left", duration(left))),
        );
        parts.extend((others.running > 0).then(|| format!("and {} more", others.running)));
        parts.extend((others.waiting > 0).then(|| format!("{} {QUEUED}", others.waiting)));
        if lane == 0 {
            parts.extend(place(self.flow, &name));
            parts.extend(next_step(self.flow, &name).map(|next| format!("then {next}")));
        }
        let between = format!(" {} ", self.paint.glyph(Glyph::Dot));
        let text = format!("{spinner} {}", parts.join(&between));
        term::cut(&text, (self.columns)().saturating_sub(1))
    }
}

impl<W: Write> Report for LiveReport<'_, W> {
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State) {
        self.voices.event(place, event);
        let asked = self.asked.line(event, state, self.paint);
        if self.verbosity == Verbosity::Quiet {
            if let Some(line) = asked {
                self.line(&indent(place, &line));
            }
            return;
        }
        if self.verbosity == Verbosity::Verbose {
            self.line(&self.paint.text(Tone::Dim, &verbose_line(event)));
        }
        let line = match &event.kind {
            EventKind::StepStarted(started) => started_words(started, self.paint).map(|command| {
                // A long command must not push the output away.
                let before = indented(place) + term::width(&started.step) + INDENT;
                let room = (self.columns)().saturating_sub(before);
                let command = term::cut(&command, room);
                format!(
                    "{} {}  {}",
                    self.paint.text(Tone::Ask, self.paint.glyph(Glyph::Running)),
                    self.paint.text(Tone::Strong, &started.step),
                    self.paint.text(Tone::Dim, &command)
                )
            }),
            _ => asked.or_else(|| live_line(event, state, self.paint)),
        };
        if let Some(line) = line {
            self.line(&indent(place, &line));
        }
    }

    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]) {
        self.last = lane;
        let voice = self.voices.of(lane);
        voice.last = index_of(stream);
        let mut lines = Vec::new();
        voice.lines[voice.last].push(bytes, &mut |line| lines.push(line.to_owned()));
        self.output_lines(lane, index_of(stream), &lines);
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

    fn is_verbose(&self) -> bool {
        self.verbosity == Verbosity::Verbose
    }

    fn step_begins(&mut self, _: usize, interactive: bool) {
        self.erase();
        self.lent = interactive;
    }

    fn step_ends(&mut self, lane: usize) {
        self.lent = false;
        self.erase();
        for index in 0..2 {
            let mut rest = Vec::new();
            let feed = &mut self.voices.of(lane).lines[index];
            feed.finish(&mut |line| rest.push(line.to_owned()));
            self.output_lines(lane, index, &rest);
            // Nobody's colours go on in the next step.
            self.voices.of(lane).tidy[index] = Sanitizer::default();
        }
    }

    fn tick(
        &mut self,
        lane: usize,
        elapsed: Duration,
        remaining: Option<Duration>,
        others: Others,
    ) {
        // Sent to the background, somebody else types in the last line.
        if self.lent || self.verbosity == Verbosity::Quiet || !(self.foreground)() {
            return;
        }
        self.frame += 1;
        let eraser = self.eraser();
        let line = self.progress(lane, elapsed, remaining, others);
        let bottom = self.show_bottom(line);
        self.put(&format!("{eraser}{bottom}"));
    }

    fn stopping(&mut self, words: &str) {
        self.line(&self.paint.text(Tone::Warn, words));
    }

    fn note(&mut self, words: &str) {
        if self.verbosity != Verbosity::Quiet {
            self.line(&self.paint.text(Tone::Dim, words));
        }
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
    match flow.route(flow.find(step)?, &StepOutcome::Success, None) {
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

    const ALONE: Others = Others { running: 0, waiting: 0 };

    /// What is written for these calls, on a terminal of 24 columns.
    fn written(verbosity: Verbosity, act: impl Fn(&mut LiveReport<'_, &mut Vec<u8>>)) -> String {
        let flow = flow();
        let mut bytes = Vec::new();
        let paint = Paint { color: false, unicode: true };
        let mut report = LiveReport::new(&mut bytes, paint, verbosity, &flow);
        report.columns = || 24;
        report.foreground = || true;
        report.voices.of(0).step = "build".to_owned();
        act(&mut report);
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn the_bottom_line_says_what_runs_how_long_and_what_is_next() {
        let text = written(Verbosity::Normal, |report| {
            report.columns = || 80;
            report.tick(0, Duration::from_secs(2), Some(Duration::from_secs(90)), ALONE);
            report.tick(0, Duration::from_secs(12), Some(Duration::from_secs(5)), ALONE);
        });
        insta::assert_snapshot!(text.replace('\r', "\\r").replace('\u{1b}', "\\e"), @"⠙ build 2.0s · 1 of 2 · then ship\\r\\e[2K⠹ build 12s · 5.0s left · 1 of 2 · then ship");
    }

    #[test]
    fn the_bottom_line_counts_what_waits_for_a_slot() {
        let text = written(Verbosity::Normal, |report| {
            report.columns = || 80;
            report.tick(0, Duration::from_secs(2), None, Others { running: 9, waiting: 40 });
        });
        assert_eq!(text, "⠙ build 2.0s · and 9 more · 40 waiting for a slot · 1 of 2 · then ship");
    }

    #[test]
    fn the_bottom_line_is_cut_and_stays_beneath_the_output() {
        let text = written(Verbosity::Normal, |report| {
            report.tick(0, Duration::from_secs(2), None, ALONE);
            report.output(0, Stream::Stdout, b"a line that is longer than the window\n");
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
            report.tick(0, Duration::from_secs(2), None, ALONE);
            report.columns = || 10;
            report.pause();
        });
        assert!(text.ends_with("\r\u{1b}[2A\u{1b}[J"), "{text:?}");
    }

    #[test]
    fn a_progress_bar_is_shown_while_it_moves() {
        let text = written(Verbosity::Normal, |report| {
            report.output(0, Stream::Stderr, b"10%\r50%");
            report.tick(0, Duration::from_secs(2), None, ALONE);
            report.output(0, Stream::Stderr, b"\r\x1b[K90%");
            report.tick(0, Duration::from_secs(3), None, ALONE);
            report.output(0, Stream::Stderr, b"\r100%\n");
            report.step_ends(0);
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
    fn a_command_in_a_list_is_cut_to_what_is_left_of_the_window() {
        let event = |seq: u64, mut more: serde_json::Value| -> Event {
            let common = serde_json::json!({
                "v": 1, "run": "abcdefgh12_1_1", "seq": seq, "at": "2026-11-16T04:52:49.884Z",
            });
            more.as_object_mut().expect("a map").extend(common.as_object().expect("a map").clone());
            serde_json::from_value(more).expect("an event")
        };
        let first = event(
            1,
            serde_json::json!({
                "type": "skill_started", "skill": "s", "file": "s.yaml", "source": "0",
                "steps": 1, "workspace": "/", "driver": { "user": "a", "host": "b", "pid": 1 },
            }),
        );
        let state = State::begin(&first).expect("a state");
        let started = event(
            2,
            serde_json::json!({
                "type": "step_started", "step": "build", "kind": "command", "execution": 1,
                "attempt": 1, "command": "make everything and more",
            }),
        );
        let text = written(Verbosity::Normal, |report| {
            let path = ["each[1]".to_owned(), "work[10]".to_owned()];
            report.event(Place { lane: 1, path: &path }, &started, &state);
        });
        assert_eq!(text, "    [1][10] ▸ build  ma…\n");
        assert!(text.lines().all(|line| term::width(line) <= 24), "{text}");
    }

    #[test]
    fn nothing_moves_in_the_background() {
        let text = written(Verbosity::Normal, |report| {
            report.foreground = || false;
            report.tick(0, Duration::from_secs(2), None, ALONE);
            report.output(0, Stream::Stdout, b"a line\n");
            report.tick(0, Duration::from_secs(3), None, ALONE);
        });
        assert_eq!(text, "  │ a line\n");
    }

    #[test]
    fn quiet_shows_the_output_alone() {
        let text = written(Verbosity::Quiet, |report| {
            report.tick(0, Duration::from_secs(2), None, ALONE);
            report.output(0, Stream::Stderr, b"only this");
            report.step_ends(0);
        });
        assert_eq!(text, "only this\n");
    }
}
