//! What repairs the steps that a yes starts: it runs because of that yes, so the question shows
//! it, and it is compared before it runs.

use std::sync::Arc;

use crate::facts::Change;
use crate::flow::{self, NodeId};
use crate::heal::HealMatch;
use crate::journal::{Approved, Covered};
use crate::question::Question;
use crate::skill::{Action, HealRule, Step};
use crate::text::{self, Scope, World};

use super::agreed::Agreed;
use super::ask::{bind, named};
use super::covers::Coverage;
use super::follows::Follows;
use super::gate::uses;
use super::run::Machine;

/// What only a repair can read, or reads as it is when something has failed.
const PER_FAILURE: [&str; 5] = ["error", "failed", "args", "now", "today"];

impl Machine {
    /// The rules for failures of these steps whose repairs nobody is asked about.
    fn repairs_of<'a>(
        &'a self,
        started: &'a [&Step],
        scope: &'a Scope,
    ) -> impl Iterator<Item = &'a HealRule> {
        // Nothing is repaired in `finally`, and no repair is.
        let none = self.state.finally.is_some() || self.is_repair();
        self.rules().filter(move |rule| {
            // A gate of its own shows it, and is bound to it.
            let asked = rule.repair.confirmation.is_some();
            !none && !asked && started.iter().any(|step| may_repair(rule, step, scope))
        })
    }

    /// Adds what repairs these steps, which a yes to the question of the step `asker` starts.
    /// What a repair takes from the failure is known only when something has failed.
    pub(super) fn add_repairs(
        &self,
        asker: &str,
        started: &[&Step],
        scope: &Scope,
        coverage: &mut Coverage,
        follows: &mut Follows,
    ) {
        let inside = self.rules_inside(started);
        for rule in self.rules().filter(|rule| inside.contains(&&*rule.name)) {
            follows.destructive |= rule.repair.destroys();
            match flow::constant_text(&rule.repair) {
                Some(text) => follows.constant.push(text),
                None => follows.varies = true,
            }
        }
        let names: Vec<String> = inside.into_iter().map(str::to_owned).collect();
        if let Some(note) = named("repairs of the steps inside", &names) {
            coverage.note(&note);
        }
        let mut unknown = Vec::new();
        for rule in self.repairs_of(started, scope) {
            follows.destructive |= rule.repair.destroys();
            follows.unseen |= rule.repair.holds_a_skill();
            let name = repair_name(asker, &rule.name);
            let condition = rule.repair.condition.as_ref();
            match condition.map(|condition| text::holds(condition, scope)) {
                Some(Ok(false)) => {
                    let why = format!("`{}` is false", condition.map_or("", |text| text.trim()));
                    coverage.leave_out(&name, None, &why);
                    continue;
                }
                Some(Err(_)) => {
                    unknown.push(rule.name.clone());
                    continue;
                }
                Some(Ok(true)) | None => {}
            }
            let of = (Some(name.as_str()), None);
            let depends = started.iter().any(|step| uses(&rule.repair, step))
                || PER_FAILURE.iter().any(|name| flow::reads(&rule.repair, name))
                || !rule.repair.then.is_empty()
                || !rule.repair.guards.is_empty();
            if depends || self.cover(&rule.repair, scope, of, coverage).is_err() {
                unknown.push(rule.name.clone());
            }
        }
        if let Some(note) = named("repairs that depend on what fails", &unknown) {
            coverage.note(&note);
            follows.varies = true;
        }
    }

    /// The rules for failures inside these steps: of the items of a list, and of skills, whose
    /// own rules only they know. They are compared with nothing when they run.
    fn rules_inside(&self, started: &[&Step]) -> Vec<&str> {
        let mut lists = Vec::new();
        let mut calls = false;
        let mut steps: Vec<&Step> = started.to_vec();
        while let Some(step) = steps.pop() {
            calls |= matches!(step.action, Action::Skill { .. });
            if let Action::ForEach(each) = &step.action {
                lists.extend(each.body.iter());
                steps.extend(each.body.iter());
            }
            steps.extend(
                step.then.iter().filter(|_| lists.iter().any(|one| std::ptr::eq(*one, step))),
            );
        }
        let of_project =
            |rule: &HealRule| self.limits.heal.iter().any(|one| std::ptr::eq(one, rule));
        let none = self.state.finally.is_some() || self.is_repair();
        let rules = self.rules().filter(|rule| {
            let may = lists.iter().any(|step| {
                let any = HealMatch { command: None, ..rule.when.clone() };
                any.could_fit(&step.name, step.action.tool(), None)
            });
            !none && rule.repair.confirmation.is_none() && (may || calls && of_project(rule))
        });
        rules.map(|rule| rule.name.as_str()).collect()
    }

    /// Adds what repairs the steps after those, which the yes does not cover either.
    pub(super) fn add_later_repairs(&self, later: &[&Step], scope: &Scope, follows: &mut Follows) {
        for rule in self.repairs_of(later, scope) {
            follows.later_repairs.push(rule.name.clone());
            match flow::constant_text(&rule.repair) {
                Some(text) => follows.constant.push(text),
                None => follows.varies = true,
            }
        }
    }

    /// Whether a repair is still what was agreed to at the gate of its step, or at the question
    /// that started this one; nothing if nobody agreed to it.
    pub(super) fn repair_agreed(
        &self,
        step: &str,
        rule: &HealRule,
        world: &World,
    ) -> Option<Agreed> {
        let approved = &self.agreed_repair(step, &rule.name)?.approved;
        // It sees the outside as it is, not as it was shown.
        let agreed = self.showing().agreed_in(self.scope(world), &rule.repair, approved, world);
        // What does not render now is reported when the repair starts.
        agreed.ok()
    }

    /// What someone agreed to of the repair by this rule: at the gate of the step, at the question
    /// that started it, or, where it was not known yet what the step does, at any other.
    pub(super) fn agreed_repair(&self, step: &str, rule: &str) -> Option<&Covered> {
        let covered = &self.state.covered;
        let around = covered.get(step).and_then(|it| it.approved.asked_by.as_deref());
        let mut askers = [Some(step), around].into_iter().flatten();
        let own = askers.find_map(|asker| covered.get(&repair_name(asker, rule)));
        own.or_else(|| {
            let at = self.flow.find(step)?;
            let of_rule = covered.iter().rev();
            let mut others = of_rule.filter(|(name, covered)| {
                let asker = covered.approved.asked_by.as_deref().unwrap_or_default();
                **name == repair_name(asker, rule) && self.is_started_by(asker, at)
            });
            others.next().map(|(_, covered)| covered)
        })
    }

    /// Whether a yes to the question of the step `asker` leads to a step, also where nobody knew
    /// what that would do.
    fn is_started_by(&self, asker: &str, at: NodeId) -> bool {
        let Some((_, node)) = self.node(asker) else { return false };
        match node.step.action.ask() {
            Some(_) => self.users(&node.step).contains(&at),
            None => self.flow.started_with(&node.step).iter().any(|(started, _)| *started == at),
        }
    }

    /// What someone agreed to of this run, if it repairs a step.
    pub(super) fn agreed_as_repair(&self) -> Option<Arc<Approved>> {
        self.outer.as_ref().and_then(|outer| outer.agreed_repair.clone())
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
fn repair_name(asker: &str, rule: &str) -> String {
    format!("{asker}.heal.{rule}")
}

/// Whether a rule can be for a failure of this step.
fn may_repair(rule: &HealRule, step: &Step, scope: &Scope) -> bool {
    let (name, tool) = (step.name.as_str(), step.action.tool());
    match step.action.command_program().map(|program| text::text(program, scope)) {
        Some(Ok(program)) => rule.when.could_fit(name, tool, Some(&program)),
        // It may be any program.
        Some(Err(_)) => {
            HealMatch { command: None, ..rule.when.clone() }.could_fit(name, tool, None)
        }
        None => {
            let shell = matches!(step.action, Action::Shell { .. }).then_some("sh");
            rule.when.could_fit(name, tool, shell)
        }
    }
}
