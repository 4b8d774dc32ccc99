//! Fixes from memory: recalled, carried out, and never past a gate.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::event::{Event, EventKind, MemoryKind, Remembered, RetryReason};
use crate::fix::{FixPlan, KnownFix};
use crate::journal::StepOutcome;
use crate::question::Edits;
use crate::skill::{Ask, AskKind, By, Choice, Step, Template};
use crate::text::{self, World};

use super::run::Machine;

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
        let (message, fix) = match self.plan(step, known, world) {
            Ok(Some(plan)) => (known.message.clone(), Some(Box::new(plan))),
            Ok(None) => return,
            // Said once in a run.
            Err(_) if self.state.fixes.contains_key(&known.id) => return,
            Err(why) => {
                (format!("`{}` is for this error and was not used: {why}", known.short), None)
            }
        };
        let recalled = Remembered {
            kind: MemoryKind::Fix,
            id: Some(known.id.clone()),
            step: Some(step.to_owned()),
            message: self.secrets.mask(&message),
            fix,
            lesson: None,
        };
        self.emit(EventKind::MemoryRecalled(Box::new(recalled)), world, events);
    }

    /// What exactly the fix does here; nothing if it has been used as often as
    /// it may be in a run.
    ///
    /// # Errors
    /// Why it cannot be used.
    fn plan(&self, step: &str, known: &KnownFix, world: &World) -> Result<Option<FixPlan>, String> {
        let used = self.state.fixes.get(&known.id).copied().unwrap_or(0);
        if self.state.winding_down.is_some() || self.is_repair() || used >= known.max_uses {
            return Ok(None);
        }
        let Some((_, node)) = self.node(step) else { return Ok(None) };
        if let Some(obstacle) = &known.obstacle {
            return Err(obstacle.clone());
        }
        let gated = self.is_bound(&node.step) || node.step.confirmation.is_some();
        // Nobody has approved what would stand in for it.
        if known.replace.is_some() && gated {
            return Err("a person agreed to the step, not to what would stand in for it".to_owned());
        }
        let act = known.replace.clone().or_else(|| known.first.clone());
        let replaces = known.replace.is_some();
        let id = known.id.clone();
        if known.looks_up() {
            if known.first.is_none() {
                return Err("its arguments use `first`, but it looks nothing up".to_owned());
            }
            let args = known.args.clone();
            return Ok(Some(FixPlan { id, edits: None, act, replaces, args }));
        }
        let mut edits = None;
        if !known.args.is_empty() {
            match self.fixed_args(step, &known.args, None, world) {
                Ok(changed) => edits = Some(changed),
                // The repair alone may be what helps.
                Err(NotFixed::Same) if act.is_some() => {}
                Err(why) => return Err(why.to_string()),
            }
        }
        if edits.is_none() && act.is_none() {
            return Err("it does nothing".to_owned());
        }
        Ok(Some(FixPlan { id, edits, act, replaces, args: Map::new() }))
    }

    /// What a step is given instead, by these templates.
    fn fixed_args(
        &self,
        step: &str,
        args: &Map<String, Value>,
        first: Option<Value>,
        world: &World,
    ) -> Result<Edits, NotFixed> {
        let (_, node) = self.node(step).ok_or(NotFixed::Same)?;
        let mut scope = self.scope(world);
        let old = self.given_to(&node.step, &scope).unwrap_or_default();
        let locals = Arc::make_mut(&mut scope.locals);
        locals.insert("args".to_owned(), Value::Object(old.clone()));
        locals.insert("error".to_owned(), json!(self.error_of(step)));
        if let Some(first) = first {
            // As a step has `<output>_parsed` for a tool that answers with text.
            let parsed = first.as_str().and_then(text::data_in);
            locals.extend(parsed.map(|parsed| ("first_parsed".to_owned(), parsed)));
            locals.insert("first".to_owned(), first);
        }
        let new = text::render_value(&Value::Object(args.clone()), &scope)
            .map_err(|error| NotFixed::Template(error.to_string()))?;
        let set = new.as_object().cloned().unwrap_or_default();
        if set.iter().all(|(name, value)| old.get(name) == Some(value)) {
            return Err(NotFixed::Same);
        }
        let changed = Edits { set, only: false, remember: None };
        self.check_edits(step, &changed, world)
            .map_err(|refusal| NotFixed::Refused(refusal.to_string()))?;
        Ok(changed)
    }

    /// The fix with what it looked up in it.
    ///
    /// # Errors
    /// Why that does not help.
    pub(super) fn with_look_up(
        &self,
        step: &str,
        fix: &FixPlan,
        found: &Value,
        world: &World,
    ) -> Result<FixPlan, String> {
        if fix.args.is_empty() {
            return Ok(fix.clone());
        }
        // What is changed is written down.
        if self.secrets.mask_value(found) != *found {
            return Err("what was looked up holds a secret".to_owned());
        }
        let edits = self.fixed_args(step, &fix.args, Some(found.clone()), world);
        let edits = edits.map_err(|why| why.to_string())?;
        Ok(FixPlan { edits: Some(edits), ..fix.clone() })
    }

    /// Carries out the fix that was recalled; says whether there is one.
    pub(super) fn apply_fix(
        &mut self,
        step: &str,
        outcome: &StepOutcome,
        fix: Option<Box<FixPlan>>,
        world: &World,
        events: &mut Vec<Event>,
    ) -> bool {
        let Some(fix) = fix.filter(|_| outcome.has_failed()) else { return false };
        if fix.act.is_none() {
            self.retry_fixed(step.to_owned(), &fix, world, events);
            return true;
        }
        self.trigger_heal(step, fix.id.clone(), Some(fix), world, events);
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

/// Why a fix cannot change what a step is given.
#[derive(Debug, thiserror::Error)]
enum NotFixed {
    #[error("the step has these arguments already")]
    Same,
    #[error("its arguments cannot be made: {0}")]
    Template(String),
    #[error("{0}")]
    Refused(String),
}

/// The question before a step that nobody gated and that is about to be given
/// something that no person has seen: a program, or other than what a person
/// agreed to.
pub(super) fn gate_for_changes(step: &Step, bound: bool) -> Ask {
    let said = |text: &str| Template::new(text.to_owned(), step.span);
    Ask {
        title: Some(said("Changed step")),
        options: Choice::proceed_or_cancel(step.span),
        // A form that shows the difference is enough where nobody had to agree.
        by: if bound { By::Human } else { By::Anyone },
        ..Ask::new(AskKind::Confirm, said("No person has seen this change yet. Run it?"))
    }
}
