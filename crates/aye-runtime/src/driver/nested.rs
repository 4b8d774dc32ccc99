//! Runs inside a step: which are begun, and what becomes of the step.

use std::time::Instant;

use aye_core::effect::Effect;
use aye_core::event::{CancelReason, FailReason};
use aye_core::input::{End, Finished, Input, Request};
use aye_core::journal::{Ended, Phase};
use aye_core::nested::{Nested, Parent};
use serde_json::Value;

use crate::error::Error;

use super::child::Begun;
use super::drive::Driver;
use super::lane::{Lane, LaneId, Work};

/// The runs inside a step.
pub(super) struct ChildRuns {
    nested: Nested,
    /// The next that has not been begun.
    next: usize,
    live: Vec<LaneId>,
    results: Vec<Value>,
    /// What went wrong, in the order in which it did.
    failed: Vec<String>,
    /// Somebody inside declined, or did not answer.
    declined: Option<(bool, Option<String>, String)>,
    /// Items that somebody said no to: the list goes on without them.
    left_out: usize,
    timed_out: bool,
    /// A person agreed in one of them to what follows.
    agreed: bool,
    /// Somebody gave one of them up, and with it the rest.
    aborted: bool,
    /// The step is to end: nothing further is begun.
    stopping: bool,
}

impl ChildRuns {
    pub(super) fn new(nested: Nested) -> Self {
        let results = vec![Value::Null; nested.children.len()];
        Self {
            nested,
            next: 0,
            live: Vec::new(),
            results,
            failed: Vec::new(),
            declined: None,
            left_out: 0,
            timed_out: false,
            agreed: false,
            aborted: false,
            stopping: false,
        }
    }

    /// What those that have ended gave.
    pub(super) fn results(&self) -> &[Value] {
        &self.results
    }

    /// Whether another run may be begun now.
    fn has_room(&self) -> bool {
        let held = self.aborted || !self.failed.is_empty() && self.nested.fail_fast;
        !self.stopping
            && !held
            && self.declined.is_none()
            && !self.timed_out
            && self.next < self.nested.children.len()
            && self.live.len() < self.nested.parallel
    }

    /// What its end alone does not say.
    fn note(&self) -> Option<String> {
        let all = self.nested.children.len();
        (self.left_out > 0).then(|| format!("{} of {all} declined", self.left_out))
    }

    /// What became of the step, now that nothing inside it goes on.
    fn end(self, stopped: bool) -> End {
        if stopped {
            return End::Stopped;
        }
        if let Some((expired, by, message)) = self.declined {
            return End::Declined { expired, by, message };
        }
        if self.timed_out {
            return End::TimedOut;
        }
        if self.failed.is_empty() {
            let value = match self.nested.is_list {
                true => Value::Array(self.results),
                false => self.results.into_iter().next().unwrap_or_default(),
            };
            return End::Exited { value, parsed: None };
        }
        let (count, all) = (self.failed.len(), self.nested.children.len());
        let message = match (self.nested.is_list, self.failed.as_slice()) {
            (true, failed) => format!("{count} of {all} failed: {}", failed.join("; ")),
            (false, failed) => failed.join("; "),
        };
        End::Failed { code: "NESTED".to_owned(), message, hint: None, proposal: None }
    }
}

impl Driver<'_> {
    /// Begins what there is room for; the step ends when nothing is left.
    pub(super) fn go_on_inside(&mut self, id: LaneId) -> Result<(), Error> {
        loop {
            let Work::Nested { inside, .. } = &mut self.lane_mut(id).work else { return Ok(()) };
            if !inside.has_room() {
                break;
            }
            let index = inside.next;
            inside.next += 1;
            let child = inside.nested.children[index].clone();
            let (deadline, again) = (inside.nested.deadline, inside.nested.again.clone());
            let label = child.parent.label();
            match self.open_child(id, index, child, deadline, again)? {
                Begun::Going(lane) => {
                    if let Work::Nested { inside, .. } = &mut self.lane_mut(id).work {
                        inside.live.push(lane);
                    }
                }
                Begun::Refused(why) => {
                    if let Work::Nested { inside, .. } = &mut self.lane_mut(id).work {
                        inside.failed.push(format!("{label}: {why}"));
                    }
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
        let (note, agreed) = (inside.note(), inside.agreed);
        let end = inside.end(stopped);
        self.tell_end(id, Finished { note, agreed, ..Finished::bare(execution, end, took) })
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
        let state = self.lane(id).machine.state();
        let Phase::Ended(ended) = state.phase else { return Ok(()) };
        let result = self.lane(id).machine.result();
        let said = state.end_message.clone().unwrap_or_default();
        let (by, agreed) = (state.ended_by.clone(), state.agreed);
        let label = state.started.parent.as_ref().map(|parent| Parent::label(parent));
        let label = label.unwrap_or_default();
        let in_time = !self.is_past(parent);
        self.close(id);
        let Work::Nested { inside, .. } = &mut self.lane_mut(parent).work else { return Ok(()) };
        inside.live.retain(|live| *live != id);
        inside.agreed |= agreed;
        inside.aborted |= ended == Ended::Failed(FailReason::Aborted);
        match ended {
            Ended::Completed => inside.results[index] = result,
            Ended::Failed(FailReason::RunTimedOut) if !in_time => inside.timed_out = true,
            // Of several it matters which; one is the step itself.
            Ended::Failed(_) if inside.nested.is_list => {
                inside.failed.push(format!("{label}: {said}"));
            }
            Ended::Failed(_) => inside.failed.push(said),
            // In a list, a no leaves that item out.
            Ended::Cancelled(CancelReason::Declined | CancelReason::FinalState)
                if inside.nested.is_list =>
            {
                inside.left_out += 1;
            }
            Ended::Cancelled(why) => {
                let expired = why == CancelReason::Expired;
                let said = if inside.nested.is_list { format!("{label}: {said}") } else { said };
                inside.declined.get_or_insert((expired, by, said));
            }
        }
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
