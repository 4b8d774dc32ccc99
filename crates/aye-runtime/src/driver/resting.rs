//! A run that nobody watches holds no process while nobody answers it.
//!
//! Only a driver that was told to rests: one in the background. What it would
//! lose by going keeps it: something that runs, a limit of time, a question for
//! a secret, a secret that only this process knows.

use std::time::Duration;

use aye_core::input::Input;
use aye_core::secrets::is_secret;
use jiff::{SignedDuration, Timestamp};

use crate::error::Error;

use super::drive::Driver;
use super::lane::{LaneId, ROOT, Work};

impl Driver<'_> {
    /// Lets the run rest once nobody has seen or answered its questions for so long.
    #[must_use]
    pub fn resting_after(mut self, limit: Duration) -> Self {
        self.rest_after = SignedDuration::try_from(limit).ok();
        self
    }

    /// Rests if nothing keeps the driver and nobody has answered for long
    /// enough; says whether it does.
    pub(super) fn rest(&mut self) -> Result<bool, Error> {
        let Some(limit) = self.rest_after else { return Ok(false) };
        let Some(since) = self.idle_since() else { return Ok(false) };
        if self.parts.clock.now().duration_since(since) < limit || self.holds_lost_secret() {
            return Ok(false);
        }
        if self.is_any_seen() {
            self.questions.wait_anew(self.parts.clock.now());
            return Ok(false);
        }
        let waited = limit.unsigned_abs();
        let message =
            format!("nobody has answered for {}", aye_core::skill::format_duration(waited));
        for id in self.live() {
            if self.lane(id).question().is_some() {
                self.lane_mut(id).rests = true;
                self.lane_mut(id).unasked = Some(message.clone());
                self.apply(id, Input::Rest { message: message.clone() }, None)?;
            }
        }
        Ok(true)
    }

    /// Whether someone can see one of the open questions, here or elsewhere.
    fn is_any_seen(&self) -> bool {
        let questions = self.live().into_iter().filter_map(|id| self.lane(id).question());
        let mut ids = questions.map(|question| question.id.clone());
        ids.any(|id| self.is_seen(&id))
    }

    /// Since when nothing happens but that questions wait unseen; nothing if
    /// something else does, or could by itself.
    fn idle_since(&self) -> Option<Timestamp> {
        let mut last = None;
        for id in self.live() {
            let lane = self.lane(id);
            match (lane.question(), &lane.work) {
                (Some(question), Work::Nothing) => {
                    let timed = question.deadline.is_some() || lane.machine.wake_at().is_some();
                    if timed || question.secret {
                        return None;
                    }
                    last = last.max(Some(self.questions.unseen_since(&question.id)?));
                }
                (None, Work::Nested { .. }) => {}
                (
                    Some(_) | None,
                    Work::Nothing
                    | Work::Queued { .. }
                    | Work::Process { .. }
                    | Work::Compute { .. }
                    | Work::Tool { .. }
                    | Work::Editing(_)
                    | Work::Nested { .. },
                ) => return None,
            }
        }
        last
    }

    /// Whether a secret would be gone with this process: one that nothing says
    /// where to read again. Runs inside get their inputs from the run around them.
    fn holds_lost_secret(&self) -> bool {
        let lost = |id: LaneId| {
            let machine = &self.lane(id).machine;
            let state = machine.state();
            let readable = |name: &str| {
                let mut specs = machine.flow().skill.inputs.iter();
                specs.any(|spec| spec.name.value == name && spec.from.is_some())
            };
            let given = |(name, value): (&String, _)| is_secret(value) && !readable(name);
            id == ROOT && state.started.inputs.iter().any(given)
                || state.outputs.values().any(is_secret)
        };
        self.live().into_iter().any(lost)
    }
}
