//! The view for terminals: a plan that fills in.
//!
//! What has ended is printed for good, one row for each step, so that the
//! scrollback is a record of the run. What runs and what is to come is a
//! [`Block`] at the bottom, which is repainted in place ([`Screen`]): only
//! rows that differ are written, on events and a few times a second. The
//! output of steps is kept ([`KeptOutput`](super::kept_output::KeptOutput))
//! and printed if they fail, or as it comes where all of it is wanted.
//!
//! Touches the terminal, through the screen. The driver hands in events; what is printed goes to
//! the person there and nowhere else.

mod block;
mod finished;
mod lanes;
mod row;
mod upcoming;

use std::io::Write;
use std::time::Duration;

use aye_core::event::{Event, EventKind};
use aye_core::flow::Flow;
use aye_core::journal::State;
use aye_process::Stream;
use aye_process::lines::Lines;
use aye_runtime::report::{RunningAction, Tick, Wants};
use jiff::{SignedDuration, Timestamp};

use crate::paint::{Glyph, Paint, Tone};
use crate::screen::{Painted, Screen, at_once};
use crate::term;

use super::asked::AskedQuestions;
use super::fold::fold_rows;
use super::kept_output::KeptLine;
use super::sanitizer::{Sanitizer, painted_width, rows};
use super::step_line::{finishing_words, live_line};
use super::stream_state::{StreamState, StreamStates, index_of};
use super::verbose::verbose_line;
use super::{OutputMode, Place, Report, Verbosity, indent};

use block::{Block, stream_bar};
use lanes::Lanes;
use row::{Layout, Row, painted};

/// Columns in front of a step's output: two spaces, the bar, a space.
const INDENT: usize = 4;
/// The plan is not older than this while steps begin.
const LATE: SignedDuration = SignedDuration::from_millis(100);

/// Paints everything through one writer, so that nothing overlaps.
pub struct LiveReport<'a, W: Write> {
    out: W,
    paint: Paint,
    verbosity: Verbosity,
    mode: OutputMode,
    flow: &'a Flow,
    window: fn() -> (usize, usize),
    /// Whether the terminal is ours to move about in.
    foreground: fn() -> bool,
    stream_states: StreamStates,
    lanes: Lanes,
    /// The lane that wrote last.
    last: usize,
    /// The block as it stands on the screen.
    screen: Screen,
    /// What ran when it was last painted.
    ticked: Option<Ticked>,
    frame: usize,
    /// The lane whose step has the terminal.
    lent: Option<usize>,
    /// A question stands where rows would be printed.
    holds: bool,
    /// What is printed when the terminal is ours again.
    held: Vec<Painted>,
    asked: AskedQuestions,
    plan: upcoming::Plan,
    /// The run has ended or rests: nothing runs that a block could show.
    over: bool,
    /// What Ctrl-C does here.
    interrupt: &'static str,
    /// The process that drives the run shows it: it knows what has ended before.
    drives: bool,
}

/// A [`Tick`] that is kept.
#[derive(Debug)]
struct Ticked {
    now: Timestamp,
    running: Vec<RunningAction>,
    waiting: usize,
}

impl<'a, W: Write> LiveReport<'a, W> {
    /// A view on a terminal.
    pub fn new(
        out: W,
        paint: Paint,
        verbosity: Verbosity,
        mode: OutputMode,
        flow: &'a Flow,
    ) -> Self {
        let window = || {
            let (columns, rows) = term::size().unwrap_or((80, 24));
            (usize::from(columns), usize::from(rows))
        };
        Self {
            out,
            paint,
            verbosity,
            mode,
            flow,
            window,
            foreground: || !aye_process::group::in_background(std::io::stderr()),
            stream_states: StreamStates::default(),
            lanes: Lanes::default(),
            last: 0,
            screen: Screen::default(),
            ticked: None,
            frame: 0,
            lent: None,
            holds: false,
            held: Vec::new(),
            asked: AskedQuestions::default(),
            plan: upcoming::Plan::default(),
            over: false,
            interrupt: "Ctrl-C pauses",
            drives: true,
        }
    }

    /// A view of a run that another process drives.
    #[must_use]
    pub fn watching(mut self) -> Self {
        self.interrupt = "Ctrl-C stops watching";
        self.drives = false;
        self
    }

    fn columns(&self) -> usize {
        (self.window)().0
    }

    fn layout(&self) -> Layout {
        Layout::new(self.columns(), self.plan.longest_name(self.flow), self.paint)
    }

    /// Whether output is kept until it is known whether it matters.
    fn folds(&self) -> bool {
        self.mode != OutputMode::Full && self.verbosity != Verbosity::Quiet
    }

    /// Prints lines for good and the block below them, in one write.
    fn print(&mut self, lines: Vec<Painted>) {
        if self.lent.is_some() || self.holds {
            self.held.extend(lines);
            return;
        }
        self.screen.fit(self.columns());
        let block = if self.screen.is_empty() { Vec::new() } else { self.block() };
        let mut text = String::new();
        self.screen.print(&lines, &mut text);
        self.show(block, &mut text);
        self.put(&text);
    }

    /// The lines of a text that says everything, folded where words end.
    fn folded(&self, text: &str) -> Vec<Painted> {
        let text = fold_rows(text.trim_end(), self.columns());
        text.lines().map(|line| painted(line.to_owned())).collect()
    }

    fn show(&mut self, block: Vec<Painted>, text: &mut String) {
        let cursor = (block.len().saturating_sub(1), block.last().map_or(0, |line| line.width));
        self.screen.show(block, cursor, text);
    }

    /// One write for everything.
    fn put(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        // A terminal that has gone away must not stop the run.
        let _ = self.out.write_all(at_once(text).as_bytes()).and_then(|()| self.out.flush());
    }

    fn erase(&mut self) {
        let mut text = String::new();
        self.screen.fit(self.columns());
        self.screen.erase(&mut text);
        self.put(&text);
    }

    /// Paints the block anew, if it is there.
    fn repaint(&mut self) {
        if !self.screen.is_empty() {
            self.print(Vec::new());
        }
    }

    /// Where steps are so short that the driver never finds the time to tick, the
    /// plan is painted with a step that begins.
    fn catch_up(&mut self, place: Place<'_>, event: &Event, state: &State) {
        let EventKind::StepStarted(_) = &event.kind else { return };
        let last = self.ticked.as_ref().map_or(state.started_at, |ticked| ticked.now);
        if event.at.duration_since(last) < LATE {
            return;
        }
        let action = RunningAction { lane: place.lane, elapsed: Duration::ZERO, remaining: None };
        self.tick(Tick { now: event.at, running: &[action], waiting: 0 });
    }

    /// The block as it should be.
    fn block(&self) -> Vec<Painted> {
        let Some(ticked) = self.ticked.as_ref().filter(|_| !self.over) else { return Vec::new() };
        let tick = Tick { now: ticked.now, running: &ticked.running, waiting: ticked.waiting };
        let (layout, window) = (self.layout(), (self.window)().1);
        let upcoming = self.plan.upcoming(self.flow, self.paint);
        let block = Block {
            lanes: &self.lanes,
            tick,
            layout,
            window,
            upcoming: &upcoming,
            steps: self.plan.count(self.flow),
            frame: self.frame,
            tails: self.folds(),
            interrupt: self.interrupt,
        };
        let mut block = block.rows();
        if !self.folds() {
            block.splice(0..0, self.pending());
        }
        block
    }

    /// What the stream that wrote last has not finished, as far as it fits.
    fn pending(&self) -> Option<Painted> {
        let stream_state = self.stream_states.get(self.last)?;
        let text = stream_state.lines[stream_state.last].pending();
        let text = stream_state.tidy[stream_state.last].pending(text, self.paint.color);
        let row = rows(&text, self.columns().saturating_sub(INDENT + 1)).swap_remove(0);
        (painted_width(&row) > 0)
            .then(|| output_row(&self.output_lead(stream_state.last, None, 1), &row))
    }

    /// What stands in front of each row of a step's output.
    fn output_lead(&self, stream: usize, name: Option<&str>, depth: usize) -> Painted {
        let bar = stream_bar(stream, self.paint);
        let name = self.paint.text(Tone::Dim, name.unwrap_or_default());
        painted(format!("{}{bar} {name}", "  ".repeat(depth)))
    }

    /// Prints the lines of output that `feed` gives.
    fn print_output(
        &mut self,
        lane: usize,
        stream: usize,
        feed: impl FnOnce(&mut Lines, &mut dyn FnMut(&str)),
    ) {
        let name = self.names_output(lane);
        let room = self.columns().saturating_sub(INDENT + name.as_deref().map_or(0, term::width));
        let lead = self.output_lead(stream, name.as_deref(), 1);
        let (quiet, color) = (self.verbosity == Verbosity::Quiet, self.paint.color);
        let StreamState { lines, tidy, .. } = self.stream_states.of(lane);
        let (tidy, mut printed) = (&mut tidy[stream], Vec::new());
        feed(&mut lines[stream], &mut |line| {
            let line = tidy.line(line, color);
            match quiet {
                true => printed.push(painted(line)),
                false => printed.extend(rows(&line, room).iter().map(|row| output_row(&lead, row))),
            }
        });
        if !printed.is_empty() {
            self.print(printed);
        }
    }

    /// What stands in front of the output of runs inside the run, which may
    /// be side by side.
    fn names_output(&self, lane: usize) -> Option<String> {
        let stream_state =
            self.stream_states.get(lane).filter(|stream_state| !stream_state.path.is_empty())?;
        Some(format!("{} ", self.paint.cut(&stream_state.name(), self.columns() / 3)))
    }

    /// The output of a step that failed.
    fn failed_output(&self, lines: &[KeptLine], depth: usize) -> Vec<Painted> {
        let room = self.columns().saturating_sub(2 * depth + 3);
        let row = |line: &KeptLine| {
            let lead = self.output_lead(line.stream, None, depth);
            let rows = rows(&line.text, room).into_iter();
            rows.map(|row| output_row(&lead, &row)).collect::<Vec<_>>()
        };
        lines.iter().flat_map(row).collect()
    }

    /// What an event looks like for good.
    fn told(&self, place: Place<'_>, event: &Event, state: &State) -> Vec<Painted> {
        let Some(lane) = self.lanes.get(place.lane) else { return Vec::new() };
        let within = self.folds() && lane.is_in_item();
        match &event.kind {
            EventKind::StepStarted(started) => {
                let wanted = !self.folds() && (started.command.is_some() || started.nested);
                let opens = started.nested && !within;
                if wanted || opens {
                    self.begun(place.lane).into_iter().collect()
                } else {
                    Vec::new()
                }
            }
            EventKind::StepQueued { .. } | EventKind::StepDequeued { .. } => Vec::new(),
            EventKind::StepCompleted(done) if !within => self.completed(lane, done),
            EventKind::StepSkipped { step, message, .. } if !within => {
                self.skipped(lane, step, message.as_deref())
            }
            EventKind::StepCompleted(_) | EventKind::StepSkipped { .. } => Vec::new(),
            EventKind::StepFailed(failed) => self.failed(lane, failed),
            EventKind::SkillCompleted { .. }
            | EventKind::SkillFailed { .. }
            | EventKind::SkillCancelled { .. }
                if place.lane > 0 =>
            {
                self.item_ended(lane, event, state)
            }
            EventKind::SkillFailed { .. } | EventKind::SkillCancelled { .. } => self.unreached(),
            EventKind::SkillStarted(_) | EventKind::SkillResumed { .. }
                if place.lane > 0 && self.folds() =>
            {
                self.begun_before(place.lane, event).into_iter().collect()
            }
            EventKind::SkillResumed { .. } => {
                let line = live_line(event, state, self.paint);
                let line = line.map(|line| self.folded(&self.placed(place, None, &line)));
                let begun = self.begun_before(place.lane, event);
                line.into_iter().flatten().chain(begun).collect()
            }
            EventKind::SkillFinishing(finishing) if !within => {
                let (mark, text) = ((Glyph::Running, Tone::Mark), finishing_words(finishing));
                let (depth, name) = (lane.depth(), "finally");
                vec![self.layout().row(&Row { mark, depth, name, text, result: "", right: "" })]
            }
            // The item's own row says these.
            EventKind::SkillFinishing(_)
            | EventKind::ConcurrencyWaiting { .. }
            | EventKind::ConcurrencyAcquired { .. }
                if within =>
            {
                Vec::new()
            }
            _ => match live_line(event, state, self.paint) {
                Some(line) => self.folded(&self.placed(place, event.kind.step(), &line)),
                None => Vec::new(),
            },
        }
    }

    /// A line about a step, in its place: with the name of the item around it, and with what
    /// it says below what the other rows say.
    fn placed(&self, place: Place<'_>, step: Option<&str>, line: &str) -> String {
        let aligned = || {
            let (lane, step) = (self.lanes.get(place.lane)?, step?);
            let (mark, rest) = line.split_once(' ')?;
            let said = rest.strip_prefix(&self.paint.text(Tone::Strong, step))?;
            let (before, name) = ("  ".repeat(lane.depth()), lane.name(Some(step), self.paint));
            let said = said.strip_prefix("  ")?.replace('\n', &format!("\n{before}"));
            let column = self.layout().text_at.saturating_sub(before.len() + 4);
            let missing = " ".repeat(column.saturating_sub(term::width(&name)) + 2);
            let name = self.paint.text(Tone::Strong, &name);
            Some(format!("{before}{mark} {name}{missing}{said}"))
        };
        aligned().unwrap_or_else(|| indent(place, line))
    }

    /// The row of the step with runs inside it that a run was at before someone took it up:
    /// what happens there is shown beneath.
    fn begun_before(&self, lane: usize, event: &Event) -> Option<Painted> {
        let EventKind::SkillResumed { suspended_ms: None, .. } = &event.kind else { return None };
        let inside = self.lanes.get(lane)?;
        let heads = inside.current.as_ref().is_some_and(|current| current.has_heading(inside));
        heads.then(|| self.begun(lane)).flatten()
    }

    /// The row of a step that begins.
    fn begun(&self, lane: usize) -> Option<Painted> {
        let lane = self.lanes.get(lane)?;
        let current = lane.current.as_ref()?;
        let name = lane.name(Some(&current.step), self.paint);
        let text = match current.nested {
            Some(nested) if nested.items > 0 => crate::paint::plural(nested.items, "item"),
            Some(_) | None => current.text.clone(),
        };
        let mark = (Glyph::Running, Tone::Mark);
        let row =
            Row { mark, depth: lane.depth(), name: &name, text: &text, result: "", right: "" };
        Some(self.layout().row(&row))
    }
}

/// One row of a step's output.
fn output_row(lead: &Painted, row: &str) -> Painted {
    let width = lead.width + painted_width(row);
    let text = [lead.text.as_str(), row].concat();
    match text.ends_with(char::is_whitespace) {
        true => painted(text.trim_end().to_owned()),
        false => Painted { text, width },
    }
}

impl<W: Write> Report for LiveReport<'_, W> {
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State) {
        self.stream_states.event(place, event, state);
        self.lanes.before(place, event, state, self.paint);
        if self.drives {
            self.lanes.count_items(place.lane);
        }
        if place.lane == 0 {
            self.plan.event(event, state);
        } else if let Some(lane) = self.lanes.get(place.lane).filter(|lane| !lane.is_in_item()) {
            self.plan.inside(event, lane.depth());
        }
        let asked = self.asked.line(event, state, self.paint);
        let mut lines = Vec::new();
        if self.verbosity == Verbosity::Verbose {
            lines.extend(self.folded(&self.paint.text(Tone::Dim, &verbose_line(event))));
        }
        match asked {
            Some(line) => {
                let lane = self.lanes.get(place.lane);
                let step = event.kind.step().or(lane.and_then(|lane| lane.answered.as_deref()));
                lines.extend(self.folded(&self.placed(place, step, &line)));
            }
            None if self.verbosity == Verbosity::Quiet => {}
            None => lines.extend(self.told(place, event, state)),
        }
        if let (EventKind::StepFailed(_), Some(lane)) =
            (&event.kind, self.lanes.get_mut(place.lane))
        {
            lane.failure_shown = true;
        }
        self.lanes.after(place, event);
        if place.lane == 0 {
            self.over = match &event.kind {
                EventKind::SkillCompleted { .. }
                | EventKind::SkillFailed { .. }
                | EventKind::SkillCancelled { .. }
                | EventKind::SkillPaused { .. } => true,
                EventKind::SkillResumed { .. } => false,
                _ => self.over,
            };
        }
        if !lines.is_empty() || !self.screen.is_empty() {
            self.print(lines);
        }
        self.catch_up(place, event, state);
    }

    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]) {
        self.last = lane;
        if self.folds() {
            if let Some(lane) = self.lanes.get_mut(lane) {
                lane.output.push(index_of(stream), bytes);
            }
            return;
        }
        let stream_state = self.stream_states.of(lane);
        stream_state.last = index_of(stream);
        self.print_output(lane, index_of(stream), |lines, each| lines.push(bytes, each));
    }

    fn wants(&self) -> Wants {
        let (printed, color) = (!self.folds(), self.paint.color);
        let details = self.verbosity == Verbosity::Verbose;
        Wants { output: true, printed, color, ticks: true, details }
    }

    fn step_begins(&mut self, lane: usize, interactive: bool) {
        if !interactive {
            return;
        }
        self.erase();
        if self.folds()
            && let Some(row) = self.begun(lane)
        {
            self.print(vec![row]);
        }
        self.lent = Some(lane);
    }

    fn step_ends(&mut self, lane: usize) {
        if self.lent == Some(lane) {
            self.lent = None;
            self.screen.forget();
            self.put(&format!("\u{1b}[0m{}\u{1b}[K", term::fresh_line(self.columns())));
            let held = std::mem::take(&mut self.held);
            self.print(held);
        }
        for index in 0..2 {
            self.print_output(lane, index, |lines, each| lines.finish(each));
            // Nobody's colours continue in the next step.
            self.stream_states.of(lane).tidy[index] = Sanitizer::default();
        }
    }

    fn ended_before(&mut self, lane: usize, well: bool) {
        self.lanes.ended_inside(lane, well);
    }

    fn tick(&mut self, tick: Tick<'_>) {
        let Tick { now, running, waiting } = tick;
        self.ticked = Some(Ticked { now, running: running.to_vec(), waiting });
        // Sent to the background, someone else types in the last line.
        let idle =
            self.lent.is_some() || self.holds || self.over || self.verbosity == Verbosity::Quiet;
        if idle || !(self.foreground)() {
            return;
        }
        self.frame += 1;
        self.screen.fit(self.columns());
        let block = self.block();
        let mut text = String::new();
        self.show(block, &mut text);
        self.put(&text);
    }

    fn stopping(&mut self, words: &str) {
        let lines = self.folded(&self.paint.text(Tone::Warn, words));
        self.print(lines);
    }

    fn note(&mut self, words: &str) {
        if self.verbosity != Verbosity::Quiet {
            let lines = self.folded(&self.paint.text(Tone::Dim, words));
            self.print(lines);
        }
    }

    fn pause(&mut self) {
        self.erase();
    }

    fn hold(&mut self, held: bool) {
        self.holds = held;
        if !held && self.lent.is_none() && !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.print(held);
        }
    }

    fn continued(&mut self) {
        // Someone else has used the terminal meanwhile.
        self.screen.forget();
    }

    fn resized(&mut self) {
        self.repaint();
    }
}

impl<W: Write> Drop for LiveReport<'_, W> {
    fn drop(&mut self) {
        // An error that ends the run early is not printed into the block.
        self.erase();
    }
}

#[cfg(test)]
mod tests;
