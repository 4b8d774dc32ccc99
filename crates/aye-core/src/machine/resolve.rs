//! What an answered or expired question leads to.

use crate::event::{Event, Fact, FailReason, RetryReason, SkipReason, StepCompleted};
use crate::input::{Input, Request};
use crate::journal::{Resolution, Unsure};
use crate::question::{Answer, Prompter, Purpose, Question};
use crate::skill::ChoiceAction;
use crate::text::World;

use super::run::Machine;

impl Machine {
    /// Asks; `--yes` answers at once where it may.
    pub(super) fn require(&mut self, question: Question, world: &World, events: &mut Vec<Event>) {
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

    pub(super) fn resolved(
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
    pub(super) fn pass_gate(
        &mut self,
        question: &Question,
        world: &World,
        events: &mut Vec<Event>,
    ) {
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

    pub(super) fn recovered(
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

    pub(super) fn unsure(&mut self, unsure: &Unsure, world: &World, events: &mut Vec<Event>) {
        if unsure.idempotent {
            let (step, attempt) = (unsure.step.clone(), unsure.attempt + 1);
            let why = RetryReason::Idempotent;
            return self.emit(Fact::StepRetried { step, attempt, why }, world, events);
        }
        let question = self.pose_unsure(unsure);
        self.emit(Fact::ConfirmationRequired(Box::new(question)), world, events);
    }

    /// What an answer or an expiry comes down to: the value taken.
    pub(super) fn value_of(resolution: &Resolution) -> Option<&str> {
        match resolution {
            Resolution::Answered(answer) => answer.value.as_str(),
            Resolution::Expired(applied) => applied.as_deref(),
        }
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
