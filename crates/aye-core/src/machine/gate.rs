//! What a yes to a step's own gate starts: the step, the commands that guard it and its `then`,
//! and what repairs them.

use crate::flow;
use crate::heal::HealMatch;
use crate::skill::{Action, HealRule, Step};
use crate::text::{self, Scope, TextError};

use super::covers::Coverage;
use super::follows::Follows;
use super::run::Machine;

/// How many repairs a question names.
const MOST: usize = 5;

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
        self.add_repairs(&started, scope, &mut coverage, &mut follows);
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

    /// Names the repairs of these steps. What they do is seen only when something has failed:
    /// a yes is not compared with it again.
    fn add_repairs(
        &self,
        started: &[&Step],
        scope: &Scope,
        coverage: &mut Coverage,
        follows: &mut Follows,
    ) {
        // Nothing is repaired in `finally`.
        if self.state.finally.is_some() {
            return;
        }
        let may = |rule: &&HealRule| started.iter().any(|step| may_repair(rule, step, scope));
        let rules: Vec<&HealRule> = self.rules().filter(may).collect();
        let shown = rules.iter().take(MOST).map(|rule| {
            let line = self.command_line(&rule.repair, scope).map(|(line, _)| line);
            match line.ok().filter(|line| !line.is_empty()) {
                Some(line) => format!("`{}` ({line})", rule.name),
                None => format!("`{}`", rule.name),
            }
        });
        let shown: Vec<String> = shown.collect();
        if shown.is_empty() {
            return;
        }
        let more = match rules.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        coverage.note(&format!("repairs of what fails: {}{more}", shown.join(", ")));
        for rule in rules {
            match flow::constant_text(&rule.repair) {
                Some(text) => follows.constant.push(text),
                None => follows.varies = true,
            }
        }
    }
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
