//! Runs inside a step: which are begun, and what becomes of the step.

use std::time::Instant;

use aye_core::effect::Effect;
use aye_core::input::{End, Finished, Input, Request};
use aye_core::nested::Nested;
use aye_core::schedule::{ChildEnd, Schedule};
use serde_json::Value;

use crate::error::Error;

use super::child::Begun;
use super::drive::Driver;
use super::lane::{Lane, LaneId, Work};

/// The runs inside a step.
pub(super) struct ChildRuns {
    nested: Nested,
    /// Which of them are begun, and what becomes of the step.
    schedule: Schedule,
    live: Vec<LaneId>,
    /// The step is to end.
    stopping: bool,
}

impl ChildRuns {
    fn new(nested: Nested) -> Self {
        let schedule = Schedule::new(&nested);
        Self { nested, schedule, live: Vec::new(), stopping: false }
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
            let Work::Nested { inside, .. } = &mut self.lane_mut(id).work else { return Ok(()) };
            let Some(index) = inside.schedule.begin() else { break };
            let child = inside.nested.children[index].clone();
            let (deadline, again) = (inside.nested.deadline, inside.nested.again.clone());
            // The items of a list run the same steps.
            let sibling = inside.live.first().copied().filter(|_| inside.nested.is_list);
            let flow = sibling.map(|lane| self.lane(lane).machine.shared_flow());
            let label = child.parent.label();
            let begun = self.open_child(id, index, child, deadline, again, flow)?;
            let Work::Nested { inside, .. } = &mut self.lane_mut(id).work else { return Ok(()) };
            match begun {
                Begun::Going(lane) => inside.live.push(lane),
                Begun::Refused(why) => {
                    inside.schedule.ended(index, ChildEnd::refused(label, why));
                }
            }
        }
        self.close_inside(id)
    }

    /// Ends the step if nothing inside it goes on or can be begun.
    fn close_inside(&mut self, id: LaneId) -> Result<(), Error> {
        let Work::Nested { inside, .. } = &self.lane(id).work else { return Ok(()) };
        if !inside.live.is_empty() {
            return self.leave_if_all_rest(id);
        }
        let Work::Nested { execution, since, inside } =
            std::mem::replace(&mut self.lane_mut(id).work, Work::Nothing)
        else {
            return Ok(());
        };
        let stopped = matches!(self.lane(id).machine.next_effect(), Effect::Stop { .. });
        let took = Some(since.elapsed());
        let finished = inside.schedule.finish(self.epoch(), execution, stopped);
        self.tell_end(id, Finished { took, ..finished })
    }

    /// When every run inside rests, the run around them does too.
    fn leave_if_all_rest(&mut self, id: LaneId) -> Result<(), Error> {
        let Work::Nested { execution, inside, .. } = &self.lane(id).work else { return Ok(()) };
        let rests =
            |lane: &LaneId| matches!(self.lane(*lane).machine.next_effect(), Effect::Rest(_));
        if !inside.live.iter().all(rests) {
            return Ok(());
        }
        let (execution, lanes) = (*execution, inside.live.clone());
        let why = lanes.iter().find_map(|lane| self.lane(*lane).unasked.clone());
        lanes.iter().for_each(|lane| self.close(*lane));
        self.lane_mut(id).work = Work::Nothing;
        if matches!(self.lane(id).machine.next_effect(), Effect::Stop { .. }) {
            let end = End::Stopped;
            self.tell_end(id, Finished::bare(execution, end, None))?;
        } else {
            let message = why.unwrap_or_else(|| "a run inside it rests".to_owned());
            self.lane_mut(id).unasked = Some(message.clone());
            self.apply(id, Input::Leave { message }, None)?;
        }
        Ok(())
    }

    /// A run inside another has ended or rests.
    pub(super) fn rests(&mut self, id: LaneId) -> Result<(), Error> {
        if self.is_form(id) {
            return self.form_rests(id);
        }
        let Some((parent, index)) = self.lane(id).parent else { return Ok(()) };
        if !matches!(self.lane(id).machine.next_effect(), Effect::Finish) {
            return self.leave_if_all_rest(parent);
        }
        let past = self.is_past(parent);
        let machine = &self.lane(id).machine;
        let Some(end) = ChildEnd::of(machine.state(), machine.result(), past) else {
            return Ok(());
        };
        self.close(id);
        let Work::Nested { inside, .. } = &mut self.lane_mut(parent).work else { return Ok(()) };
        inside.live.retain(|live| *live != id);
        inside.schedule.ended(index, end);
        self.go_on_inside(parent)
    }

    /// Whether the time of the step that a lane is at is up.
    fn is_past(&self, id: LaneId) -> bool {
        let Work::Nested { inside, .. } = &self.lane(id).work else { return false };
        inside.nested.deadline.is_some_and(|deadline| self.parts.clock.now() >= deadline)
    }

    /// Ends a nested step in order: its runs first.
    pub(super) fn stop_inside(&mut self, id: LaneId) -> Result<(), Error> {
        let cancel = self.lane(id).machine.cancelled_by();
        let Work::Nested { inside, .. } = &mut self.lane_mut(id).work else { return Ok(()) };
        let live = inside.live.clone();
        inside.schedule.stop();
        let first = !std::mem::replace(&mut inside.stopping, true);
        if let (true, Some((by, reason))) = (first, cancel) {
            for lane in live {
                if self.lanes[lane].is_some() {
                    let request = Request::Cancel { by: by.clone(), reason: reason.clone() };
                    self.apply(lane, Input::Request(request), None)?;
                }
            }
        }
        self.close_inside(id)
    }

    /// Forgets a lane that needs nobody any more.
    pub(super) fn close(&mut self, id: LaneId) {
        let inside: Vec<LaneId> = match self.lanes[id].take() {
            Some(Lane { work: Work::Nested { inside, .. }, .. }) => inside.live,
            _ => Vec::new(),
        };
        inside.into_iter().for_each(|lane| self.close(lane));
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
        self.lane_mut(id).work = Work::Nested { execution, since: Instant::now(), inside };
        self.go_on_inside(id)
    }
}
