//! Rows for what has ended: steps, items, and steps that were never reached.

use std::io::Write;
use std::time::Duration;

use aye_core::event::{BadOutcome, Event, EventKind, ProcessRecord, StepCompleted, StepFailed};
use aye_core::journal::{State, StepRecord, StepStatus};

use crate::paint::{Glyph, Tone, duration, escape_control, escape_control_line, plural};
use crate::screen::Painted;
use crate::signs;

use super::super::OutputMode;
use super::super::failures::shortened;
use super::super::kept_output::{KeptLine, is_logged};
use super::super::timeline::ended_words;
use super::LiveReport;
use super::block::between;
use super::lanes::Lane;
use super::row::{Row, painted};

impl<W: Write> LiveReport<'_, W> {
    /// A step that ended well.
    pub(super) fn completed(&self, lane: &Lane, done: &StepCompleted) -> Vec<Painted> {
        let notes: Vec<String> =
            done.note.iter().flat_map(|note| note.trim().lines()).map(escape_control).collect();
        let marked = done.marked_by.as_ref().map(|who| format!("marked as done by {who}"));
        let left = done.process.as_ref().and_then(ProcessRecord::left_behind);
        let remarks = done.process.iter().flat_map(|process| &process.remarks);
        let said: Vec<String> = (notes.into_iter().chain(marked).chain(left))
            .chain(remarks.map(|remark| escape_control(remark)))
            .collect();
        // The answer has a row of its own, which says more.
        let is_question = lane.current.as_ref().is_none_or(|current| current.asks);
        let is_answer = is_question && lane.answered.as_ref() == Some(&done.step);
        if is_answer && said.is_empty() {
            return Vec::new();
        }
        let took = done.process.as_ref().map(|process| process.duration_ms).or(done.duration_ms);
        let right = took.map(Duration::from_millis).map(duration).unwrap_or_default();
        let name = lane.name(Some(&done.step), self.paint);
        let (mark, layout) = ((Glyph::Done, Tone::Good), self.layout());
        let row =
            Row { mark, depth: lane.depth(), name: &name, text: "", result: "", right: &right };
        match said.split_first() {
            Some((first, more)) => layout.whole(&Row { text: first, ..row }, None, more),
            None => {
                let (text, result) = self.gist(lane);
                vec![layout.row(&Row { text: &text, result: &result, ..row })]
            }
        }
    }

    /// What a step did, and what came of it where that fits a line.
    fn gist(&self, lane: &Lane) -> (String, String) {
        let Some(current) = lane.current.as_ref().filter(|_| self.folds()) else {
            return (String::new(), String::new());
        };
        let text = current.text.clone();
        if let Some(nested) = current.nested.filter(|nested| nested.items > 0 && nested.counted) {
            let text = match nested.items - nested.done.min(nested.items) {
                0 => plural(nested.items, "item"),
                _ => format!("{} of {} items", nested.done, nested.items),
            };
            return (text, String::new());
        }
        if self.mode == OutputMode::None {
            return (text, String::new());
        }
        let result = match (lane.output.only_line(), lane.output.count()) {
            // What came of a step is what it wrote to standard output.
            (Some(KeptLine { stream: 1, text }), _) => {
                format!("{} {text}", self.paint.glyph(Glyph::ErrorBar))
            }
            (Some(line), _) => line.text,
            (None, 0) => String::new(),
            (None, lines) => plural(usize::try_from(lines).unwrap_or(usize::MAX), "line"),
        };
        (text, result)
    }

    /// A step that ended badly, and what it wrote.
    pub(super) fn failed(&self, lane: &Lane, failed: &StepFailed) -> Vec<Painted> {
        // What was never started has used nothing, and took no time.
        let process = failed.process.as_ref().filter(|process| process.cpu_ms.is_some());
        let took = process.map(|process| process.duration_ms).or(failed.duration_ms);
        let took = took.filter(|_| failed.outcome != BadOutcome::Interrupted);
        let right = took.map(Duration::from_millis).map(duration).unwrap_or_default();
        let routed = failed.leads_to.as_deref();
        let (mark, tone) = signs::of_failure(failed);
        let message = self.lanes.get(0).map(|run| shortened(&failed.message, &run.run));
        let message = message.as_deref().unwrap_or(&failed.message);
        let mut lines = message.lines().map(escape_control);
        let mut message = lines.next().unwrap_or_default();
        let attempt = lane.current.as_ref().map_or(1, |current| current.attempt);
        if let Some(target) = routed {
            message.push_str(&format!(", which leads to `{}`", escape_control_line(target)));
        } else if attempt > 1 && failed.outcome != BadOutcome::Interrupted {
            message.push_str(&format!(", attempt {attempt}"));
        }
        if failed.outcome == BadOutcome::Timeout {
            let how = process.and_then(ended_words);
            message.extend(how.map(|how| format!(", {how}")));
        }
        message
            .extend(process.and_then(ProcessRecord::left_behind).map(|left| format!(", {left}")));
        let remarks = failed.process.iter().flat_map(|process| &process.remarks);
        let hints = failed.hint.iter().chain(remarks);
        let more: Vec<String> =
            lines.chain(hints.map(|hint| format!("hint: {}", escape_control_line(hint)))).collect();
        let name = lane.name(Some(&failed.step), self.paint);
        let depth = lane.depth();
        let row = Row {
            mark: (mark, tone),
            depth,
            name: &name,
            text: &message,
            result: "",
            right: &right,
        };
        let mut rows = self.layout().whole(&row, Some(tone).filter(|_| routed.is_none()), &more);
        if self.folds() && self.mode == OutputMode::Failed && routed.is_none() {
            rows.extend(self.output_of(lane, failed, depth));
        }
        rows
    }

    fn output_of(&self, lane: &Lane, failed: &StepFailed, depth: usize) -> Vec<Painted> {
        let (cut, lines) = lane.output.all(self.paint.color, is_logged(failed));
        let cut = cut.map(|cut| format!("{}{cut}", "  ".repeat(depth + 1)));
        let cut = cut.map(|cut| painted(self.paint.text(Tone::Dim, &cut)));
        cut.into_iter().chain(self.failed_output(&lines, depth + 1)).collect()
    }

    /// A step that was left out.
    pub(super) fn skipped(&self, lane: &Lane, step: &str, why: Option<&str>) -> Vec<Painted> {
        let name = lane.name(Some(step), self.paint);
        let text = why.map(escape_control_line).unwrap_or_default();
        let mark = (Glyph::Skipped, Tone::Dim);
        let row =
            Row { mark, depth: lane.depth(), name: &name, text: &text, result: "", right: "" };
        vec![self.layout().row(&row)]
    }

    /// An item of a list that has ended; of one that failed, the step has said why.
    pub(super) fn item_ended(&self, lane: &Lane, event: &Event, state: &State) -> Vec<Painted> {
        let well = matches!(event.kind, EventKind::SkillCompleted { .. });
        if !lane.is_item() || !self.folds() || (!well && lane.failure_shown) {
            return Vec::new();
        }
        let name = lane.name(None, self.paint);
        let right = duration(between(lane.began, event.at));
        let why = state.end_message.as_deref().unwrap_or_default();
        let is_skipped = |step: &&StepRecord| step.status == StepStatus::Skipped;
        let skipped = state.steps.values().filter(is_skipped).count();
        let failed = state.steps.values().filter(|step| step.is_failed()).count();
        // The row of its only step is the row of the item.
        if failed > 0 && lane.done <= 1 && lane.failure_shown {
            return Vec::new();
        }
        let (mark, text) = match lane.done {
            _ if !well => {
                let cancelled = matches!(event.kind, EventKind::SkillCancelled { .. });
                let status = if cancelled { StepStatus::Cancelled } else { StepStatus::Failed };
                (signs::of_step(status), escape_control_line(why))
            }
            // It continued after a failure: that is not the same as going well.
            steps if failed > 0 => {
                let done = plural(steps.saturating_sub(skipped + failed), "step");
                let skipped = match skipped {
                    0 => String::new(),
                    _ => format!(", {skipped} skipped"),
                };
                (signs::of_step(StepStatus::Failed), format!("{done}, {failed} failed{skipped}"))
            }
            // A step that was skipped is not done: the row says so.
            steps if skipped > 0 => {
                let done = plural(steps.saturating_sub(skipped), "step");
                ((Glyph::Done, Tone::Warn), format!("{done}, {skipped} skipped"))
            }
            0 | 1 => ((Glyph::Done, Tone::Good), lane.last_text.clone()),
            steps => ((Glyph::Done, Tone::Good), plural(steps, "step")),
        };
        let row =
            Row { mark, depth: lane.depth(), name: &name, text: &text, result: "", right: &right };
        vec![self.layout().row(&row)]
    }

    /// The steps that the run did not come to, in one row or two.
    pub(super) fn unreached(&self) -> Vec<Painted> {
        let names = self.plan.unreached(self.flow);
        if names.is_empty() {
            return Vec::new();
        }
        let dot = format!(" {} ", self.paint.glyph(Glyph::Dot));
        let names: Vec<String> = names.into_iter().map(escape_control_line).collect();
        let text = format!("not reached: {}", names.join(&dot));
        let width = self.layout().width.saturating_sub(2);
        let lines = super::super::fold::wrap_words(&text, width);
        let mark = self.paint.glyph(Glyph::Pending);
        let row = |(at, line): (usize, String)| {
            let mark = if at == 0 { mark } else { " " };
            painted(self.paint.text(Tone::Dim, &format!("{mark} {line}")))
        };
        lines.into_iter().enumerate().map(row).collect()
    }
}
