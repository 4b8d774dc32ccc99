//! Fixes from memory: recalled, carried out, and never past a gate.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::event::{Event, EventKind, HealTriggered, MemoryKind, Remembered, RetryReason};
use crate::fix::{FixPlan, KnownFix};
use crate::heal::Category;
use crate::journal::StepOutcome;
use crate::question::Edits;
use crate::skill::{Ask, AskKind, By, Choice, ChoiceAction, Step, StepTimeout, Template};
use crate::text::{self, World};

use super::heal::cut;
use super::run::{Machine, after};

impl Machine {
    /// Records that memory knows what to do about a failure, if it can be done
    /// here. A rule of the skill or the project comes first.
    pub(super) fn recall_fix(
        &mut self,
        step: &str,
        known: &KnownFix,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let Some(plan) = self.plan(step, known, world) else { return };
        let recalled = Remembered {
            kind: MemoryKind::Fix,
            id: Some(plan.id.clone()),
            step: Some(step.to_owned()),
            message: self.secrets.mask(&known.message),
            fix: Some(Box::new(plan)),
            lesson: None,
        };
        self.emit(EventKind::MemoryRecalled(Box::new(recalled)), world, events);
    }

    /// What exactly the fix does here; nothing if it cannot be used.
    fn plan(&self, step: &str, known: &KnownFix, world: &World) -> Option<FixPlan> {
        let used = self.state.fixes.get(&known.id).copied().unwrap_or(0);
        if self.state.winding_down.is_some() || used >= known.max_uses {
            return None;
        }
        let (_, node) = self.node(step)?;
        let gated = self.is_bound(&node.step) || node.step.confirmation.is_some();
        // Nobody has approved what would stand in for it.
        if known.replace.is_some() && gated {
            return None;
        }
        let mut edits = None;
        if !known.args.is_empty() {
            let mut scope = self.scope(world);
            let old = self.given_to(&node.step, &scope).unwrap_or_default();
            let locals = Arc::make_mut(&mut scope.locals);
            locals.insert("args".to_owned(), Value::Object(old.clone()));
            locals.insert("error".to_owned(), json!(self.error_of(step)));
            let new = text::render_value(&Value::Object(known.args.clone()), &scope).ok()?;
            let set = new.as_object()?.clone();
            let same = set.iter().all(|(name, value)| old.get(name) == Some(value));
            let changed = Edits { set, only: false, remember: None };
            self.check_edits(step, &changed, world).ok()?;
            edits = Some(changed).filter(|_| !same);
        }
        let act = known.replace.clone().or_else(|| known.first.clone());
        if edits.is_none() && act.is_none() {
            return None;
        }
        Some(FixPlan { id: known.id.clone(), edits, act, replaces: known.replace.is_some() })
    }

    /// Carries out the fix that was recalled; says whether there is one.
    pub(super) fn apply_fix(
        &mut self,
        step: &str,
        close: &StepOutcome,
        fix: Option<Box<FixPlan>>,
        world: &World,
        events: &mut Vec<Event>,
    ) -> bool {
        let failed =
            matches!(close, StepOutcome::Failure(_) | StepOutcome::Guarded | StepOutcome::Timeout);
        let Some(fix) = fix.filter(|_| failed) else { return false };
        if fix.act.is_none() {
            self.retry_fixed(step.to_owned(), &fix, world, events);
            return true;
        }
        let error = self.error_of(step);
        let limit = self.limits.step_timeout.map(|limit| after(world.now, limit));
        let triggered = HealTriggered {
            step: step.to_owned(),
            execution: self.state.executions + 1,
            rule: fix.id.clone(),
            category: Category::of(&error),
            error: self.secrets.mask(&cut(&error)),
            deadline: [limit, self.state.deadline()].into_iter().flatten().min(),
            fix: Some(fix),
        };
        self.emit(EventKind::AutoHealTriggered(Box::new(triggered)), world, events);
        true
    }

    /// The step is tried again as the fix says.
    pub(super) fn retry_fixed(
        &mut self,
        step: String,
        fix: &FixPlan,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let attempt = self.state.steps.get(&step).map_or(1, |record| record.attempt.max(1)) + 1;
        let retried = EventKind::StepRetried {
            step,
            attempt,
            why: RetryReason::Fixed,
            not_before: None,
            edits: fix.edits.clone(),
            fix: Some(fix.id.clone()),
            answer: None,
        };
        self.emit(retried, world, events);
    }
}

/// The question before a step that nobody gated and that is about to be given
/// something that no person has seen: a program, or other than what a person
/// agreed to.
pub(super) fn gate_for_changes(step: &Step, bound: bool) -> Ask {
    let said = |text: &str| Template::new(text.to_owned(), step.span);
    let choice = |label: &str, value: &str, action| Choice {
        label: said(label),
        value: value.to_owned(),
        description: None,
        action,
    };
    Ask {
        kind: AskKind::Confirm,
        title: Some(said("Changed step")),
        message: said("No person has seen this change yet. Run it?"),
        options: vec![
            choice("Proceed", "proceed", ChoiceAction::Proceed),
            choice("Cancel", "cancel", ChoiceAction::Cancel),
        ],
        default: None,
        timeout: StepTimeout::Unlimited,
        pattern: None,
        secret: false,
        // A form that shows the difference is enough where nobody had to agree.
        by: if bound { By::Human } else { By::Anyone },
        approvals: 1,
        not_starter: false,
        reauth: false,
        typed: None,
        overridable: false,
        remember: false,
        any: Vec::new(),
        ai_assist: false,
    }
}
