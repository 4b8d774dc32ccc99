//! What an answer leads to, and what a remembered one is bound to.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::digest::digest;
use crate::flow::{self, NodeId, Route, Target};
use crate::journal::StepOutcome;
use crate::question::{Channel, Purpose, Question};
use crate::skill::{Ask, AskKind, Choice, ChoiceAction, Step};
use crate::text::{self, Scope};

use super::ask::with_details;
use super::covers::Coverage;
use super::run::Machine;

/// What a yes leads to.
#[derive(Default)]
pub(super) struct Follows {
    /// As it is shown.
    pub(super) command: Option<String>,
    /// What the answer is bound to.
    pub(super) words: Vec<String>,
    /// It cannot be undone: the yes is not remembered.
    pub(super) destructive: bool,
    /// Everything that decides what follows; nothing if nothing does.
    pub(super) coverage: Option<Coverage>,
    /// Steps for which that is not known yet: the yes is not remembered.
    pub(super) unknown: Vec<String>,
}

/// The next step that acts.
#[derive(Default)]
struct Next {
    step: Option<NodeId>,
    command: Option<String>,
    words: Vec<String>,
    destructive: bool,
}

impl Machine {
    /// What the answers to this step that proceed lead to: the next thing that
    /// happens, and every step that uses the answer.
    pub(super) fn what_follows(&self, step: &Step, ask: &Ask, scope: &Scope) -> Follows {
        let proceeds = |choice: &&Choice| choice.action == ChoiceAction::Proceed;
        let answers: Vec<&Choice> = ask.options.iter().filter(proceeds).collect();
        let first = match (ask.kind, answers.first()) {
            (AskKind::Confirm, Some(yes)) => self.comes_next(step, yes, scope.clone()),
            (AskKind::Choose, Some(_)) => Next::default(),
            // What someone will type is not known.
            (AskKind::Input | AskKind::Recover, _) | (_, None) => {
                let unknown = vec![step.name.value.clone()];
                return Follows { unknown, ..Follows::default() };
            }
        };
        let mut follows = Follows {
            command: first.command,
            words: first.words,
            destructive: first.destructive,
            ..Follows::default()
        };
        let mut coverage = Coverage::default();
        let output = self.output_name(&step.name);
        for answer in &answers {
            let next = self.comes_next(step, answer, scope.clone());
            follows.destructive |= next.destructive;
            let mut scope = scope.clone();
            Arc::make_mut(&mut scope.outputs).insert(output.clone(), answer.value.clone().into());
            let leads = (answers.len() > 1).then_some(answer.value.as_str());
            for (at, node) in self.flow.nodes.iter().enumerate() {
                let other = &node.step;
                let uses = other.name != step.name
                    && (flow::reads(other, &output) || flow::reads_outcome(other, &step.name));
                if !uses && next.step != Some(at) || !other.action.acts() {
                    continue;
                }
                let holds =
                    other.condition.as_ref().map(|condition| text::holds(condition, &scope));
                if holds == Some(Ok(false)) {
                    continue;
                }
                follows.destructive |= other.destructive;
                // A gate of its own shows it, and is bound to it.
                if other.confirmation.is_some() {
                    continue;
                }
                let known = !matches!(holds, Some(Err(_)));
                let of = (Some(other.name.as_str()), leads);
                let told = known && self.cover(other, &scope, of, &mut coverage).is_ok();
                if !told && !follows.unknown.contains(&other.name.value) {
                    follows.unknown.push(other.name.value.clone());
                }
            }
        }
        follows.coverage = Some(coverage).filter(|coverage| !coverage.is_empty());
        follows
    }

    /// The step that an answer leads to, if it is the next thing that happens,
    /// and its command if it is known already.
    fn comes_next(&self, step: &Step, yes: &Choice, mut scope: Scope) -> Next {
        let output = self.output_name(&step.name);
        Arc::make_mut(&mut scope.outputs).insert(output, yes.value.clone().into());
        let mut at = self.flow.find(&step.name);
        // The rest of `finally` runs whatever is answered.
        if at.is_some_and(|at| self.flow.is_in_finally(at)) {
            return Next::default();
        }
        let mut outcome = StepOutcome::Success;
        let mut answer = Some(yes.value.as_str());
        // As far as conditions leave steps out; a loop of those is none of ours.
        for _ in 0..self.flow.nodes.len() {
            let route = at.map(|at| self.flow.route(at, &outcome, answer.take()));
            let Some(Route::To(Target::Step(next))) = route else { break };
            let next_step = &self.flow.nodes[next].step;
            match next_step.condition.as_ref().map(|condition| text::holds(condition, &scope)) {
                Some(Ok(false)) => (at, outcome) = (Some(next), StepOutcome::Skipped),
                Some(Err(_)) => {
                    let destructive = next_step.destructive;
                    return Next { step: Some(next), destructive, ..Next::default() };
                }
                // A gate of its own shows it, and is bound to it.
                Some(Ok(true)) | None if next_step.confirmation.is_some() => break,
                Some(Ok(true)) | None => {
                    let (line, words) = self.command_line(next_step, &scope).unwrap_or_default();
                    let command = (!line.is_empty()).then_some(line);
                    let destructive = next_step.destructive;
                    return Next { step: Some(next), command, words, destructive };
                }
            }
        }
        Next::default()
    }

    /// What a remembered answer is bound to: everything that is shown and that
    /// decides, with the inputs that may vary left open. Nothing if it does not
    /// render without them.
    pub(super) fn recall(
        &self,
        step: &Step,
        ask: &Ask,
        question: &Question,
        scope: &Scope,
    ) -> Option<String> {
        let open = left_open(scope, &ask.any);
        let show = |template: &str| Some(self.secrets.mask(&text::text(template, &open).ok()?));
        let options: Option<Vec<Value>> = ask
            .options
            .iter()
            .map(|choice| {
                let about = choice.description.as_ref().map(|text| show(text));
                if about == Some(None) {
                    return None;
                }
                Some(json!([choice.value, show(&choice.label)?, about, choice.action]))
            })
            .collect();
        let mut facts = match question.purpose {
            Purpose::Gate => {
                let mut coverage = Coverage::default();
                self.cover(step, &open, (None, None), &mut coverage).ok()?;
                coverage.into_facts()
            }
            Purpose::Ask => {
                let follows = self.what_follows(step, ask, &open);
                if !follows.unknown.is_empty() || follows.destructive {
                    return None;
                }
                follows.coverage.map(Coverage::into_facts).unwrap_or_default()
            }
            Purpose::Recover => Vec::new(),
        };
        let seen = question.facts.iter().flatten().filter(|fact| fact.is_seen()).cloned();
        facts.extend(seen);
        let details = match &ask.details {
            Some(details) => Some(show(details)?),
            None => None,
        };
        let bound = json!({
            "rule": 2,
            "kind": question.kind,
            "purpose": question.purpose,
            "title": ask.title.as_ref().map(|title| show(title)),
            "message": with_details(show(&ask.message)?, details),
            "options": options?,
            "any": ask.any,
            "facts": facts,
        });
        Some(digest(&[bound.to_string().as_bytes()]))
    }

    /// What a remembered answer about a failure is bound to: what the step does,
    /// with the inputs that may vary left open. Which error it was is memory's to
    /// compare. Nothing if it does not render.
    pub(super) fn recall_failure(
        &self,
        step: &Step,
        any: &[String],
        scope: &Scope,
    ) -> Option<String> {
        let mut coverage = Coverage::default();
        self.cover(step, &left_open(scope, any), (None, None), &mut coverage).ok()?;
        let bound = json!({
            "rule": 2, "kind": AskKind::Recover, "purpose": Purpose::Recover,
            "any": any, "facts": coverage.into_facts(),
        });
        Some(digest(&[bound.to_string().as_bytes()]))
    }

    /// Whether memory may answer this question. A retry that memory asked for
    /// and that failed again is not asked for a second time: a person decides.
    pub fn may_recall(&self, question: &Question) -> bool {
        let record = self.state.steps.get(&question.step);
        let by = record.and_then(|record| record.retried_by.as_ref());
        let tried = by.is_some_and(|answer| answer.prompter == Channel::Memory);
        question.remember && !(question.purpose == Purpose::Recover && tried)
    }
}

/// A scope in which these inputs may be anything.
fn left_open(scope: &Scope, any: &[String]) -> Scope {
    let mut open = scope.clone();
    for name in any {
        let inputs = Arc::make_mut(&mut open.inputs);
        inputs.insert(name.clone(), format!("<any {name}>").into());
    }
    open
}
