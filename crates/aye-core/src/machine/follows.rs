//! What an answer leads to, and what a remembered one is bound to.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::digest::digest;
use crate::facts::{Fact, FactKind};
use crate::flow::{self, NodeId, OutsideReads, Route, Target};
use crate::journal::StepOutcome;
use crate::question::{Channel, Purpose, Question};
use crate::secrets::HIDDEN;
use crate::skill::{Action, Ask, AskKind, Choice, ChoiceAction, Step, Template};
use crate::text::{self, Scope, TextError};

use super::ask::with_details;
use super::covers::{Coverage, hide_input};
use super::run::Machine;
use super::variables::recording;

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
    /// A skill runs later that nobody looks at now: the yes is not remembered.
    pub(super) unseen: bool,
    /// Later steps that run because of the yes, and that it does not cover.
    pub(super) later: Vec<String>,
    /// What repairs those.
    pub(super) later_repairs: Vec<String>,
    /// What those of them say that say the same in every run: a remembered yes is bound to it.
    pub(super) constant: Vec<String>,
    /// One of them depends on the run: the yes is not remembered.
    pub(super) varies: bool,
}

impl Follows {
    /// Whether it is known, and bound, what the yes leads to.
    pub(super) fn is_certain(&self) -> bool {
        self.unknown.is_empty() && !self.varies && !self.destructive && !self.unseen
    }

    /// Whether what a step does is looked at.
    fn covers(&self, step: &str) -> bool {
        let unknown = self.unknown.iter().any(|name| name == step);
        unknown || self.coverage.as_ref().is_some_and(|coverage| coverage.has(step))
    }
}

/// The next step that acts.
#[derive(Default)]
struct Next {
    step: Option<NodeId>,
    command: Option<String>,
    words: Vec<String>,
    destructive: bool,
    /// Steps before it that their conditions leave out.
    left_out: Vec<NodeId>,
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
        let mut started = Vec::new();
        let output = self.output_name(&step.name);
        let users = self.users(step);
        for answer in &answers {
            let next = self.comes_next(step, answer, scope.clone());
            follows.destructive |= next.destructive;
            let mut scope = scope.clone();
            Arc::make_mut(&mut scope.outputs).insert(output.clone(), answer.value.clone().into());
            let leads = (answers.len() > 1).then_some(answer.value.as_str());
            let left_out = |at: NodeId| {
                let outer = |out: &NodeId| *out == at || self.flow.belongs_to(*out).contains(&at);
                next.left_out.iter().any(outer)
            };
            for (at, node) in self.flow.nodes.iter().enumerate() {
                let other = &node.step;
                let follows_it = users.contains(&at) || next.step == Some(at) || left_out(at);
                if !follows_it || !other.action.acts() {
                    continue;
                }
                let holds = self.would_run(at, &scope);
                if holds == Ok(false) {
                    if let Some(condition) = self.outside_condition(at) {
                        let why = format!("`{}` is false", condition.trim());
                        coverage.leave_out(&other.name, leads, &why);
                    }
                    continue;
                }
                follows.destructive |= other.destroys();
                follows.unseen |= other.holds_a_skill();
                // A gate of its own shows it, and is bound to it.
                if other.confirmation.is_some() {
                    continue;
                }
                if !self.flow.is_in_finally(at) {
                    started.push(other);
                }
                let known = holds.is_ok();
                let of = (Some(other.name.as_str()), leads);
                let told = known && self.cover(other, &scope, of, &mut coverage).is_ok();
                if !told && !follows.unknown.contains(&other.name.value) {
                    follows.unknown.push(other.name.value.clone());
                }
            }
        }
        self.add_repairs(&step.name, &started, scope, &mut coverage, &mut follows);
        follows.coverage = Some(coverage).filter(|coverage| !coverage.is_empty());
        // A no would have kept all of these from running.
        let mut uncovered = Vec::new();
        for at in self.comes_later(step, &answers, false) {
            let later = &self.flow.nodes[at].step;
            let is_shown = later.confirmation.is_some() || follows.covers(&later.name);
            if later.action.acts() && !is_shown {
                follows.later.push(later.name.value.clone());
                uncovered.push(later);
                match flow::constant_text(later) {
                    Some(text) => follows.constant.push(text),
                    None => follows.varies = true,
                }
            }
        }
        self.add_later_repairs(&uncovered, scope, &mut follows);
        for at in self.comes_later(step, &answers, true) {
            let later = &self.flow.nodes[at].step;
            if later.confirmation.is_none() && !follows.covers(&later.name) {
                follows.destructive |= later.destroys();
                follows.unseen |= matches!(later.action, Action::Skill { .. });
                follows.unseen |= later.holds_a_skill();
            }
        }
        follows
    }

    /// Every step that uses the answer to this one: reads it, runs only with a step that
    /// does, or reads what such a step gives.
    pub(super) fn users(&self, step: &Step) -> BTreeSet<NodeId> {
        let nodes = &self.flow.nodes;
        let mut names = vec![(self.output_name(&step.name), step.name.value.clone())];
        let mut users: BTreeSet<NodeId> = self
            .flow
            .find(&step.name)
            .map(|at| self.flow.belongs_to(at))
            .into_iter()
            .flatten()
            .collect();
        let mut looked_at = 0;
        while looked_at < names.len() {
            let (output, name) = names[looked_at].clone();
            looked_at += 1;
            for (at, node) in nodes.iter().enumerate() {
                let other = &node.step;
                let uses = other.name.value != step.name.value
                    && (flow::reads(other, &output) || flow::reads_outcome(other, &name));
                if uses {
                    users.insert(at);
                    users.extend(self.flow.belongs_to(at));
                }
            }
            for at in &users {
                let name = &nodes[*at].step.name;
                if !names.iter().any(|(_, known)| *known == name.value) {
                    names.push((self.output_name(name), name.value.clone()));
                }
            }
        }
        users
    }

    /// Whether the conditions of a step and of those that it belongs to hold.
    pub(super) fn would_run(&self, at: NodeId, scope: &Scope) -> Result<bool, TextError> {
        for condition in self.conditions_of(at) {
            if !text::holds(condition, scope)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The conditions of a step and of those that it belongs to.
    pub(super) fn conditions_of(&self, at: NodeId) -> impl Iterator<Item = &Template> {
        let around = (0..at).filter(move |outer| self.flow.belongs_to(*outer).contains(&at));
        around.chain([at]).filter_map(|one| self.flow.nodes[one].step.condition.as_ref())
    }

    /// The one of them that something outside of the run decides.
    pub(super) fn outside_condition(&self, at: NodeId) -> Option<&Template> {
        let mut conditions = self.conditions_of(at);
        conditions.find(|condition| OutsideReads::of_condition(condition).is_outside())
    }

    /// The steps that may run after one of these answers to this one; `finally` runs anyhow.
    /// Another question is for what comes after it.
    fn comes_later(
        &self,
        step: &Step,
        answers: &[&Choice],
        past_questions: bool,
    ) -> BTreeSet<NodeId> {
        let Some(here) = self.flow.find(&step.name) else { return BTreeSet::new() };
        let outcome = StepOutcome::Success;
        let routes = answers.iter().map(|yes| self.flow.route(here, &outcome, Some(&yes.value)));
        let first = routes.filter_map(|route| match route {
            Route::To(target) => Some(target),
            _ => None,
        });
        self.reachable(first, past_questions)
    }

    /// The steps that may run from here on; `finally` runs anyhow.
    fn reachable(
        &self,
        first: impl Iterator<Item = Target>,
        past_questions: bool,
    ) -> BTreeSet<NodeId> {
        let mut later = BTreeSet::new();
        let mut from: Vec<Target> = first.collect();
        while let Some(target) = from.pop() {
            if let Target::Step(next) = target
                && !self.flow.is_in_finally(next)
                && later.insert(next)
                && (past_questions || !self.is_question(next))
            {
                let routes = self.flow.nodes[next].routes.labelled();
                from.extend(routes.into_iter().map(|(_, target)| target));
            }
        }
        later
    }

    /// Whether something that comes after this step, and that nobody is asked about, depends on
    /// the run.
    pub(super) fn may_vary_past(&self, step: &Step) -> bool {
        let Some(here) = self.flow.find(&step.name) else { return true };
        let routes = self.flow.nodes[here].routes.labelled();
        let later = self.reachable(routes.into_iter().map(|(_, target)| target), false);
        later.into_iter().any(|at| {
            let later = &self.flow.nodes[at].step;
            let acts = later.action.acts() && later.confirmation.is_none();
            acts && flow::constant_text(later).is_none()
        })
    }

    /// Whether a step asks: a person who answers there knows that the run continues.
    fn is_question(&self, at: NodeId) -> bool {
        self.flow.nodes[at].step.action.ask().is_some()
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
        let mut found = Next::default();
        // As far as conditions leave steps out; a loop of those is none of ours.
        for _ in 0..self.flow.nodes.len() {
            let route = at.map(|at| self.flow.route(at, &outcome, answer.take()));
            let Some(Route::To(Target::Step(next))) = route else { break };
            let next_step = &self.flow.nodes[next].step;
            match next_step.condition.as_ref().map(|condition| text::holds(condition, &scope)) {
                Some(Ok(false)) => {
                    found.left_out.push(next);
                    (at, outcome) = (Some(next), StepOutcome::Skipped);
                }
                Some(Err(_)) => {
                    let destructive = next_step.destroys();
                    return Next { step: Some(next), destructive, ..found };
                }
                // A gate of its own shows it, and is bound to it.
                Some(Ok(true)) | None if next_step.confirmation.is_some() => break,
                // Nothing happens there.
                Some(Ok(true)) | None if matches!(next_step.action, Action::Note) => {
                    (at, outcome) = (Some(next), StepOutcome::Success);
                }
                Some(Ok(true)) | None => {
                    let (line, words) = self.command_line(next_step, &scope).unwrap_or_default();
                    let command = (!line.is_empty()).then_some(line);
                    let destructive = next_step.destroys();
                    return Next { step: Some(next), command, words, destructive, ..found };
                }
            }
        }
        found
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
        let (open, recorder) = recording(left_open(scope, &ask.any));
        let show = |template: &str| {
            let text = text::text(template, &open).ok()?;
            Some(self.mask_seen(&text, &recorder))
        };
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
        let follows = match question.purpose {
            Purpose::Gate => self.gate_follows(step, &open).ok()?,
            Purpose::Ask => self.what_follows(step, ask, &open),
            Purpose::Recover => Follows::default(),
        };
        if !follows.is_certain() {
            return None;
        }
        let later = follows.constant;
        let mut facts = follows.coverage.map(Coverage::into_facts).unwrap_or_default();
        if !ask.any.is_empty() {
            let now = match question.purpose {
                Purpose::Gate => self.gate_follows(step, scope).ok()?,
                Purpose::Ask => self.what_follows(step, ask, scope),
                Purpose::Recover => Follows::default(),
            };
            let now = now.coverage.map(Coverage::into_facts).unwrap_or_default();
            facts.extend(self.whatever_they_are(step, &ask.any, (&facts, &now), scope)?);
        }
        for fact in question.facts.iter().flatten() {
            match fact.kind {
                // Only the called skill says that it is a secret.
                FactKind::Input if fact.value == HIDDEN => hide_input(&mut facts, fact),
                _ if fact.is_seen() => facts.push(fact.clone()),
                _ => {}
            }
        }
        let details = match &ask.details {
            Some(details) => Some(show(details)?),
            None => None,
        };
        let mut bound = json!({
            "rule": 2,
            "workspace": self.state.started.workspace,
            "kind": question.kind,
            "purpose": question.purpose,
            "title": ask.title.as_ref().map(|title| show(title)),
            "message": with_details(show(&ask.message)?, details),
            "options": options?,
            "any": ask.any,
            "facts": facts,
        });
        if !later.is_empty() {
            bound["later"] = json!(later);
        }
        Some(digest(&[bound.to_string().as_bytes()]))
    }

    /// What a yes is bound to besides, if these inputs may be anything: what the steps say that
    /// it covers, and every other value that they can read, as another value of those inputs may
    /// lead elsewhere in a template. Nothing if it leads to other steps.
    fn whatever_they_are(
        &self,
        step: &Step,
        any: &[String],
        (open, now): (&[Fact], &[Fact]),
        scope: &Scope,
    ) -> Option<Vec<Fact>> {
        let about = |fact: &Fact| {
            (fact.step.clone(), fact.answer.clone(), fact.kind.clone(), fact.name.clone())
        };
        if open.iter().map(about).ne(now.iter().map(about)) {
            return None;
        }
        let mut names: Vec<&str> = open.iter().filter_map(|fact| fact.step.as_deref()).collect();
        names.dedup();
        let mut steps = vec![step];
        for name in names {
            steps.push(match name.split_once(".heal.") {
                Some((_, rule)) => &self.rules().find(|one| one.name == rule)?.repair,
                None => &self.node(name)?.1.step,
            });
        }
        let said = |step: &&Step| {
            let text = flow::written(std::slice::from_ref(*step));
            let read = self.values_read(step, scope, &self.secrets).into_iter();
            let read = read.filter(|fact| {
                let input = fact.name.as_deref().and_then(|name| name.strip_prefix("inputs."));
                let is_open = input.is_some_and(|name| any.iter().any(|open| open == name));
                !is_open && input.is_none_or(|name| may_name(&text, name))
            });
            let code = Fact::new(FactKind::Code, Some("text"), &self.secrets.mask(&text));
            read.chain([code]).collect::<Vec<_>>()
        };
        let said: Vec<Fact> = steps.iter().flat_map(said).collect();
        let is_certain = said.iter().all(|fact| fact.kind != FactKind::Uncertain);
        is_certain.then_some(said)
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
        if coverage.is_uncertain() {
            return None;
        }
        let mut facts = coverage.into_facts();
        if !any.is_empty() {
            let mut now = Coverage::default();
            self.cover(step, scope, (None, None), &mut now).ok()?;
            let now = now.into_facts();
            facts.extend(self.whatever_they_are(step, any, (&facts, &now), scope)?);
        }
        let bound = json!({
            "rule": 2, "kind": AskKind::Recover, "purpose": Purpose::Recover,
            "workspace": self.state.started.workspace, "any": any, "facts": facts,
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

/// Whether a text may read this input: by its name, or in a way that does not say which.
fn may_name(text: &str, input: &str) -> bool {
    const ALL: [&str; 6] = ["items", "values", "keys", "get", "pop", "copy"];
    let names_one = |rest: &str| match rest.strip_prefix('.') {
        Some(rest) => !ALL.iter().any(|word| rest.starts_with(word)),
        // A longer word that only begins like this.
        None => rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'),
    };
    text.contains(input) || !text.split("inputs").skip(1).all(names_one)
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
