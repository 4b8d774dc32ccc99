//! What a yes to a step's own gate starts: the step, the commands that guard it and its `then`,
//! and what repairs them (`repairs`).

use crate::flow;
use crate::skill::Step;
use crate::text::{Scope, TextError};

use super::covers::Coverage;
use super::follows::Follows;
use super::run::Machine;

impl Machine {
    /// What a yes to the gate of this step starts.
    pub(super) fn gate_follows(&self, step: &Step, scope: &Scope) -> Result<Follows, TextError> {
        let (line, words) = self.command_line(step, scope)?;
        let mut coverage = Coverage::default();
        self.cover(step, scope, (None, None), &mut coverage)?;
        let mut follows = Follows {
            command: (!line.is_empty()).then_some(line),
            words,
            destructive: step.destroys(),
            unseen: step.holds_a_skill(),
            ..Follows::default()
        };
        let mut earlier = vec![step];
        let mut started = vec![step];
        let belonging = match self.is_alone() {
            true => Vec::new(),
            false => self.flow.started_with(step),
        };
        for (at, asked) in belonging {
            let other = &self.flow.nodes[at].step;
            if !asked && other.action.acts() && self.may_run(at, scope, &earlier, &mut coverage) {
                let of = (Some(other.name.as_str()), None);
                let known = self.would_run(at, scope).is_ok()
                    && !self.conditions_of(at).any(|text| reads_any(text, &earlier))
                    && !earlier.iter().any(|one| uses(other, one));
                if !known || self.cover(other, scope, of, &mut coverage).is_err() {
                    follows.unknown.push(other.name.value.clone());
                }
                started.push(other);
            }
            earlier.push(other);
        }
        self.add_repairs(&step.name, &started, scope, &mut coverage, &mut follows);
        follows.coverage = Some(coverage);
        Ok(follows)
    }

    /// Whether a step that belongs to another one may run; if something outside leaves it out,
    /// that is part of what is agreed to.
    fn may_run(
        &self,
        at: usize,
        scope: &Scope,
        earlier: &[&Step],
        coverage: &mut Coverage,
    ) -> bool {
        let open = self.conditions_of(at).any(|text| reads_any(text, earlier));
        if open || self.would_run(at, scope) != Ok(false) {
            return true;
        }
        if let Some(condition) = self.outside_condition(at) {
            let why = format!("`{}` is false", condition.trim());
            coverage.leave_out(&self.flow.nodes[at].step.name, None, &why);
        }
        false
    }
}

/// Whether a condition can read what one of these steps gives.
fn reads_any(condition: &str, steps: &[&Step]) -> bool {
    steps.iter().any(|step| {
        flow::results_of(step).iter().any(|name| flow::condition_reads(condition, &step.name, name))
    })
}

/// Whether what a step itself does can depend on what another one gives.
pub(super) fn uses(step: &Step, other: &Step) -> bool {
    let own = Step { then: Vec::new(), guards: Vec::new(), ..step.clone() };
    flow::results_of(other).iter().any(|name| flow::reads(&own, name))
        || flow::reads_outcome(&own, &other.name)
}
