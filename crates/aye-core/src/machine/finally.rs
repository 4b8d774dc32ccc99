//! The end of a run, and `finally` before it.
//!
//! How a run ends is recorded first (`skill_finishing`), then the steps of
//! `finally` are entered one after the other, and then the same end is recorded
//! for good: so a run that is cut off in `finally` continues inside it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::error_code::ErrorCode;
use crate::event::{Event, EventKind, Finishing, RunEnd};
use crate::flow::NodeId;
use crate::journal::StepStatus;
use crate::question::Purpose;
use crate::skill::OnError;
use crate::text::World;

use super::deadline::usable_default;
use super::run::{Machine, after};

impl Machine {
    /// Whether `finally` is still to run before the run is over.
    pub fn has_finally_ahead(&self) -> bool {
        // Without its name a run has done nothing, and may do nothing.
        let may = !self.is_alone() && !self.state.needs_name();
        self.flow.finally().is_some() && may && self.state.finally.is_none()
    }

    /// Whether the run is in its `finally`, or belongs to one of a run around it.
    pub(super) fn is_cleaning_up(&self) -> bool {
        let parent = self.state.started.parent.as_ref();
        self.state.finally.is_some() || parent.is_some_and(|parent| parent.finally)
    }

    /// Until when a question may wait. In `finally` that is half of the time that is left, so
    /// that a yes and the steps that follow have some too.
    pub(super) fn question_limit(
        &self,
        limit: Option<Duration>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let own = limit.map(|limit| after(now, limit));
        let until = self.state.deadline().filter(|_| self.is_cleaning_up());
        let half = until.map(|until| {
            let left = until.duration_since(now).max(SignedDuration::ZERO);
            now.checked_add(left / 2).unwrap_or(until)
        });
        [own, half].into_iter().flatten().min()
    }

    /// The run is over, but for `finally`.
    pub(super) fn end_run(&mut self, end: RunEnd, world: &World, events: &mut Vec<Event>) {
        self.close_question(world, events);
        if self.state.finally.is_some() {
            let note = end.message().map(str::to_owned);
            return self.end_finally(note.as_deref(), world, events);
        }
        if !self.has_finally_ahead() {
            return self.emit(end.into(), world, events);
        }
        // The budget for clean-up is spent once.
        let until = match &self.state.winding_down {
            Some(winding) => winding.until,
            None => after(self.clock(world), self.flow.skill.cleanup),
        };
        let finishing = Finishing { end, until };
        self.emit(EventKind::SkillFinishing(Box::new(finishing)), world, events);
    }

    /// The run is over while a step is in doubt: nothing may run after it.
    pub(super) fn end_in_doubt(&mut self, end: RunEnd, world: &World, events: &mut Vec<Event>) {
        if self.state.finally.is_some() {
            return self.end_run(end, world, events);
        }
        let end = match self.has_finally_ahead() {
            true => end.noted("`finally` was not run", None),
            false => end,
        };
        self.emit(end.into(), world, events);
    }

    /// Enters the first step of `finally`.
    pub(super) fn begin_finally(&mut self, world: &World, events: &mut Vec<Event>) {
        match self.flow.finally() {
            Some(target) => self.go(target, world, events),
            None => self.end_finally(None, world, events),
        }
    }

    /// `finally` is over: the run ends as was decided, or badly because of it.
    pub(super) fn end_finally(
        &mut self,
        note: Option<&str>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let Some(finally) = self.state.finally.clone() else { return };
        let failed = finally.entered.iter().find(|step| self.failed_in_finally(step));
        let said = failed.and_then(|step| self.state.steps.get(step)?.message.as_deref());
        let note = match (failed, said, note) {
            (Some(step), said, _) => {
                Some(format!("`finally`: step `{step}`: {}", said.unwrap_or("failed")))
            }
            (None, _, Some(note)) => Some(format!("`finally`: {note}")),
            (None, _, None) => None,
        };
        let at = failed.or(self.state.current.as_ref()).cloned();
        let end = match note {
            Some(note) => finally.end.noted(&self.secrets.mask(&note), at),
            None => finally.end,
        };
        self.emit(end.into(), world, events);
    }

    /// Whether a step of `finally` ended in a way that nobody allowed.
    fn failed_in_finally(&self, step: &str) -> bool {
        let Some(record) = self.state.steps.get(step) else { return false };
        let tolerated =
            self.node(step).is_some_and(|(_, node)| node.step.on_error == Some(OnError::Continue));
        match record.status {
            StepStatus::Failed | StepStatus::TimedOut => !tolerated,
            // A no inside it is not a failure.
            StepStatus::Cancelled => record.code == Some(ErrorCode::Cancelled),
            _ => false,
        }
    }

    /// Ends `finally` if its time is up before this step; says whether it was.
    pub(super) fn is_too_late_in_finally(
        &mut self,
        step: &str,
        world: &World,
        events: &mut Vec<Event>,
    ) -> bool {
        let late = self.state.finally.as_ref().is_some_and(|it| world.now >= it.until);
        if late {
            let note = format!("its time (`cleanup`) was up before `{step}`");
            self.end_finally(Some(&note), world, events);
        }
        late
    }

    /// Nobody can be asked here. In `finally` a question that nobody answers
    /// leaves its step out; says whether it did. What became of a step in doubt
    /// someone has to say.
    pub(super) fn skip_unanswered(&mut self, world: &World, events: &mut Vec<Event>) -> bool {
        let Some(question) = self.state.asking() else { return false };
        if !self.is_cleaning_up() || question.purpose == Purpose::Recover {
            return false;
        }
        let stops = |value: &String| !question.continues(&value.as_str().into());
        let applied = usable_default(question).filter(stops);
        let question = question.id.clone();
        self.emit(
            EventKind::ConfirmationExpired { question, applied, withdrawn: false },
            world,
            events,
        );
        self.advance(world, events);
        true
    }

    /// Closes an open question: the run ends, whatever would be answered.
    fn close_question(&mut self, world: &World, events: &mut Vec<Event>) {
        let follows = self.state.finally.is_some() || self.has_finally_ahead();
        if let (Some(question), true) = (self.state.asking(), follows) {
            // Its own time may be up, and the run ends for that.
            let withdrawn = self.in_time(question, world.now).is_ok();
            let (question, applied) = (question.id.clone(), None);
            let closed = EventKind::ConfirmationExpired { question, applied, withdrawn };
            self.emit(closed, world, events);
        }
    }

    /// Whether the steps of a run count against its limit there.
    pub(super) fn counts_against_limit(&self, node: NodeId) -> bool {
        !self.flow.is_in_finally(node)
    }
}
