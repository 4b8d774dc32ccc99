//! Consequences: what follows from where the run stands, until it rests.

use crate::event::Event;
use crate::flow::Target;
use crate::journal::{Phase, Transition};
use crate::text::World;

use super::run::Machine;

impl Machine {
    /// Continues until a step runs, a question is open, the host has to look at
    /// something first, or the run is over.
    pub(super) fn advance(&mut self, world: &World, events: &mut Vec<Event>) {
        self.wanted = None;
        while self.is_driven() && self.wanted.is_none() && !self.state.needs_name() {
            match self.state.phase.clone() {
                Phase::Transition(Transition::Retrying { not_before, .. })
                    if not_before.is_some() && self.wake_at().is_some_and(|at| world.now < at) =>
                {
                    return;
                }
                Phase::Transition(between) => {
                    self.follow(between, world, events);
                    // What was seen counts for one decision.
                    self.inspected = None;
                }
                Phase::Asking { question, .. } => {
                    let Some(answer) = self.override_answer(&question, world) else {
                        return;
                    };
                    self.accept(&question, answer, world, events);
                }
                Phase::Running { .. } | Phase::Ended(_) => return,
            }
        }
    }

    /// Records what follows from the last event.
    fn follow(&mut self, between: Transition, world: &World, events: &mut Vec<Event>) {
        match between {
            Transition::Begun => self.begin(world, events),
            Transition::Settled(settled) => self.settled(settled, world, events),
            Transition::Resolved { question, resolution } => {
                self.resolved(&question, &resolution, world, events);
            }
            Transition::UnknownOutcome(unknown) => {
                self.resolve_unknown_outcome(&unknown, world, events);
            }
            Transition::Retrying { step, attempt, why, .. } => {
                self.retry_step(&step, attempt, why, world, events);
            }
            Transition::Posing { step } => self.pose_step(&step, world, events),
            Transition::Finishing => self.begin_finally(world, events),
        }
    }

    fn begin(&mut self, world: &World, events: &mut Vec<Event>) {
        let range = self.state.started.range.as_ref().map(|range| range.step().to_owned());
        let start = range.and_then(|step| self.flow.find(&step)).map(Target::Step);
        self.go(start.unwrap_or(self.flow.start), world, events);
    }

    pub(super) fn go(&mut self, target: Target, world: &World, events: &mut Vec<Event>) {
        match target {
            Target::Step(node) => self.enter(node, world, events),
            Target::End(end) => self.finish_at(end, world, events),
        }
    }
}
