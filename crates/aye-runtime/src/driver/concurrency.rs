//! Runs that need the name of their `concurrency` before they continue.

use aye_core::effect::Effect;
use aye_core::input::Input;
use aye_core::journal::Blocked;

use crate::error::Error;
use crate::store::StoreError;

use super::drive::Driver;
use super::lane::{LaneId, ROOT, Work};

impl Driver<'_> {
    /// Takes the name of a lane's run, or says which run has it. It is tried
    /// again when the mailbox is read: the end of the other run wakes us for that.
    pub(super) fn acquire(&mut self, id: LaneId) -> Result<(), Error> {
        let lane = self.lane_mut(id);
        if std::mem::replace(&mut lane.name_refused, true) {
            return Ok(());
        }
        let before = lane.machine.clone();
        let state = before.state();
        let Some(claim) = &state.claim else { return Ok(()) };
        if let Some(blocked) = self.parts.store.blocked(&state.run, &claim.name)? {
            return self.blocked(id, blocked);
        }
        match self.apply(id, Input::Acquired, None) {
            // Another run was quicker: what was not written has not happened.
            Err(Error::Store(StoreError::NameTaken { blocked, .. })) => {
                self.lane_mut(id).machine = before;
                self.blocked(id, blocked)
            }
            applied => applied.map(drop),
        }
    }

    fn blocked(&mut self, id: LaneId, blocked: Blocked) -> Result<(), Error> {
        let before = self.lane(id).machine.clone();
        match self.apply(id, Input::Blocked(blocked), None) {
            Err(Error::Store(StoreError::NameDeadlock { holder, .. })) => {
                self.lane_mut(id).machine = before;
                self.apply(id, Input::Deadlock { holder }, None).map(drop)
            }
            applied => applied.map(drop),
        }
    }

    /// There may be news of the names that lanes wait for.
    pub(super) fn try_names_again(&mut self) {
        for id in self.lanes_without_name() {
            self.lane_mut(id).name_refused = false;
            self.lanes.look_at(id);
        }
    }

    /// Lanes that wait for a name that a run beside them has, where that run
    /// rests and nothing else continues: they rest too, or nothing would ever end.
    pub(super) fn rest_if_stuck(&mut self) -> Result<bool, Error> {
        let waiting = self.lanes_without_name();
        let root = &self.lane(ROOT).machine.state().run;
        let waits_inside = |id: &LaneId| {
            let state = self.lane(*id).machine.state();
            let holder = state.waits_for_name().map(|(_, waiting)| &waiting.holder);
            holder.is_some_and(|holder| holder.is_inside(root))
        };
        let stands = |id: &LaneId| {
            let lane = self.lane(*id);
            matches!(lane.work, Work::Nested { .. })
                || matches!(lane.machine.next_effect(), Effect::Rest(_))
                || waiting.contains(id)
        };
        let stuck = !waiting.is_empty()
            && waiting.iter().all(waits_inside)
            && self.live().iter().all(stands);
        if stuck && self.is_any_free(&waiting)? {
            self.try_names_again();
        } else if stuck {
            for id in waiting {
                let name =
                    self.lane(id).machine.state().waits_for_name().map_or("", |(name, _)| name);
                let message = format!(
                    "a run of the same step holds the name `{name}` and waits for an answer"
                );
                self.lane_mut(id).unasked = Some(message.clone());
                self.apply(id, Input::Leave { message }, None)?;
            }
        }
        Ok(stuck)
    }

    /// Whether one of these lanes could have its name: the run that had it may
    /// have ended in this very moment.
    fn is_any_free(&self, waiting: &[LaneId]) -> Result<bool, Error> {
        for id in waiting {
            let state = self.lane(*id).machine.state();
            let Some(claim) = &state.claim else { continue };
            if self.parts.store.blocked(&state.run, &claim.name)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a run waits for a name.
    pub(super) fn waits_for_name(&self) -> bool {
        !self.lanes_without_name().is_empty()
    }

    fn lanes_without_name(&self) -> Vec<LaneId> {
        let waits = |machine: &aye_core::machine::Machine| {
            machine.state().needs_name() && matches!(machine.next_effect(), Effect::Acquire)
        };
        let lanes = self.lanes.live().filter(|(_, lane)| waits(&lane.machine));
        lanes.map(|(id, _)| id).collect()
    }

    /// The names that the run of a lane and the runs around it have.
    pub(super) fn names_around(&self, mut id: LaneId) -> Vec<String> {
        let mut names = Vec::new();
        loop {
            let lane = self.lane(id);
            names.extend(lane.machine.state().started.concurrency.clone());
            match lane.parent {
                Some((parent, _)) => id = parent,
                None => return names,
            }
        }
    }
}
