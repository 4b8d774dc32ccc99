//! Guards: what has to hold once a step has ended.

use std::sync::Arc;

use serde_json::Value;

use crate::error_code::ErrorCode;
use crate::event::{BadOutcome, Event, EventKind, StepCompleted, StepFailed};
use crate::skill::{GuardCheck, Template};
use crate::text::{self, World};

use super::finish::failed;
use super::run::Machine;

impl Machine {
    /// The good end of a step, unless one of its guards does not hold.
    pub(super) fn complete(&mut self, done: StepCompleted, world: &World, events: &mut Vec<Event>) {
        let kind = self.guarded(done, world);
        self.emit(kind, world, events);
    }

    /// What a good end becomes once the guards have looked at it.
    pub(super) fn guarded(&self, done: StepCompleted, world: &World) -> EventKind {
        match self.failing_guard(&done, world) {
            None => EventKind::StepCompleted(Box::new(done)),
            Some(message) => EventKind::StepFailed(Box::new(StepFailed {
                code: Some(ErrorCode::Validation),
                message: self.secrets.mask(&message),
                process: done.process,
                duration_ms: done.duration_ms,
                guarded: true,
                ..failed(done.step, done.execution, BadOutcome::Failure)
            })),
        }
    }

    fn failing_guard(&self, done: &StepCompleted, world: &World) -> Option<String> {
        let (_, node) = self.node(&done.step)?;
        if node.step.guards.is_empty() {
            return None;
        }
        let mut scope = self.scope(world);
        let outputs = Arc::make_mut(&mut scope.outputs);
        let known = |name: &str, shown: &Value| match done.hidden {
            true => self.secrets.revealed(name).unwrap_or(shown).clone(),
            false => shown.clone(),
        };
        outputs.insert(done.output.clone(), known(&done.output, &done.value));
        if let Some(parsed) = &done.parsed {
            let name = format!("{}_parsed", done.output);
            outputs.insert(name.clone(), known(&name, parsed));
        }
        node.step.guards.iter().find_map(|guard| {
            let GuardCheck::Condition(condition) = &guard.check else { return None };
            match text::holds(condition, &scope) {
                Ok(true) => None,
                Ok(false) => {
                    let plain = || format!("`{}` does not hold", condition.trim());
                    Some(said(guard.message.as_ref(), &scope).unwrap_or_else(plain))
                }
                Err(error) => {
                    let place = self.at(condition.span);
                    Some(format!("`{}`: {error}{place}", condition.trim()))
                }
            }
        })
    }

    /// What a failure becomes if the step has to succeed.
    pub(super) fn guarded_failure(&self, failed: StepFailed, world: &World) -> StepFailed {
        let guards = self.node(&failed.step).map(|(_, node)| node.step.guards.as_slice());
        let must = guards.unwrap_or_default().iter();
        let Some(guard) = must.clone().find(|guard| guard.check == GuardCheck::Success) else {
            return failed;
        };
        let message = match said(guard.message.as_ref(), &self.scope(world)) {
            Some(message) => format!("{} ({})", self.secrets.mask(&message), failed.message),
            None => failed.message,
        };
        StepFailed { message, guarded: true, ..failed }
    }
}

/// The guard's own words; one that cannot be rendered is shown as written.
fn said(message: Option<&Template>, scope: &text::Scope) -> Option<String> {
    message.map(|template| text::text(template, scope).unwrap_or_else(|_| template.value.clone()))
}
