//! Runs inside a step: which are begun, and what becomes of the step.

use std::time::{Duration, Instant};

use aye_core::child_schedule::{ChildEnd, ChildSchedule};
use aye_core::effect::{Effect, Task};
use aye_core::input::{End, Finished, Input, Request};
use aye_core::journal::{Ended, Phase};
use aye_core::nested::{Child, ChildRetry, Nested};
use aye_core::question::Purpose;
use jiff::Timestamp;
use serde_json::Value;

use crate::error::Error;

use super::child_run::ChildStart;
use super::drive::Driver;
use super::lane::{LaneId, Work};

/// The runs inside a step.
pub(super) struct ChildRuns {
    nested: Nested,
    /// Which of them are begun, and what becomes of the step.
    schedule: ChildSchedule,
    live: Vec<LaneId>,
    /// The step is to end.
    stopping: bool,
}

/// A run that is to be begun.
pub(super) struct NextRun {
    pub(super) index: usize,
    pub(super) child: Child,
    pub(super) deadline: Option<Timestamp>,
    pub(super) again: Option<ChildRetry>,
    /// A lane that runs the same steps.
    pub(super) sibling: Option<LaneId>,
}

impl ChildRuns {
    pub(super) fn new(nested: Nested) -> Self {
        let schedule = ChildSchedule::new(&nested);
        Self { nested, schedule, live: Vec::new(), stopping: false }
    }

    /// The run to begin now, if there is room for one. It counts as begun.
    pub(super) fn next(&mut self) -> Option<NextRun> {
        let index = self.schedule.begin()?;
        Some(NextRun {
            index,
            child: self.nested.children[index].clone(),
            deadline: self.nested.deadline,
            again: self.nested.again.clone(),
            // The items of a list run the same steps.
            sibling: self.live.first().copied().filter(|_| self.nested.is_list),
        })
    }

    /// The run that would be begun next, if a failure inside keeps it from starting.
    fn kept_back(&self) -> Option<&Child> {
        let index = self.schedule.upcoming().filter(|_| self.schedule.is_fail_fast())?;
        self.nested.children.get(index)
    }

    /// The run of this child, which an earlier driver has begun.
    fn taken_up(&mut self, index: usize) -> NextRun {
        self.schedule.begun(index);
        let (deadline, sibling) = (self.nested.deadline, None);
        NextRun {
            index,
            child: self.nested.children[index].clone(),
            deadline,
            again: None,
            sibling,
        }
    }

    /// A run has this lane.
    pub(super) fn begun(&mut self, lane: LaneId) {
        self.live.push(lane);
    }

    /// A run could not be begun.
    fn refused(&mut self, index: usize, label: String, why: String) {
        self.schedule.ended(index, ChildEnd::refused(label, why));
    }

    /// The run of this lane has ended.
    fn ended(&mut self, lane: LaneId, index: usize, end: ChildEnd) {
        self.live.retain(|live| *live != lane);
        self.schedule.ended(index, end);
    }

    /// Begins nothing further; says whether it is the first time.
    fn stop(&mut self) -> bool {
        self.schedule.stop();
        !std::mem::replace(&mut self.stopping, true)
    }

    /// The lanes of those that continue.
    pub(super) fn live(&self) -> &[LaneId] {
        &self.live
    }

    /// Whether the time of the step is up.
    fn is_past(&self, now: Timestamp) -> bool {
        self.nested.deadline.is_some_and(|deadline| now >= deadline)
    }

    /// What becomes of the step.
    fn finish(self, epoch: u64, execution: u32, stopped: bool) -> Finished {
        self.schedule.finish(epoch, execution, stopped)
    }

    /// What those that have ended gave.
    pub(super) fn results(&self) -> impl Iterator<Item = &Value> {
        self.schedule.results()
    }
}

impl Driver<'_> {
    /// Begins what is to be begun; the step ends when nothing is left.
    pub(super) fn go_on_inside(&mut self, id: LaneId) -> Result<(), Error> {
        loop {
            if self.waits_for_recovery(id)? {
                break;
            }
            let Work::Nested { inside, .. } = &mut self.lane_mut(id).work else { return Ok(()) };
            let Some(next) = inside.next() else { break };
            let NextRun { index, child, deadline, again, sibling } = next;
            let flow = sibling.map(|lane| self.lane(lane).machine.shared_flow());
            let label = child.parent.label();
            let begun = self.open_child(id, index, child, deadline, again, flow)?;
            if let ChildStart::Started(lane) = begun
                && let Phase::Ended(ended) = &self.lane(lane).machine.state().phase
            {
                let well = *ended == Ended::Completed;
                self.parts.report.ended_before(id, well);
            }
            let Work::Nested { inside, .. } = &mut self.lane_mut(id).work else { return Ok(()) };
            match begun {
                ChildStart::Started(lane) => inside.begun(lane),
                ChildStart::Refused(why) => inside.refused(index, label, why),
            }
        }
        self.close_inside(id)
    }

    /// Whether the next run of a step waits until a failure beside it is settled. Runs that an
    /// earlier driver began are taken up all the same: their questions belong in the inbox.
    fn waits_for_recovery(&self, id: LaneId) -> Result<bool, Error> {
        let Work::Nested { inside, .. } = &self.lane(id).work else { return Ok(false) };
        let Some(child) = inside.kept_back() else { return Ok(false) };
        if !inside.live().iter().any(|lane| self.is_recovering(*lane)) {
            return Ok(false);
        }
        let Ok(run) = child.parent.child() else { return Ok(false) };
        Ok(self.parts.store.run(&run)?.is_none())
    }

    /// Whether a person is asked about a failure in the run of a lane, or inside it.
    pub(super) fn is_recovering(&self, id: LaneId) -> bool {
        let Some(lane) = self.lanes.get(id) else { return false };
        let asking = lane.machine.state().asking();
        let asks = asking.is_some_and(|question| question.purpose == Purpose::Recover);
        let Work::Nested { inside, .. } = &lane.work else { return asks };
        asks || inside.live().iter().any(|id| self.is_recovering(*id))
    }

    /// Ends the step if nothing inside it continues or can be begun.
    fn close_inside(&mut self, id: LaneId) -> Result<(), Error> {
        let Work::Nested { inside, .. } = &self.lane(id).work else { return Ok(()) };
        if !inside.live().is_empty() {
            return self.leave_if_all_rest(id);
        }
        let Work::Nested { execution, since, inside } =
            std::mem::replace(&mut self.lane_mut(id).work, Work::Nothing)
        else {
            return Ok(());
        };
        let stopped = matches!(self.lane(id).machine.next_effect(), Effect::Stop { .. });
        let took = Some(since.elapsed());
        let finished = inside.finish(self.epoch(), execution, stopped);
        self.tell_end(id, Finished { took, ..finished })
    }

    /// When every run inside rests, the run around them does too.
    fn leave_if_all_rest(&mut self, id: LaneId) -> Result<(), Error> {
        let Work::Nested { execution, inside, .. } = &self.lane(id).work else { return Ok(()) };
        let rests =
            |lane: &LaneId| matches!(self.lane(*lane).machine.next_effect(), Effect::Rest(_));
        if !inside.live().iter().all(rests) {
            return Ok(());
        }
        let (execution, lanes) = (*execution, inside.live().to_vec());
        let why = lanes.iter().find_map(|lane| self.lane(*lane).unasked.clone());
        let resting = lanes.iter().any(|lane| self.lane(*lane).rests);
        // The clean-up of a cancelled run continues when someone has answered.
        let cleans_up = lanes.iter().any(|lane| {
            let machine = &self.lane(*lane).machine;
            machine.state().finally.is_some() || machine.cancelled_by().is_some()
        });
        lanes.iter().for_each(|lane| self.close(*lane));
        self.lane_mut(id).work = Work::Nothing;
        let stops = matches!(self.lane(id).machine.next_effect(), Effect::Stop { .. });
        if stops && !cleans_up {
            let end = End::Stopped;
            self.tell_end(id, Finished::bare(execution, end, None))?;
        } else {
            let message = why.unwrap_or_else(|| "a run inside it rests".to_owned());
            let lane = self.lane_mut(id);
            lane.unasked = Some(message.clone());
            lane.rests = resting;
            let input = match resting {
                true => Input::Rest { message },
                false => Input::Leave { message },
            };
            self.apply(id, input, None)?;
        }
        Ok(())
    }

    /// A run inside another has ended or rests.
    pub(super) fn rests(&mut self, id: LaneId) -> Result<(), Error> {
        if self.calls.is_form(id) {
            return self.form_rests(id);
        }
        let Some((parent, index)) = self.lane(id).parent else { return Ok(()) };
        if !matches!(self.lane(id).machine.next_effect(), Effect::Finish) {
            return self.leave_if_all_rest(parent);
        }
        self.share_secrets(id);
        let past = self.is_past(parent);
        let machine = &self.lane(id).machine;
        let Some(end) = ChildEnd::of(machine.state(), machine.result(), past) else {
            return Ok(());
        };
        self.close(id);
        let Work::Nested { inside, .. } = &mut self.lane_mut(parent).work else { return Ok(()) };
        inside.ended(id, index, end);
        self.go_on_inside(parent)
    }

    /// Whether the time of the step that a lane is at is up.
    fn is_past(&self, id: LaneId) -> bool {
        let Work::Nested { inside, .. } = &self.lane(id).work else { return false };
        inside.is_past(self.parts.clock.now())
    }

    /// Ends a nested step in order: its runs first.
    pub(super) fn stop_inside(&mut self, id: LaneId) -> Result<(), Error> {
        let cancel = self.lane(id).machine.cancelled_by();
        let now = self.lane_mut(id).cancel_now.take();
        let Work::Nested { inside, .. } = &mut self.lane_mut(id).work else { return Ok(()) };
        let (live, first) = (inside.live().to_vec(), inside.stop());
        if let Some((by, reason)) = cancel.filter(|_| first || now.is_some()) {
            for lane in live {
                if self.lanes.get(lane).is_some() {
                    self.cancel_inside(lane, (&by, reason.as_deref()), now)?;
                }
            }
        }
        self.close_inside(id)
    }

    /// Cancels a run inside another that is cancelled. Its `finally` runs to its end, unless it
    /// had begun when someone said `now` or cancelled once more.
    fn cancel_inside(
        &mut self,
        id: LaneId,
        (by, reason): (&str, Option<&str>),
        now: Option<Timestamp>,
    ) -> Result<(), Error> {
        let (by, reason) = (by.to_owned(), reason.map(str::to_owned));
        // One that rests has something to do again.
        if self.lane(id).machine.state().paused.is_some() && !self.stopping.is_told() {
            self.attach_again(id)?;
        }
        // One that an earlier driver took says nothing of what was cut off since.
        let here = self.is_cancelled_here(self.lane(id).parent.map(|(parent, _)| parent));
        let state = self.lane(id).machine.state();
        let continues = |sent| state.is_ending_since(sent);
        if state.finally.is_some() && now.is_none_or(continues) {
            if here {
                self.apply(id, Input::CancelledAround { by, reason }, None)?;
            }
            return Ok(());
        }
        let lane = self.lane_mut(id);
        lane.cancels += u32::from(here);
        lane.cancel_now = now;
        let request = Request::Cancel { by, reason, now: now.is_some() };
        self.apply(id, Input::Request(request), None)?;
        Ok(())
    }

    /// Settles a step in doubt in a run that was taken up, if a run around it is cancelled and
    /// lets it finish: Aye asks nobody what the person who cancelled knows.
    pub(super) fn settle_doubt(&mut self, id: LaneId) -> Result<(), Error> {
        let Some(question) = self.lane(id).machine.state().asking() else { return Ok(()) };
        if !self.lane(id).machine.is_in_doubt(&question.step) {
            return Ok(());
        }
        let mut around = self.lane(id).parent.map(|(parent, _)| parent);
        // What the run next to it cancels is told so when all of it is taken up.
        let told = |lane: LaneId| self.lane(lane).machine.cancelled_by();
        if around.is_some_and(|lane| told(lane).is_some()) {
            return Ok(());
        }
        let parent = |lane: LaneId| self.lane(lane).parent.map(|(parent, _)| parent);
        while let Some(lane) = around.filter(|lane| told(*lane).is_none()) {
            around = parent(lane);
        }
        let cancel = around.filter(|lane| self.is_cancelled_here(Some(*lane))).and_then(told);
        let Some((by, reason)) = cancel else { return Ok(()) };
        let input = match self.lane(id).machine.state().finally.is_some() {
            true => Input::CancelledAround { by, reason },
            false => Input::Request(Request::Cancel { by, reason, now: false }),
        };
        self.apply(id, input, None)?;
        Ok(())
    }

    /// Whether this driver read that a run is cancelled, or the run around it.
    fn is_cancelled_here(&self, id: Option<LaneId>) -> bool {
        id.is_some_and(|id| self.lane(id).cancels > 0)
    }

    /// Ends a step that this driver has not begun. If the run is cancelled, the
    /// runs inside that an earlier driver has begun end in order: they may have
    /// something to clean up.
    pub(super) fn stop_untaken(&mut self, id: LaneId, execution: u32) -> Result<(), Error> {
        let machine = &self.lane(id).machine;
        let running = machine.execution(&self.world()).ok().flatten();
        let nested = match running.map(|running| running.task) {
            Some(Task::Nested(nested)) if machine.cancelled_by().is_some() => *nested,
            _ => return self.finished(id, execution, End::Stopped, None),
        };
        let mut open = Vec::new();
        for (index, child) in nested.children.iter().enumerate() {
            let Ok(run) = child.parent.child() else { continue };
            if self.parts.store.run(&run)?.is_some_and(|row| !row.status.is_ended()) {
                open.push(index);
            }
        }
        let inside = Box::new(ChildRuns::new(nested));
        let since = self.began(id);
        self.lane_mut(id).work = Work::Nested { execution, since, inside };
        for index in open {
            let Work::Nested { inside, .. } = &mut self.lane_mut(id).work else { return Ok(()) };
            let NextRun { index, child, deadline, again, .. } = inside.taken_up(index);
            let label = child.parent.label();
            let begun = self.open_child(id, index, child, deadline, again, None)?;
            let Work::Nested { inside, .. } = &mut self.lane_mut(id).work else { return Ok(()) };
            match begun {
                ChildStart::Started(lane) => inside.begun(lane),
                ChildStart::Refused(why) => inside.refused(index, label, why),
            }
        }
        self.stop_inside(id)
    }

    /// Forgets a lane that needs nobody any more.
    pub(super) fn close(&mut self, id: LaneId) {
        self.lanes.close(id);
        self.withdraw_closed();
    }

    /// Begins the runs of a nested step.
    pub(super) fn start_inside(
        &mut self,
        id: LaneId,
        execution: u32,
        nested: Nested,
    ) -> Result<(), Error> {
        let inside = Box::new(ChildRuns::new(nested));
        let since = self.began(id);
        self.lane_mut(id).work = Work::Nested { execution, since, inside };
        self.go_on_inside(id)
    }

    /// When the step of a lane began, also where an earlier driver began it.
    fn began(&self, id: LaneId) -> Instant {
        let state = self.lane(id).machine.state();
        let started = match &state.phase {
            // A repair begins after what it repairs.
            Phase::Running { step, healing: None, .. } => {
                state.steps.get(step).and_then(|record| record.started)
            }
            Phase::Running { healing: Some(_), .. }
            | Phase::Transition(_)
            | Phase::Asking { .. }
            | Phase::Ended(_) => None,
        };
        let now = Instant::now();
        let ago = started.map(|started| self.parts.clock.now().duration_since(started));
        let ago = ago.and_then(|ago| Duration::try_from(ago).ok());
        ago.and_then(|ago| now.checked_sub(ago)).unwrap_or(now)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Three items, two at a time.
    pub(in super::super) fn three_items() -> Nested {
        let child = |index: u32| {
            json!({
                "parent": {
                    "run": "abcdefgh12", "step": "each", "execution": 1, "depth": 1,
                    "item": { "index": index, "value": index },
                },
                "body": { "item": { "value": index } },
            })
        };
        serde_json::from_value(json!({
            "children": [child(0), child(1), child(2)], "parallel": 2, "fail_fast": true,
            "deadline": "2026-11-17T01:00:00Z", "is_list": true, "again": null,
        }))
        .expect("a nested step")
    }

    fn end(outcome: &str) -> ChildEnd {
        serde_json::from_value(json!({
            "outcome": outcome, "past": false, "result": 7, "label": "each", "message": "",
            "by": null, "agreed": false,
        }))
        .expect("an end")
    }

    #[test]
    fn as_many_are_begun_as_the_step_says_and_each_end_makes_room() {
        let mut inside = ChildRuns::new(three_items());
        let first = inside.next().expect("room");
        assert_eq!((first.index, first.sibling), (0, None));
        inside.begun(4);
        let second = inside.next().expect("room");
        assert_eq!((second.index, second.sibling), (1, Some(4)));
        inside.begun(5);
        assert!(inside.next().is_none(), "two at a time");
        inside.ended(4, 0, end("completed"));
        assert_eq!(inside.live(), [5]);
        assert_eq!(inside.next().map(|next| next.index), Some(2));
        assert_eq!(inside.results().next(), Some(&json!(7)));
    }

    #[test]
    fn one_that_cannot_be_begun_ends_the_step_and_keeps_the_rest_from_starting() {
        let mut inside = ChildRuns::new(three_items());
        inside.next();
        inside.refused(0, "each[0]".to_owned(), "there is no such skill".to_owned());
        assert!(inside.next().is_none() && inside.live().is_empty());
        let Finished { end: End::Failed { message, .. }, .. } = inside.finish(1, 1, false) else {
            panic!("it failed")
        };
        assert!(message.contains("there is no such skill"), "{message}");
    }

    #[test]
    fn stopping_begins_nothing_further_and_is_told_to_the_others_once() {
        let mut inside = ChildRuns::new(three_items());
        inside.next();
        inside.begun(4);
        assert_eq!((inside.stop(), inside.stop()), (true, false));
        assert!(inside.next().is_none());
        assert!(!inside.is_past("2026-11-17T00:59:59Z".parse().expect("a time")));
        assert!(inside.is_past("2026-11-17T01:00:00Z".parse().expect("a time")));
    }
}
