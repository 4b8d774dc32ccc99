//! Entering a step: limits, its condition, its gate, and then its intent.

use std::sync::Arc;

use serde_json::Value;

use crate::error_code::ErrorCode;
use crate::event::{
    BadOutcome, Event, EventKind, FailReason, RetryReason, SkipReason, StepCompleted, StepFailed,
    StepStarted,
};
use crate::flow::{NodeId, failing_text};
use crate::journal::{Approved, StepRecord};
use crate::question::Purpose;
use crate::skill::{Action, Ask, By, OnError, Step};
use crate::span::Span;
use crate::text::{self, TextError, World};

use super::finish::failed;
use super::fix::gate_for_changes;
use super::run::Machine;

impl Machine {
    /// Before a step acts: limits, its condition, its gate.
    pub(super) fn enter(&mut self, node: NodeId, world: &World, events: &mut Vec<Event>) {
        let flow = Arc::clone(&self.flow);
        let step = &flow.nodes[node].step;
        let name = step.name.value.clone();
        if self.state.visits >= self.flow.skill.step_limit && self.counts_against_limit(node) {
            let message = format!("stopped after {} steps: the step limit", self.state.visits);
            return self.fail_run(FailReason::StepLimit, &message, Some(name), None, world, events);
        }
        if self.out_of_time(&name, world, events) {
            return;
        }
        if let Some(condition) = &step.condition {
            // The scope must be gone before anything is recorded: it shares the state.
            let holds = text::holds(condition, &self.scope(world));
            match holds {
                Ok(true) => {}
                Ok(false) => {
                    let message = Some(format!("`{}` is false", condition.trim()));
                    let why = SkipReason::Condition;
                    return self.emit(
                        EventKind::StepSkipped { step: name, why, by: None, message, answer: None },
                        world,
                        events,
                    );
                }
                Err(error) => return self.cannot_start(name, "condition", &error, world, events),
            }
        }
        match &step.confirmation {
            None => match self.agreed_before(&name) {
                Some(approved) => self.start_agreed(step, 1, &approved, world, events),
                None => self.start_step(&name, 1, world, events),
            },
            Some(ask) => {
                let built = self.build_question(step, ask, Purpose::Gate, true, world);
                self.put(built, Vec::new(), (&name, "confirmation"), world, events);
            }
        }
    }

    /// What someone agreed to at an earlier question, in this run or around a repair.
    fn agreed_before(&self, step: &str) -> Option<Arc<Approved>> {
        let covered = self.state.covered.get(step).map(|covered| Arc::clone(&covered.approved));
        covered.or_else(|| self.agreed_as_repair())
    }

    pub(super) fn start_step(
        &mut self,
        name: &str,
        attempt: u32,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let flow = Arc::clone(&self.flow);
        let Some(node) = flow.find(name) else {
            let message = format!("the skill has no step `{name}`");
            let step = Some(name.to_owned());
            return self.fail_run(FailReason::StepFailed, &message, step, None, world, events);
        };
        // An answer or a restart may have taken its time.
        if self.out_of_time(name, world, events) {
            return;
        }
        let step = &flow.nodes[node].step;
        self.learn_variables(step, world);
        let execution = self.state.executions + 1;
        let mut started = StepStarted {
            step: name.to_owned(),
            execution,
            attempt,
            index: u32::try_from(node).ok(),
            description: self.described(step, world),
            machine: Some(self.state.driver.host.clone()),
            kind: step.action.kind(),
            command: None,
            argv: Vec::new(),
            idempotent: step.idempotent
                || matches!(step.action, Action::Compute { python: false, .. }),
            deadline: None,
            nested: step.action.is_nested(),
            items: Vec::new(),
            labels: Vec::new(),
            goes_on: None,
        };
        let record = self.going_on(step);
        started.goes_on = record.map(|record| record.runs);
        match &step.action {
            Action::Note => {
                let note = self.described(step, world);
                let done = StepCompleted { note, ..self.done_at_once(name, Value::Null) };
                self.complete(done, world, events);
            }
            Action::Return { text } => {
                let said = text::render(text, &self.scope_of(name, world));
                match said {
                    Ok(said) => {
                        let done = self.done_with(name, said);
                        self.complete(done, world, events);
                    }
                    Err(error) => {
                        self.cannot_start(name.to_owned(), "return", &error, world, events);
                    }
                }
            }
            Action::ForEach(each) => {
                // Whatever the list would be now, the items that are done are of this one.
                let scope = self.scope_of(name, world);
                let items = match record {
                    Some(record) => Ok((record.items.clone(), record.labels.clone())),
                    None => self.items(each, &scope).and_then(|items| {
                        let labels = self.labels(each, &items, &scope)?;
                        Ok((items, labels))
                    }),
                };
                // The scope must be gone before anything is recorded: it shares the state.
                drop(scope);
                match items {
                    Ok((items, _)) if items.is_empty() => {
                        let done = self.done_at_once(name, Value::Array(Vec::new()));
                        self.complete(done, world, events);
                    }
                    Ok((items, labels)) => {
                        started.labels = labels;
                        started.items =
                            items.iter().map(|item| self.secrets.mask_value(item)).collect();
                        started.deadline = self.step_deadline(step, world.now);
                        self.emit(EventKind::StepStarted(Box::new(started)), world, events);
                    }
                    Err(error) => {
                        self.cannot_start(name.to_owned(), "foreach", &error, world, events);
                    }
                }
            }
            Action::Ask(_) => {
                self.emit(EventKind::StepStarted(Box::new(started)), world, events);
            }
            Action::Command { .. }
            | Action::Shell { .. }
            | Action::Tool { .. }
            | Action::Compute { .. }
            | Action::Skill { .. } => {
                let line = self.resolved_line(step, &self.scope_of(name, world));
                match line {
                    Ok((command, mut words, argv)) => {
                        words.truncate(argv);
                        started.argv = words;
                        started.command = (!command.is_empty()).then_some(command);
                        started.deadline = self.step_deadline(step, world.now);
                        self.emit(EventKind::StepStarted(Box::new(started)), world, events);
                    }
                    Err(error) => {
                        let kind = step.action.kind();
                        self.cannot_start(name.to_owned(), kind.as_str(), &error, world, events);
                    }
                }
            }
        }
    }

    /// What the file says about a step.
    fn described(&self, step: &Step, world: &World) -> Option<String> {
        let prose = step.description.as_ref()?;
        // Prose may hold braces that mean nothing.
        let said = self.render_masked(&self.scope(world), |scope, secrets| {
            let said = match prose.contains('{') {
                true => text::text(prose, scope).ok(),
                false => None,
            };
            Ok(secrets.mask(said.as_deref().unwrap_or(prose).trim()))
        });
        said.ok()
    }

    /// The same with a result that may hold a secret.
    pub(super) fn done_with(&mut self, name: &str, value: Value) -> StepCompleted {
        let masked = self.secrets.mask_value(&value);
        let mut done = self.done_at_once(name, masked);
        done.hidden = done.value != value;
        if done.hidden {
            Arc::make_mut(&mut self.secrets).reveal(done.output.clone(), value);
        }
        done
    }

    /// The end of a step that has nothing to do or does it here.
    pub(super) fn done_at_once(&self, name: &str, value: Value) -> StepCompleted {
        StepCompleted {
            step: name.to_owned(),
            execution: 0,
            output: self.output_name(name),
            value,
            parsed: None,
            process: None,
            duration_ms: None,
            hidden: false,
            note: None,
            marked_by: None,
            agreed: false,
            log: None,
        }
    }

    /// Ends the visit to a step before it acts if the run's time, or that of
    /// its clean-up, is up.
    fn out_of_time(&mut self, name: &str, world: &World, events: &mut Vec<Event>) -> bool {
        if self.is_too_late_in_finally(name, world, events) {
            return true;
        }
        if let Some(winding) = &self.state.winding_down
            && self.state.finally.is_none()
            && world.now >= winding.until
        {
            self.wound_down("the time for clean-up was up", world, events);
            return true;
        }
        let Some(winding_down) = self.run_expired(world.now) else {
            return false;
        };
        let failed = StepFailed {
            code: Some(ErrorCode::Timeout),
            message: "the run's time limit was up before it started".to_owned(),
            winding_down: Some(winding_down),
            ..failed(name.to_owned(), 0, BadOutcome::Timeout)
        };
        self.emit(EventKind::StepFailed(Box::new(failed)), world, events);
        true
    }

    /// A step is to be tried again. The person who approved it saw a command: if that
    /// has changed, or something that nobody saw has been done about it, the
    /// gate is asked again.
    pub(super) fn retry_step(
        &mut self,
        name: &str,
        attempt: u32,
        why: RetryReason,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let flow = Arc::clone(&self.flow);
        let step = flow.find(name).map(|node| &flow.nodes[node].step);
        let gate = step.and_then(|step| self.gate_again(step, why, world));
        let approved = self.state.steps.get(name).and_then(|record| record.approved.clone());
        let approved = approved.or_else(|| self.agreed_as_repair());
        match (step, gate, approved) {
            (Some(step), Some(ask), _) => {
                let built = self.build_question(step, &ask, Purpose::Gate, true, world);
                self.put(built, Vec::new(), (name, "confirmation"), world, events);
            }
            (Some(step), None, Some(approved)) => {
                self.start_agreed(step, attempt, &approved, world, events);
            }
            (_, _, _) => self.start_step(name, attempt, world, events),
        }
    }

    /// The question before another attempt, if there has to be one.
    fn gate_again(&self, step: &Step, why: RetryReason, world: &World) -> Option<Ask> {
        let record = self.state.steps.get(&step.name.value);
        // What an assistant may run is what the skill says, not what it writes itself.
        let unseen = why == RetryReason::Relayed && self.is_unseen(step);
        let Some(ask) = &step.confirmation else {
            let bound = self.is_bound(step);
            let changed = record.is_some_and(|record| record.edits.is_some());
            let fixed = why == RetryReason::Fixed && (step.destructive || bound && changed);
            return (unseen || fixed).then(|| gate_for_changes(step, bound));
        };
        let by = match &ask.by {
            By::Anyone if unseen => By::Human,
            by => by.clone(),
        };
        // A template that does not render is reported when the step starts.
        let (line, _) = self.command_line(step, &self.scope(world)).ok()?;
        // What was agreed to is compared by its facts before it starts.
        let agreed = record.is_some_and(|record| record.approved.is_some());
        let other = !agreed && record.and_then(|record| record.command.as_ref()) != Some(&line);
        let changed = other || record.is_some_and(|record| record.edits.is_some());
        let demanding = ask.typed.is_some() || ask.reauth || ask.approvals > 1 || ask.not_starter;
        let again = match why {
            RetryReason::Fixed => true,
            RetryReason::Healed => step.destructive || demanding || changed,
            RetryReason::Idempotent | RetryReason::Answer | RetryReason::Relayed => {
                demanding || changed
            }
            // Retries that the skill itself asks for were part of what was approved.
            RetryReason::Policy => other,
        };
        again.then(|| Ask { by, ..ask.clone() })
    }

    /// Whether what a step does is what a person agreed to: at its own gate, at
    /// a question before it, or at those of a step around it. What cannot be
    /// undone counts as that.
    pub(super) fn is_bound(&self, step: &Step) -> bool {
        let around = self.state.started.parent.as_ref().is_some_and(|parent| parent.bound);
        let gated = step.confirmation.as_ref().is_some_and(Ask::is_guarded);
        step.destructive || gated || self.state.agreed || around
    }

    /// Whether a step is about to do what an assistant has written and no person
    /// has seen. The arguments of a tool are the assistant's to change, unless
    /// a person agreed to them.
    pub(super) fn is_unseen(&self, step: &Step) -> bool {
        let record = self.state.steps.get(&step.name.value);
        let written = record.is_some_and(StepRecord::is_written_by_assistant);
        let tool = matches!(step.action, Action::Tool { .. });
        written && (self.is_bound(step) || !step.assistant_may_edit && !tool)
    }

    /// A step that is a question: ask it.
    pub(super) fn pose_step(&mut self, name: &str, world: &World, events: &mut Vec<Event>) {
        let ask = self.node(name).and_then(|(_, node)| match &node.step.action {
            Action::Ask(ask) => Some((node.step.clone(), ask.clone())),
            Action::Command { .. }
            | Action::Shell { .. }
            | Action::Tool { .. }
            | Action::Compute { .. }
            | Action::Skill { .. }
            | Action::ForEach(_)
            | Action::Return { .. }
            | Action::Note => None,
        });
        let Some((step, ask)) = ask else {
            let message = format!("step `{name}` is not a question");
            let step = Some(name.to_owned());
            return self.fail_run(FailReason::StepFailed, &message, step, None, world, events);
        };
        let built = self.build_question(&step, &ask, Purpose::Ask, true, world);
        self.put(built, Vec::new(), (name, "question"), world, events);
    }

    /// `\n  at skill.yaml:7`: where a text stands that is wrong; below what is wrong, as the
    /// place of a block is.
    pub(super) fn at(&self, span: Span) -> String {
        let file = &self.state.started.file;
        match self.flow.skill.lines.line(span) {
            Some(line) if !file.is_empty() => format!("\n  at {file}:{line}"),
            Some(_) | None => String::new(),
        }
    }

    /// Something in the step could not be rendered: nothing of it runs.
    pub(super) fn cannot_start(
        &mut self,
        step: String,
        part: &str,
        error: &TextError,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        // What could not be asked was not agreed to: no `on_error` lets the run past it.
        let about = self.node(&step).map(|(_, node)| &node.step);
        let asks = about.is_some_and(|about| {
            let question = matches!(about.action, Action::Ask(_)) || part == "confirmation";
            question && about.on_error == Some(OnError::Continue)
        });
        let place = about.and_then(|about| {
            let condition = about.condition.as_ref().filter(|_| part == "condition");
            let found = || failing_text(about, error, &self.scope_of(&step, world));
            Some(self.at(condition.map(|text| text.span).or_else(found)?))
        });
        let message = self.secrets.mask(&format!("{part}: {error}"));
        let failed = StepFailed {
            code: Some(error.code.clone()),
            message: message + &place.unwrap_or_default(),
            hint: error.hint.as_ref().map(|hint| self.secrets.mask(hint)),
            guarded: asks,
            ..failed(step, 0, BadOutcome::Failure)
        };
        let failed = self.guarded_failure(failed, world);
        self.emit(EventKind::StepFailed(Box::new(failed)), world, events);
    }
}
