//! Repairing what is known to be wrong.

use serde_json::Value;

use crate::event::{Event, EventKind, HealTriggered, RetryReason};
use crate::fix::FixPlan;
use crate::heal::{Category, Failing};
use crate::input::{End, Finished};
use crate::journal::{Healing, StepOutcome, StepRecord};
use crate::nested::{Child, ChildBody, Nested, Parent};
use crate::skill::HealRule;
use crate::skill::{Action, OnError, Step};
use crate::text::World;

use super::agreed::Agreed;
use super::run::{Machine, after};

impl Machine {
    /// The rules of the skill, then those of the project; the first of a name hides the others,
    /// so that what was shown and agreed to is what runs.
    pub(super) fn rules(&self) -> impl Iterator<Item = &HealRule> {
        let all = || self.flow.skill.heal.iter().chain(self.limits.heal.iter());
        let is_first = move |rule: &&HealRule| {
            all().find(|other| other.name == rule.name).is_some_and(|one| std::ptr::eq(one, *rule))
        };
        all().filter(is_first)
    }

    /// Whether this run repairs a step of another one, or belongs to what does. A repair that
    /// fails has failed: the rule that started it could start itself again, and nobody who
    /// agreed to a repair has seen one of the repair.
    pub(super) fn is_repair(&self) -> bool {
        self.state.started.parent.as_ref().is_some_and(|parent| parent.repair)
    }

    /// Whether a rule can be for a failure of this step.
    pub(super) fn can_heal(&self, step: &Step) -> bool {
        let record = self.state.steps.get(step.name.as_str());
        let (tool, program) = (step.action.tool(), program_of(&step.action, record));
        !self.is_repair() && self.rules().any(|rule| rule.when.could_fit(&step.name, tool, program))
    }

    /// The rule that is for the failure of this step.
    pub(super) fn rule_for(&self, step: &str) -> Option<&HealRule> {
        if self.state.winding_down.is_some() || self.is_repair() || self.rules().next().is_none() {
            return None;
        }
        let (record, (_, node)) = (self.state.steps.get(step)?, self.node(step)?);
        let error = self.error_of(step);
        let failing = Failing {
            step,
            tool: node.step.action.tool(),
            program: program_of(&node.step.action, Some(record)),
            error: &error,
            code: record.process.as_ref().and_then(|process| process.exit_code),
        };
        self.rules().find(|rule| record.heals < rule.retries && rule.when.fits(&failing))
    }

    /// Begins a repair if a rule is for this failure, or asks what to do if the repair is not
    /// what someone agreed to; says whether.
    pub(super) fn heal(
        &mut self,
        step: &str,
        outcome: &StepOutcome,
        world: &World,
        events: &mut Vec<Event>,
    ) -> bool {
        let rule = self.rule_for(step).filter(|_| outcome.has_failed());
        let Some(rule) = rule.cloned() else { return false };
        match self.repair_agreed(step, &rule, world) {
            None | Some(Agreed::Same) => {}
            Some(Agreed::Inspect(inspection)) => {
                self.wanted = Some(inspection);
                return true;
            }
            Some(Agreed::Changed(changed)) => {
                let question = self.pose_unrepaired(step, &rule.name, changed, world);
                self.emit(EventKind::ConfirmationRequired(Box::new(question)), world, events);
                return true;
            }
        }
        self.trigger_heal(step, rule.name, None, world, events);
        true
    }

    /// Begins a repair: of this rule, or of this fix from memory.
    pub(super) fn trigger_heal(
        &mut self,
        step: &str,
        rule: String,
        fix: Option<Box<FixPlan>>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let error = self.error_of(step);
        let limit = self.limits.step_timeout.map(|limit| after(world.now, limit));
        let triggered = HealTriggered {
            step: step.to_owned(),
            execution: self.state.executions + 1,
            rule,
            category: Category::of(&error),
            error: self.secrets.mask(&cut(&error)),
            deadline: [limit, self.state.deadline()].into_iter().flatten().min(),
            fix,
        };
        self.emit(EventKind::AutoHealTriggered(Box::new(triggered)), world, events);
    }

    /// What a step that failed said about it.
    pub fn error_of(&self, step: &str) -> String {
        self.state.steps.get(step).map(StepRecord::error).unwrap_or_default()
    }

    /// The repair as a run inside the step.
    pub(super) fn repair(&self, step: &str, execution: u32) -> Nested {
        let parent = Parent { repair: true, ..self.parent_named(step, execution) };
        Nested {
            children: vec![Child { parent, body: ChildBody::Repair }],
            parallel: 1,
            fail_fast: true,
            deadline: self.running_deadline(),
            is_list: false,
            again: None,
        }
    }

    /// What the repair of a step does.
    pub(super) fn repair_steps(&self, healing: &Healing) -> Vec<Step> {
        let repair = match healing.fix.as_ref().and_then(|fix| fix.act.as_ref()) {
            Some(act) => Some(act.to_step("repair")),
            None => {
                let rule = self.rules().find(|known| known.name == healing.rule);
                // What fails here is the step's failure, and nobody is asked twice.
                rule.map(|rule| Step {
                    on_error: rule.repair.on_error.or(Some(OnError::Fail)),
                    ..rule.repair.clone()
                })
            }
        };
        repair.into_iter().collect()
    }

    /// A repair has ended: the step is tried again, or what was to be done
    /// about its failure is done.
    pub(super) fn healed(
        &mut self,
        step: String,
        healing: &Healing,
        finished: Finished,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let Finished { execution, end, took, .. } = finished;
        let mut result = Value::Null;
        let message = match end {
            End::Exited { value, .. } => {
                result = value;
                None
            }
            End::Failed { message, .. }
            | End::Declined { message, .. }
            | End::NotStarted { message, .. } => Some(message),
            End::TimedOut => Some("timed out".to_owned()),
            End::Stopped => Some("it was stopped".to_owned()),
        };
        // What was looked up decides what the step is given.
        let (message, fix) = match (message, &healing.fix) {
            (None, Some(fix)) => match self.with_look_up(&step, fix, &result, world) {
                Ok(fix) => (None, Some(fix)),
                Err(why) => (Some(format!("the fix was not used: {why}")), None),
            },
            (message, _) => (message, None),
        };
        let healed = message.is_none();
        let completed = EventKind::AutoHealCompleted {
            step: step.clone(),
            execution,
            rule: healing.rule.clone(),
            healed,
            message: message.map(|message| self.secrets.mask(&message)),
            duration_ms: took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
        };
        self.emit(completed, world, events);
        if let (true, Some(fix)) = (healed, &fix) {
            if fix.replaces {
                let done = self.done_with(&step, result);
                self.complete(done, world, events);
            } else {
                self.retry_fixed(step, fix, world, events);
            }
        } else if healed {
            let wait = self.rules().find(|rule| rule.name == healing.rule).map(|rule| rule.backoff);
            let not_before = wait.filter(|wait| !wait.is_zero()).map(|wait| after(world.now, wait));
            let attempt = self.state.steps.get(&step).map_or(1, |record| record.attempt.max(1)) + 1;
            let why = RetryReason::Healed;
            let (edits, fix) = (None, None);
            let retried =
                EventKind::StepRetried { step, attempt, why, not_before, edits, fix, answer: None };
            self.emit(retried, world, events);
        }
        self.advance(world, events);
    }
}

/// The program that a step runs: the first word of its command as it was rendered.
fn program_of<'a>(action: &Action, record: Option<&'a StepRecord>) -> Option<&'a str> {
    if action.command_program().is_none() {
        return matches!(action, Action::Shell { .. }).then_some("sh");
    }
    let record = record?;
    // Older journals have the line alone.
    let word = || record.command.as_deref().and_then(first_word);
    record.argv.first().map(String::as_str).or_else(word)
}

fn first_word(command: &str) -> Option<&str> {
    command.split_whitespace().next().map(|word| word.trim_matches('\''))
}

/// As much of an error as people read.
pub(super) fn cut(error: &str) -> String {
    const MOST: usize = 1000;
    let mut text: String = error.chars().take(MOST).collect();
    if text.len() < error.len() {
        text.push('…');
    }
    text
}
