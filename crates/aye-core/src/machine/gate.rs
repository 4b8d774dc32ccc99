//! What a yes to a step's own gate starts: the step, the commands that guard it and its `then`,
//! and what repairs them.

use crate::facts::Change;
use crate::flow;
use crate::heal::HealMatch;
use crate::question::Question;
use crate::skill::{Action, HealRule, Step};
use crate::text::{self, Scope, TextError, World};

use super::ask::bind;
use super::covers::{Agreed, Coverage};
use super::follows::Follows;
use super::run::Machine;

/// How many repairs a question names.
const MOST: usize = 5;
/// What only a repair can read, or reads as it is when something has failed.
const PER_FAILURE: [&str; 5] = ["error", "failed", "args", "now", "today"];

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
        self.add_repairs(step, &started, scope, &mut coverage, &mut follows);
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

    /// Adds what repairs these steps. What a repair takes from the failure is known only when
    /// something has failed.
    fn add_repairs(
        &self,
        gate: &Step,
        started: &[&Step],
        scope: &Scope,
        coverage: &mut Coverage,
        follows: &mut Follows,
    ) {
        // Nothing is repaired in `finally`.
        if self.state.finally.is_some() {
            return;
        }
        let may = |rule: &&HealRule| {
            // A gate of its own shows it, and is bound to it.
            let asked = rule.repair.confirmation.is_some();
            !asked && started.iter().any(|step| may_repair(rule, step, scope))
        };
        let mut unknown = Vec::new();
        for rule in self.rules().filter(may) {
            let name = repair_name(&gate.name, rule);
            let of = (Some(name.as_str()), None);
            let depends = started.iter().any(|step| uses(&rule.repair, step))
                || PER_FAILURE.iter().any(|name| flow::reads(&rule.repair, name))
                || !rule.repair.then.is_empty()
                || !rule.repair.guards.is_empty();
            if depends || self.cover(&rule.repair, scope, of, coverage).is_err() {
                unknown.push(format!("`{}`", rule.name));
            }
        }
        if unknown.is_empty() {
            return;
        }
        let more = match unknown.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        unknown.truncate(MOST);
        coverage.note(&format!("repairs that depend on what fails: {}{more}", unknown.join(", ")));
        follows.varies = true;
    }

    /// Whether a repair is still what was agreed to at the gate of its step, or of the step
    /// that this one belongs to; nothing if nobody agreed to it.
    pub(super) fn repair_agreed(
        &self,
        step: &str,
        rule: &HealRule,
        world: &World,
    ) -> Option<Agreed> {
        let covered = &self.state.covered;
        let around = covered.get(step).and_then(|it| it.approved.asked_by.as_deref());
        let mut gates = [Some(step), around].into_iter().flatten();
        let covered = gates.find_map(|gate| covered.get(&repair_name(gate, rule)))?;
        // It sees the outside as it is, not as it was shown.
        let agreed = self.agreed_in(self.scope(world), &rule.repair, &covered.approved, world);
        // What does not render now is reported when the repair starts.
        agreed.ok()
    }

    /// What to do about a failed step whose repair is not what someone agreed to.
    pub(super) fn pose_unrepaired(
        &self,
        step: &str,
        rule: &str,
        changed: Vec<Change>,
        world: &World,
    ) -> Question {
        let mut question = self.pose_failed(step, world);
        let note = format!("The repair `{rule}` is not what was agreed to, and was not run.");
        question.message = format!("{note}\n\n{}", question.message);
        let of = |change: Change| Change {
            what: format!("{} of the repair `{rule}`", change.what),
            ..change
        };
        question.changed = changed.into_iter().map(of).collect();
        question.remember = false;
        question.recall = None;
        question.digest = bind(&question, &[]);
        question
    }
}

/// What the facts about a repair name as their step: no step of a skill is called like this.
fn repair_name(gate: &str, rule: &HealRule) -> String {
    format!("{gate}.heal.{}", rule.name)
}

/// Whether a rule can be for a failure of this step.
fn may_repair(rule: &HealRule, step: &Step, scope: &Scope) -> bool {
    let (name, tool) = (step.name.as_str(), step.action.tool());
    match &step.action {
        Action::Command { program, .. } => match text::text(program, scope) {
            Ok(program) => rule.when.could_fit(name, tool, Some(&program)),
            // It may be any program.
            Err(_) => HealMatch { command: None, ..rule.when.clone() }.could_fit(name, tool, None),
        },
        Action::Shell { .. } => rule.when.could_fit(name, tool, Some("sh")),
        Action::Ask(_)
        | Action::Tool { .. }
        | Action::Compute { .. }
        | Action::Skill { .. }
        | Action::ForEach(_)
        | Action::Return { .. }
        | Action::Note => rule.when.could_fit(name, tool, None),
    }
}

/// Whether a condition can read what one of these steps gives.
fn reads_any(condition: &str, steps: &[&Step]) -> bool {
    steps.iter().any(|step| {
        flow::results_of(step).iter().any(|name| flow::condition_reads(condition, &step.name, name))
    })
}

/// Whether what a step itself does can depend on what another one gives.
fn uses(step: &Step, other: &Step) -> bool {
    let own = Step { then: Vec::new(), guards: Vec::new(), ..step.clone() };
    flow::results_of(other).iter().any(|name| flow::reads(&own, name))
        || flow::reads_outcome(&own, &other.name)
}
