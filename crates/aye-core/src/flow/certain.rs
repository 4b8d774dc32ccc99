//! Steps that a run cannot do without.

use crate::event::Range;
use crate::skill::{Action, ChoiceAction, OnError};

use super::graph::{Flow, Node, Target};

impl Flow {
    /// The steps that a run comes to unless it ends before, in their order: as
    /// far as there is only one way.
    pub fn certain(&self, range: Option<&Range>) -> Vec<&Node> {
        let mut at = match range {
            Some(range) => self.find(range.step()).map(Target::Step),
            None => Some(self.start),
        };
        let mut found = Vec::new();
        let mut seen = Vec::new();
        while let Some(Target::Step(id)) = at
            && !seen.contains(&id)
        {
            seen.push(id);
            let Some(node) = self.nodes.get(id) else { break };
            found.push(node);
            at = match range {
                Some(Range::Only(_)) => None,
                Some(Range::From(_)) | None => node.only_way(),
            };
        }
        found
    }
}

impl Node {
    /// What follows, if every way that is written leads there.
    fn only_way(&self) -> Option<Target> {
        let mut goes = self.routes.labelled().into_iter().map(|(_, target)| target);
        let first = goes.next()?;
        let returns = matches!(self.step.action, Action::Return { .. });
        (!returns && goes.all(|other| other == first)).then_some(first)
    }

    /// Whether the run fails if the step does: nothing leaves it out, catches
    /// its failure, or asks what to do about it because the skill says so.
    pub fn must_succeed(&self) -> bool {
        let step = &self.step;
        let left_out = step.condition.is_some()
            || step
                .confirmation
                .iter()
                .any(|ask| ask.options.iter().any(|option| option.action == ChoiceAction::Skip));
        let tolerated =
            matches!(step.on_error, Some(OnError::Continue | OnError::Ask | OnError::AutoHeal));
        let caught = self.routes.failure.is_some() || !self.routes.codes.is_empty();
        !(left_out || tolerated || caught)
    }
}
