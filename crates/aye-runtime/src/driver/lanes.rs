//! The lanes of a run, and which of them something happened to.

use std::collections::VecDeque;

use aye_core::nested::Parent;

use super::lane::{Lane, LaneId, ROOT, Work};

/// The run and the runs inside it.
pub(super) struct Lanes {
    /// By their ids; `None` once a lane has ended.
    lanes: Vec<Option<Lane>>,
    due: VecDeque<LaneId>,
}

impl Lanes {
    /// The lane of the run itself, which is due.
    pub(super) fn new(root: Lane) -> Self {
        Self { lanes: vec![Some(root)], due: VecDeque::from([ROOT]) }
    }

    /// Adds a lane.
    pub(super) fn open(&mut self, lane: Lane) -> LaneId {
        self.lanes.push(Some(lane));
        self.lanes.len() - 1
    }

    pub(super) fn get(&self, id: LaneId) -> Option<&Lane> {
        self.lanes.get(id)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: LaneId) -> Option<&mut Lane> {
        self.lanes.get_mut(id)?.as_mut()
    }

    /// Those that have not ended.
    pub(super) fn live(&self) -> impl DoubleEndedIterator<Item = (LaneId, &Lane)> {
        let lanes = self.lanes.iter().enumerate();
        lanes.filter_map(|(id, lane)| lane.as_ref().map(|lane| (id, lane)))
    }

    /// Forgets a lane and those inside it.
    pub(super) fn close(&mut self, id: LaneId) {
        let lane = self.lanes.get_mut(id).and_then(Option::take);
        if let Some(Lane { work: Work::Nested { inside, .. }, .. }) = lane {
            inside.live().iter().for_each(|inner| self.close(*inner));
        }
    }

    /// Something happened to this lane.
    pub(super) fn look_at(&mut self, id: LaneId) {
        if !self.due.contains(&id) {
            self.due.push_back(id);
        }
    }

    /// Something happened inside the steps that this lane is inside of.
    pub(super) fn look_at_parents(&mut self, id: LaneId) {
        let mut at = id;
        while let Some((parent, _)) = self.get(at).and_then(|lane| lane.parent) {
            self.look_at(parent);
            at = parent;
        }
    }

    /// The steps that a lane is inside of, from the outside in.
    pub(super) fn around(&self, id: LaneId) -> Vec<Parent> {
        let mut around = Vec::new();
        let mut at = self.get(id);
        while let Some(lane) = at {
            around.extend(lane.machine.state().started.parent.as_deref().cloned());
            at = lane.parent.and_then(|(parent, _)| self.get(parent));
        }
        around.reverse();
        around
    }

    /// The next lane that something happened to, unless it has ended.
    pub(super) fn next_due(&mut self) -> Option<LaneId> {
        loop {
            let id = self.due.pop_front()?;
            if self.get(id).is_some() {
                return Some(id);
            }
        }
    }

    /// The run itself, which is driven no further.
    pub(super) fn into_root(mut self) -> Lane {
        match self.lanes.swap_remove(ROOT) {
            Some(root) => root,
            None => unreachable!("the run itself has a lane"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::nested::{ChildRuns, tests::three_items};
    use super::super::sample;
    use super::*;

    fn lane(parent: Option<(LaneId, usize)>) -> Lane {
        Lane::new(sample::machine(sample::ONE_STEP), parent, Vec::new())
    }

    #[test]
    fn each_lane_is_due_once_and_never_after_it_ended() {
        let mut lanes = Lanes::new(lane(None));
        let (one, two) = (lanes.open(lane(Some((ROOT, 0)))), lanes.open(lane(Some((ROOT, 1)))));
        [one, two, one].into_iter().for_each(|id| lanes.look_at(id));
        lanes.close(two);
        assert_eq!(
            (lanes.next_due(), lanes.next_due(), lanes.next_due()),
            (Some(ROOT), Some(one), None)
        );
        assert_eq!(lanes.lanes.len(), 3, "an id is not used twice");
    }

    #[test]
    fn a_lane_takes_those_inside_it_along() {
        let mut lanes = Lanes::new(lane(None));
        let outer = lanes.open(lane(Some((ROOT, 0))));
        let inner = lanes.open(lane(Some((outer, 0))));
        let beside = lanes.open(lane(Some((ROOT, 1))));
        let mut inside = Box::new(ChildRuns::new(three_items()));
        inside.next();
        inside.begun(inner);
        let work = Work::Nested { execution: 1, since: Instant::now(), inside };
        lanes.get_mut(outer).expect("open").work = work;
        lanes.close(outer);
        assert_eq!(lanes.live().map(|(id, _)| id).collect::<Vec<_>>(), [ROOT, beside]);
        assert_eq!(lanes.into_root().path, Vec::<String>::new());
    }
}
