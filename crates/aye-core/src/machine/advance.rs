//! Consequences: what follows from where the run stands, until it rests.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::event::{
    BadOutcome, CancelReason, Event, Fact, FailReason, Range, RetryReason, SkipReason,
    StepCompleted, StepFailed, StepStarted, WindDownReason,
};
use crate::flow::{NodeId, Outcome, Route, Target};
use crate::input::{Input, Request};
use crate::journal::{Between, Close, Phase, Resolution, Settled, Unsure};
use crate::question::{Answer, Prompter, Purpose, Question};
use crate::skill::{Action, ChoiceAction, EndStatus, OnError};
use crate::text::{self, TextError, World};

use super::handle::failed;
use super::run::Machine;

impl Machine {
    /// Goes on until a step runs, a question is open, or the run is over.
    pub(super) fn advance(&mut self, world: &World, events: &mut Vec<Event>) {
        while let Phase::Between(between) = self.state.phase.clone() {
            if !self.attached {
                return;
            }
            match between {
                Between::Begun => self.begin(world, events),
                Between::Settled(settled) => self.settled(settled, world, events),
                Between::Resolved { question, resolution } => {
                    self.resolved(&question, &resolution, world, events);
                }
                Between::Unsure(unsure) => self.unsure(&unsure, world, events),
                Between::Retrying { step, attempt } => {
                    self.retry_step(&step, attempt, world, events);
                }
                Between::Posing { step } => self.pose_step(&step, world, events),
            }
        }
    }

    fn begin(&mut self, world: &World, events: &mut Vec<Event>) {
        let range = self.state.started.range.as_ref().map(|range| range.step().to_owned());
        let start = range.and_then(|step| self.flow.find(&step)).map(Target::Step);
        self.go(start.unwrap_or(self.flow.start), world, events);
    }

    fn go(&mut self, target: Target, world: &World, events: &mut Vec<Event>) {
        match target {
            Target::Step(node) => self.enter(node, world, events),
            Target::End(end) => self.finish_at(end, world, events),
        }
    }

    /// Before a step acts: limits, its condition, its gate.
    fn enter(&mut self, node: NodeId, world: &World, events: &mut Vec<Event>) {
        let flow = Arc::clone(&self.flow);
        let step = &flow.nodes[node].step;
        let name = step.name.value.clone();
        if self.state.visits >= self.flow.skill.step_limit {
            let message = format!("stopped after {} steps: the step limit", self.state.visits);
            return self.fail_run(FailReason::StepLimit, message, Some(name), None, world, events);
        }
        if let Some(winding) = &self.state.winding_down
            && world.now >= winding.until
        {
            return self.wound_down("the time for clean-up was up", world, events);
        }
        if let Some(winding_down) = self.run_expired(world.now) {
            let failed = StepFailed {
                code: Some("TIMEOUT".to_owned()),
                message: "the run's time limit was up before it started".to_owned(),
                winding_down: Some(winding_down),
                ..failed(name, 0, BadOutcome::Timeout)
            };
            return self.emit(Fact::StepFailed(Box::new(failed)), world, events);
        }
        if let Some(condition) = &step.condition {
            match text::holds(condition, &self.scope(world)) {
                Ok(true) => {}
                Ok(false) => {
                    let message = Some(format!("`{}` is false", condition.trim()));
                    let why = SkipReason::Condition;
                    return self.emit(
                        Fact::StepSkipped { step: name, why, by: None, message },
                        world,
                        events,
                    );
                }
                Err(error) => return self.cannot_start(name, "condition", &error, world, events),
            }
        }
        match &step.confirmation {
            None => self.start_step(&name, 1, world, events),
            Some(ask) => match self.pose(step, ask, Purpose::Gate, world) {
                Ok(question) => self.require(question, world, events),
                Err(error) => self.cannot_start(name, "confirmation", &error, world, events),
            },
        }
    }

    fn start_step(&mut self, name: &str, attempt: u32, world: &World, events: &mut Vec<Event>) {
        let flow = Arc::clone(&self.flow);
        let Some(node) = flow.find(name) else {
            let message = format!("the skill has no step `{name}`");
            let step = Some(name.to_owned());
            return self.fail_run(FailReason::StepFailed, message, step, None, world, events);
        };
        let step = &flow.nodes[node].step;
        let execution = self.state.executions + 1;
        let mut started = StepStarted {
            step: name.to_owned(),
            execution,
            attempt,
            kind: step.action.kind().to_owned(),
            command: None,
            idempotent: step.idempotent,
            deadline: None,
        };
        match &step.action {
            Action::Note => {
                let done = StepCompleted {
                    step: name.to_owned(),
                    execution: 0,
                    output: self.output_name(name),
                    value: serde_json::Value::Null,
                    process: None,
                    marked_by: None,
                };
                self.emit(Fact::StepCompleted(Box::new(done)), world, events);
            }
            Action::Ask(_) => {
                self.emit(Fact::StepStarted(Box::new(started)), world, events);
            }
            Action::Command { .. } | Action::Shell { .. } => {
                match self.command_line(step, &self.scope(world)) {
                    Ok((command, _)) => {
                        started.command = Some(command);
                        started.deadline = self.step_deadline(step, world.now);
                        self.emit(Fact::StepStarted(Box::new(started)), world, events);
                    }
                    Err(error) => {
                        self.cannot_start(name.to_owned(), "command", &error, world, events);
                    }
                }
            }
        }
    }

    /// Whoever said "retry" saw the command; if it has changed meanwhile and
    /// has a gate, the gate is asked again.
    fn retry_step(&mut self, name: &str, attempt: u32, world: &World, events: &mut Vec<Event>) {
        let flow = Arc::clone(&self.flow);
        let step = flow.find(name).map(|node| &flow.nodes[node].step);
        if let Some(step) = step
            && let Some(ask) = &step.confirmation
            && let Ok((line, _)) = self.command_line(step, &self.scope(world))
            && self.state.steps.get(name).and_then(|record| record.command.as_ref()) != Some(&line)
            && let Ok(question) = self.pose(step, ask, Purpose::Gate, world)
        {
            return self.require(question, world, events);
        }
        self.start_step(name, attempt, world, events);
    }

    /// A step that is a question: ask it.
    fn pose_step(&mut self, name: &str, world: &World, events: &mut Vec<Event>) {
        let ask = self.node(name).and_then(|(_, node)| match &node.step.action {
            Action::Ask(ask) => Some((node.step.clone(), ask.clone())),
            Action::Command { .. } | Action::Shell { .. } | Action::Note => None,
        });
        let Some((step, ask)) = ask else {
            let message = format!("step `{name}` is no question");
            let step = Some(name.to_owned());
            return self.fail_run(FailReason::StepFailed, message, step, None, world, events);
        };
        match self.pose(&step, &ask, Purpose::Ask, world) {
            Ok(question) => self.require(question, world, events),
            Err(error) => self.cannot_start(name.to_owned(), "question", &error, world, events),
        }
    }

    /// Asks; `--yes` answers at once where it may.
    fn require(&mut self, question: Question, world: &World, events: &mut Vec<Event>) {
        let yes = self.state.started.yes.then(|| override_value(&question)).flatten();
        let id = question.id.clone();
        self.emit(Fact::ConfirmationRequired(Box::new(question)), world, events);
        if let Some(value) = yes {
            let answer = Answer {
                value: value.into(),
                by: self.state.started.driver.user.clone(),
                prompter: Prompter::Override,
                reason: None,
                typed: None,
                reauth: false,
                digest: None,
            };
            // A gate that `--yes` may not open refuses it and stays open.
            let answer = Request::Answer { question: id, answer };
            let attached = std::mem::replace(&mut self.attached, false);
            let reaction = self.handle(Input::Request(answer), world);
            self.attached = attached;
            events.extend(reaction.events);
        }
    }

    fn resolved(
        &mut self,
        question: &Question,
        resolution: &Resolution,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let step = question.step.clone();
        let value = Self::value_of(resolution);
        let action = match (resolution, value.and_then(|value| question.offer(value))) {
            (_, Some(offer)) => offer.action,
            // Text, or the marker of a secret.
            (Resolution::Answered(_) | Resolution::Expired(Some(_)), None) => ChoiceAction::Proceed,
            (Resolution::Expired(None), None) => ChoiceAction::Cancel,
        };
        if question.purpose == Purpose::Recover {
            return self.recovered(question, resolution, world, events);
        }
        match action {
            ChoiceAction::Proceed => match question.purpose {
                Purpose::Gate => self.pass_gate(question, world, events),
                Purpose::Ask | Purpose::Recover => {
                    let value = match resolution {
                        Resolution::Answered(answer) => answer.value.clone(),
                        Resolution::Expired(applied) => applied.clone().into(),
                    };
                    let done = StepCompleted {
                        execution: self.state.executions,
                        output: self.output_name(&step),
                        step,
                        value,
                        process: None,
                        marked_by: None,
                    };
                    self.emit(Fact::StepCompleted(Box::new(done)), world, events);
                }
            },
            ChoiceAction::Cancel => {
                let (why, by, message) = match resolution {
                    Resolution::Answered(Answer { by, .. }) => {
                        (SkipReason::Declined, Some(by.clone()), format!("declined by {by}"))
                    }
                    Resolution::Expired(_) => {
                        (SkipReason::Expired, None, "nobody answered in time".to_owned())
                    }
                };
                let message = Some(message);
                self.emit(Fact::StepSkipped { step, why, by, message }, world, events);
            }
            ChoiceAction::Skip => {
                let by = match resolution {
                    Resolution::Answered(answer) => Some(answer.by.clone()),
                    Resolution::Expired(_) => None,
                };
                let message = Some("skipped by choice".to_owned());
                let why = SkipReason::Answer;
                self.emit(Fact::StepSkipped { step, why, by, message }, world, events);
            }
        }
    }

    /// A yes counts for what was shown: if the command has changed meanwhile,
    /// it is asked again.
    fn pass_gate(&mut self, question: &Question, world: &World, events: &mut Vec<Event>) {
        let name = question.step.as_str();
        let asked = self
            .node(name)
            .and_then(|(_, node)| Some((node.step.clone(), node.step.confirmation.clone()?)))
            .map(|(step, ask)| self.pose(&step, &ask, Purpose::Gate, world));
        match asked {
            Some(Ok(again)) if again.digest != question.digest => {
                self.require(again, world, events);
            }
            Some(Err(error)) => {
                self.cannot_start(name.to_owned(), "confirmation", &error, world, events);
            }
            Some(Ok(_)) | None => self.start_step(name, 1, world, events),
        }
    }

    fn recovered(
        &mut self,
        question: &Question,
        resolution: &Resolution,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let step = question.step.clone();
        let by = match resolution {
            Resolution::Answered(answer) => answer.by.clone(),
            Resolution::Expired(_) => String::new(),
        };
        match Self::value_of(resolution) {
            Some("retry") => {
                let attempt = self.state.steps.get(&step).map_or(1, |record| record.attempt) + 1;
                let why = RetryReason::Answer;
                self.emit(Fact::StepRetried { step, attempt, why }, world, events);
            }
            Some("done") => {
                let execution = self.state.steps.get(&step).map_or(0, |record| record.execution);
                let done = StepCompleted {
                    output: self.output_name(&step),
                    step,
                    execution,
                    value: serde_json::Value::Null,
                    process: None,
                    marked_by: Some(by),
                };
                self.emit(Fact::StepCompleted(Box::new(done)), world, events);
            }
            Some("skip") => {
                let message = Some(format!("skipped by {by}"));
                let (why, by) = (SkipReason::Answer, Some(by));
                self.emit(Fact::StepSkipped { step, why, by, message }, world, events);
            }
            Some(_) | None => {
                let message = format!("`{step}` was given up by {by}");
                let why = FailReason::Aborted;
                self.fail_run(why, message, Some(step), None, world, events);
            }
        }
    }

    fn unsure(&mut self, unsure: &Unsure, world: &World, events: &mut Vec<Event>) {
        if unsure.idempotent {
            let (step, attempt) = (unsure.step.clone(), unsure.attempt + 1);
            let why = RetryReason::Idempotent;
            return self.emit(Fact::StepRetried { step, attempt, why }, world, events);
        }
        let question = self.pose_unsure(unsure);
        self.emit(Fact::ConfirmationRequired(Box::new(question)), world, events);
    }

    /// A step ended: which way now?
    fn settled(&mut self, settled: Settled, world: &World, events: &mut Vec<Event>) {
        let Settled { step, close } = settled;
        let Some((id, node)) = self.node(&step) else {
            let message = format!("the skill has no step `{step}`");
            return self.fail_run(FailReason::StepFailed, message, Some(step), None, world, events);
        };
        let on_error = node.step.on_error;
        let only = matches!(self.state.started.range, Some(Range::Only(_)));
        let outcome = match &close {
            Close::Success => Outcome::Success,
            Close::Skipped => Outcome::Skipped,
            Close::Failure(code) => Outcome::Failure(*code),
            Close::Timeout => Outcome::Timeout,
            Close::Declined { .. } => Outcome::Declined,
            Close::Cancelled => Outcome::Cancelled,
        };
        let route = match (only, outcome) {
            (true, Outcome::Success | Outcome::Skipped) => Route::Done,
            (true, _) => Route::Uncaught,
            (false, outcome) => self.flow.route(id, outcome),
        };
        let asks = on_error == OnError::Ask
            && matches!(close, Close::Failure(_) | Close::Timeout)
            && self.state.winding_down.is_none();
        match route {
            Route::To(target) => self.go(target, world, events),
            Route::Done => self.finish_well(None, world, events),
            Route::Uncaught if asks => {
                let question = self.pose_failed(&step);
                self.emit(Fact::ConfirmationRequired(Box::new(question)), world, events);
            }
            Route::Uncaught => self.uncaught(step, close, world, events),
        }
    }

    /// An outcome that nothing catches decides the run.
    fn uncaught(&mut self, step: String, close: Close, world: &World, events: &mut Vec<Event>) {
        if self.state.winding_down.is_some() {
            return self.wound_down("", world, events);
        }
        let message =
            self.state.steps.get(&step).and_then(|r| r.message.clone()).unwrap_or_default();
        let told = format!("step `{step}`: {message}");
        match close {
            Close::Success | Close::Skipped | Close::Failure(_) => {
                self.fail_run(FailReason::StepFailed, told, Some(step), None, world, events);
            }
            Close::Timeout => {
                self.fail_run(FailReason::StepTimedOut, told, Some(step), None, world, events);
            }
            Close::Declined { expired, by } => {
                let why = if expired { CancelReason::Expired } else { CancelReason::Declined };
                let fact =
                    Fact::SkillCancelled { why, by, message: Some(message), step: Some(step) };
                self.emit(fact, world, events);
            }
            Close::Cancelled => {
                let why = CancelReason::Cancelled;
                let fact = Fact::SkillCancelled {
                    why,
                    by: None,
                    message: Some(message),
                    step: Some(step),
                };
                self.emit(fact, world, events);
            }
        }
    }

    fn finish_at(&mut self, end: usize, world: &World, events: &mut Vec<Event>) {
        let ending = self.flow.endings[end].clone();
        if self.state.winding_down.is_some() {
            return self.wound_down("", world, events);
        }
        match ending.status {
            EndStatus::Completed => self.finish_well(ending.name, world, events),
            EndStatus::Failed => {
                let name = ending.name.clone().unwrap_or_default();
                let message = format!("ended in `{name}`");
                let step = self.state.current.clone();
                let why = FailReason::FinalState;
                self.fail_run(why, message, step, ending.name, world, events);
            }
            EndStatus::Cancelled => {
                let name = ending.name.unwrap_or_default();
                self.emit(
                    Fact::SkillCancelled {
                        why: CancelReason::FinalState,
                        by: None,
                        message: Some(format!("ended in `{name}`")),
                        step: self.state.current.clone(),
                    },
                    world,
                    events,
                );
            }
        }
    }

    fn finish_well(&mut self, state: Option<String>, world: &World, events: &mut Vec<Event>) {
        let only = matches!(self.state.started.range, Some(Range::Only(_)));
        let mut outputs = IndexMap::new();
        if !only {
            let scope = self.scope(world);
            for output in &self.flow.skill.outputs {
                match text::render_value(&output.value, &scope) {
                    Ok(value) => {
                        outputs.insert(output.name.value.clone(), self.secrets.mask_value(&value));
                    }
                    Err(error) => {
                        let message = format!("output `{}`: {error}", output.name.value);
                        let why = FailReason::Output;
                        return self.fail_run(why, message, None, state, world, events);
                    }
                }
            }
        }
        self.emit(Fact::SkillCompleted { state, outputs }, world, events);
    }

    /// The end of a run that was stopped, after its clean-up.
    fn wound_down(&mut self, note: &str, world: &World, events: &mut Vec<Event>) {
        let Some(winding) = self.state.winding_down.clone() else {
            return;
        };
        let noted = |text: &str| match note {
            "" => text.to_owned(),
            note => format!("{text}; {note}"),
        };
        let step = self.state.current.clone();
        match winding.why {
            WindDownReason::RunTimeout => {
                let message = noted("the run's time limit was up");
                self.fail_run(FailReason::RunTimedOut, message, step, None, world, events);
            }
            WindDownReason::Cancelled => {
                let by = winding.by.clone();
                let told = match &by {
                    Some(by) => format!("cancelled by {by}"),
                    None => "cancelled".to_owned(),
                };
                let message = Some(noted(&told));
                let why = CancelReason::Cancelled;
                self.emit(Fact::SkillCancelled { why, by, message, step }, world, events);
            }
        }
    }

    fn fail_run(
        &mut self,
        why: FailReason,
        message: String,
        step: Option<String>,
        state: Option<String>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        self.emit(Fact::SkillFailed { why, message, step, state }, world, events);
    }

    /// Something in the step could not be rendered: nothing of it runs.
    fn cannot_start(
        &mut self,
        step: String,
        part: &str,
        error: &TextError,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let failed = StepFailed {
            code: Some("TEMPLATE".to_owned()),
            message: self.secrets.mask(&format!("{part}: {error}")),
            hint: error.hint.clone(),
            ..failed(step, 0, BadOutcome::Failure)
        };
        self.emit(Fact::StepFailed(Box::new(failed)), world, events);
    }
}

/// What `--yes` answers: the first option that proceeds. Text has no yes.
fn override_value(question: &Question) -> Option<String> {
    question
        .options
        .iter()
        .find(|offer| offer.action == ChoiceAction::Proceed)
        .map(|offer| offer.value.clone())
        .or_else(|| question.default.clone())
}
