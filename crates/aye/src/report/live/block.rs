//! What is repainted in place at the bottom: what runs with its last lines,
//! what is still to come, and a line that sums it up.

use std::time::Duration;

use aye_runtime::report::{RunningAction, Tick};
use jiff::Timestamp;

use crate::paint::{Glyph, Paint, Tone, duration, plural};
use crate::screen::Painted;
use crate::signs;

use super::super::sanitizer::rows;
use super::super::step_line::QUEUED;
use super::lanes::{Current, Lane, Lanes};
use super::row::{Layout, Row, painted};
use super::upcoming::Upcoming;

/// The most rows of output beneath one step.
const TAIL: usize = 8;
/// The most rows of output where several run side by side.
const SHORT_TAIL: usize = 2;
/// Below this many columns the last line keeps its hints to itself.
const ROOMY: usize = 60;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

/// What a block is made from.
pub(super) struct Block<'a> {
    pub(super) lanes: &'a Lanes,
    pub(super) tick: Tick<'a>,
    pub(super) layout: Layout,
    /// How many rows the window has.
    pub(super) window: usize,
    /// The steps that follow if all goes well, with what is said of each.
    pub(super) upcoming: &'a [Upcoming],
    /// How many steps there are in all, where they follow one another.
    pub(super) steps: Option<usize>,
    /// Counts how often it was painted.
    pub(super) frame: usize,
    /// The rows of output are shown here rather than above.
    pub(super) tails: bool,
    /// What Ctrl-C does here.
    pub(super) interrupt: &'static str,
}

impl Block<'_> {
    /// The rows, the summing line last.
    pub(super) fn rows(&self) -> Vec<Painted> {
        // The rest of the window shows what has happened.
        let most = (self.window * 2 / 3).max(6).min(self.window.saturating_sub(1)).max(1);
        let mut active = Vec::new();
        self.active(0, &mut active);
        let mut room = most.saturating_sub(1);
        let all_active = active.len();
        let hidden = match all_active.checked_sub(room.saturating_sub(2).max(1)) {
            Some(more @ 1..) => {
                active.truncate(all_active - more - 1);
                more + 1
            }
            _ => 0,
        };
        room = room.saturating_sub(active.len() + usize::from(hidden > 0));
        let upcoming = self.upcoming(room);
        room = room.saturating_sub(upcoming.len());
        let writers = active.iter().filter(|active| active.tail.is_some()).count();
        let each = match writers {
            0 => 0,
            1 => room.min(TAIL),
            several => (room / several).min(SHORT_TAIL),
        };
        let mut all = Vec::with_capacity(most);
        for Active { row, tail } in active {
            all.push(row);
            if let (Some((depth, lane)), true) = (tail, self.tails) {
                all.extend(self.tail(depth, lane, each));
            }
        }
        if hidden > 0 {
            let more = format!("  {} {hidden} more", self.layout.paint.glyph(Glyph::Ellipsis));
            all.push(painted(self.layout.paint.text(Tone::Dim, &more)));
        }
        all.extend(upcoming);
        all.push(self.summing_line());
        all
    }

    /// What happens in a lane and in those inside it.
    fn active<'s>(&'s self, id: usize, rows: &mut Vec<Active<'s>>) {
        let Some(lane) = self.lanes.get(id) else { return };
        let paint = self.layout.paint;
        let (depth, step) = (lane.depth(), lane.current.as_ref().map(|now| now.step.as_str()));
        let name = lane.name(step, paint);
        let action = self.tick.running.iter().find(|action| action.lane == id);
        if let Some(question) = &lane.asks {
            let mark = (Glyph::Asking, Tone::Ask);
            let text = &question.message;
            let row =
                self.layout.row(&Row { mark, depth, name: &name, text, result: "", right: "" });
            rows.push(Active { row, tail: None });
        } else if lane.waits.is_some() {
            // Outside of items, the row above for good says so.
            if let Some(text) = self.lanes.waits_for(lane, paint).filter(|_| lane.is_in_item()) {
                let mark = signs::QUEUED;
                let row = Row { mark, depth, name: &name, text: &text, result: "", right: "" };
                rows.push(Active { row: self.layout.row(&row), tail: None });
            }
        } else if let Some(current) = lane.current.as_ref().filter(|now| {
            let calls_skill = now.nested.is_some_and(|nested| nested.items == 0);
            // An item has one row: that of the skill that it is in.
            let is_inside = calls_skill && self.lanes.inside(id).next().is_some();
            !(now.has_heading(lane) || lane.is_in_item() && is_inside)
        }) {
            let (mark, text) = self.said_of(id, current);
            let right = self.time(current, action);
            let row = self.layout.row(&Row {
                mark,
                depth,
                name: &name,
                text: &text,
                result: "",
                right: &right,
            });
            let writes = current.nested.is_none() && !lane.output.is_empty();
            rows.push(Active { row, tail: writes.then_some((depth, lane)) });
        }
        let inside: Vec<usize> = self.lanes.inside(id).map(|(id, _)| id).collect();
        inside.into_iter().for_each(|id| self.active(id, rows));
    }

    fn said_of(&self, id: usize, current: &Current) -> ((Glyph, Tone), String) {
        let paint = self.layout.paint;
        let running = (Glyph::Running, Tone::Mark);
        if current.queued {
            return (signs::QUEUED, QUEUED.to_owned());
        }
        if let Some(at) = current.retry_at.filter(|at| *at > self.tick.now) {
            let wait = duration(between(self.tick.now, at));
            return (running, format!("attempt {} in {wait}", current.attempt));
        }
        let mut parts: Vec<String> = Vec::new();
        if current.nested.is_none_or(|nested| nested.items == 0) {
            parts.push(current.text.clone());
        }
        parts.extend(self.counts(id, current));
        parts.extend((current.attempt > 1).then(|| format!("attempt {}", current.attempt)));
        parts.retain(|part| !part.is_empty());
        (running, parts.join(&dot(paint)))
    }

    /// How far the runs inside a step are: `3 of 7`, `1 failed`.
    fn counts(&self, id: usize, current: &Current) -> Vec<String> {
        let mut parts = Vec::new();
        match current.nested {
            None => {}
            Some(nested) if nested.items > 0 => {
                parts.push(match nested.counted {
                    true => format!("{} of {}", nested.done, nested.items),
                    false => plural(nested.items, "item"),
                });
                parts.extend((nested.failed > 0).then(|| format!("{} failed", nested.failed)));
            }
            Some(_) => {
                let inside = self.lanes.inside(id).next();
                let count = |(_, lane): (usize, &Lane)| format!("{} of {}", lane.done, lane.steps);
                parts.extend(inside.filter(|(_, lane)| lane.steps > 0).map(count));
            }
        }
        parts
    }

    /// How long a step has run, and how long it may, where that is little.
    fn time(&self, current: &Current, action: Option<&RunningAction>) -> String {
        if current.queued || current.retry_at.is_some_and(|at| at > self.tick.now) {
            return String::new();
        }
        let elapsed = match action {
            Some(action) => action.elapsed,
            None => between(current.since, self.tick.now),
        };
        let left = action.and_then(|action| action.remaining);
        let left = left.filter(|left| *left < elapsed.max(Duration::from_secs(30)));
        let left = left.map(|left| format!(", {} left", duration(left))).unwrap_or_default();
        format!("{}{left}", duration(elapsed))
    }

    fn tail(&self, depth: usize, lane: &Lane, most: usize) -> Vec<Painted> {
        let paint = self.layout.paint;
        let indent = 2 * depth + 2;
        let room = self.layout.width.saturating_sub(indent + 2);
        let lines = lane.output.last(most, paint.color);
        let row = |line: super::super::kept_output::KeptLine| {
            let text = rows(&line.text, room).swap_remove(0);
            let bar = stream_bar(line.stream, paint);
            painted(format!("{}{bar} {text}", " ".repeat(indent)))
        };
        lines.into_iter().map(row).collect()
    }

    /// The steps to come: a row each if they fit, else as many names as one row holds.
    fn upcoming(&self, room: usize) -> Vec<Painted> {
        let (paint, mark) = (self.layout.paint, (Glyph::Pending, Tone::Dim));
        // Some room stays for what runs to say something.
        let spare = if self.tails { room.min(3) } else { 0 };
        if self.upcoming.is_empty() || room == 0 {
            return Vec::new();
        }
        if self.upcoming.len() + spare <= room {
            let row = |step: &Upcoming| {
                let text = match (step.in_finally, step.text.as_str()) {
                    (true, "") => "finally".to_owned(),
                    (true, text) => format!("finally: {text}"),
                    (false, text) => text.to_owned(),
                };
                let name = &step.name;
                self.layout.row(&Row { mark, depth: 0, name, text: &text, result: "", right: "" })
            };
            return self.upcoming.iter().map(row).collect();
        }
        let first_of_finally = self.upcoming.iter().position(|step| step.in_finally);
        let mut line = String::new();
        for (at, step) in self.upcoming.iter().enumerate() {
            let name = match first_of_finally == Some(at) {
                true => format!("finally: {}", step.name),
                false => step.name.clone(),
            };
            let rest = self.upcoming.len() - at;
            let more = format!("{}{rest} more", dot(paint));
            let next = match line.as_str() {
                "" => name,
                line => format!("{line}{}{name}", dot(paint)),
            };
            let end = if rest > 1 { crate::term::width(&more) + 2 } else { 0 };
            if !line.is_empty() && crate::term::width(&next) + end + 2 > self.layout.width {
                line.push_str(&more);
                break;
            }
            line = next;
        }
        let line = paint.cut(&line, self.layout.width.saturating_sub(2));
        let line = format!("{} {line}", paint.glyph(Glyph::Pending));
        vec![painted(paint.text(Tone::Dim, &line))]
    }

    /// `⠼ 2 of 6 · 1m 5s · 2 running`.
    fn summing_line(&self) -> Painted {
        let paint = self.layout.paint;
        let spinner = match paint.unicode {
            true => SPINNER[self.frame % SPINNER.len()],
            false => PLAIN_SPINNER[self.frame % PLAIN_SPINNER.len()],
        };
        let mut parts = Vec::new();
        if let Some(run) = self.lanes.get(0) {
            parts.extend(self.steps.map(|all| format!("{} of {all}", run.done.min(all))));
            let nested = run.current.as_ref().filter(|current| current.has_heading(run));
            parts.extend(nested.map(|current| {
                let counts = self.counts(0, current).join(", ");
                format!("{} {counts}", current.step)
            }));
            parts.push(duration(between(run.began, self.tick.now)));
        }
        let running = self.tick.running.len();
        parts.extend((running > 1).then(|| format!("{running} running")));
        let waiting = self.tick.waiting;
        parts.extend((waiting > 0).then(|| format!("{waiting} {QUEUED}")));
        parts.extend((self.layout.width >= ROOMY).then(|| self.interrupt.to_owned()));
        // What has no room is left out, and not cut in the middle.
        let room = self.layout.width.saturating_sub(2);
        while parts.len() > 1 && crate::term::width(&parts.join(&dot(paint))) > room {
            parts.pop();
        }
        let line = paint.cut(&parts.join(&dot(paint)), room);
        painted(format!("{} {}", paint.text(Tone::Mark, spinner), paint.text(Tone::Dim, &line)))
    }
}

/// A row of something that happens, and the lane whose output belongs beneath it.
struct Active<'a> {
    row: Painted,
    tail: Option<(usize, &'a Lane)>,
}

fn dot(paint: Paint) -> String {
    format!(" {} ", paint.glyph(Glyph::Dot))
}

/// The bar before a line of output: that of standard error stands out.
pub(super) fn stream_bar(stream: usize, paint: Paint) -> String {
    match stream {
        0 => paint.text(Tone::Dim, paint.glyph(Glyph::Bar)),
        _ => paint.text(Tone::Warn, paint.glyph(Glyph::ErrorBar)),
    }
}

/// The time from one moment to a later one.
pub(super) fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}
