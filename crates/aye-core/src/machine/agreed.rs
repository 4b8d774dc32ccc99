//! Whether what is about to start is still what someone agreed to: compared before every start,
//! and asked about again where it has changed.

use crate::error_code::ErrorCode;
use crate::event::{Event, EventKind};
use crate::facts::{Change, Fact, FactKind, Inspection, changes};
use crate::journal::Approved;
use crate::question::{Purpose, Question};
use crate::skill::{Ask, Step};
use crate::text::{Scope, TextError, World};

use super::covers::{BuiltQuestion, Coverage};
use super::fix::gate_for_changes;
use super::run::Machine;
use super::variables::recording;

/// How often a step is asked about again because something has changed.
const MOST_CHANGES: u32 = 3;

/// Whether what was agreed to is still what would run.
pub(super) enum Agreed {
    Same,
    Inspect(Box<Inspection>),
    Changed(Vec<Change>),
}

impl Machine {
    /// Whether what a step would do is what someone agreed to.
    pub(super) fn still_agreed(
        &self,
        step: &Step,
        approved: &Approved,
        world: &World,
    ) -> Result<Agreed, TextError> {
        self.showing().is_still_agreed(step, approved, world)
    }

    fn is_still_agreed(
        &self,
        step: &Step,
        approved: &Approved,
        world: &World,
    ) -> Result<Agreed, TextError> {
        let scope = self.scope_of(&step.name, world);
        Ok(match self.agreed_in(scope.clone(), step, approved, world)? {
            // If it has changed, the question about that shows more than the step.
            Agreed::Inspect(own) => {
                let follows = self.gate_follows(step, &scope).ok();
                let looks = follows.and_then(|it| it.coverage).map(|coverage| coverage.looks);
                let looks = looks.unwrap_or_else(|| own.looks.clone());
                Agreed::Inspect(Box::new(Inspection { looks, ..*own }))
            }
            agreed => agreed,
        })
    }

    /// The same with the names of this scope.
    pub(super) fn agreed_in(
        &self,
        scope: Scope,
        step: &Step,
        approved: &Approved,
        world: &World,
    ) -> Result<Agreed, TextError> {
        let (scope, recorder) = recording(scope);
        let mut coverage = Coverage::default();
        self.cover(step, &scope, (None, None), &mut coverage)?;
        Ok(match self.covered(coverage, &recorder.seen(), world) {
            Err(inspection) => Agreed::Inspect(inspection),
            Ok(now) => {
                let (before, after) =
                    (approved.compared(&approved.facts), approved.compared(&now.facts));
                let mut changed = changes(&before, &after);
                changed.extend(self.hidden_changes(step, approved, &scope)?);
                match before == after && changed.is_empty() {
                    true => Agreed::Same,
                    false => Agreed::Changed(changed),
                }
            }
        })
    }

    /// The digest of the skill that a step runs, as someone agreed to it; nothing if nobody did.
    pub fn agreed_skill(&self, step: &str) -> Option<&str> {
        let covered = self.state.covered.get(step).map(|covered| &covered.approved);
        let record = self.state.steps.get(step);
        let approved = record.and_then(|record| record.approved.as_ref()).or(covered)?;
        let is_skill = |fact: &&Fact| fact.kind == FactKind::Skill && fact.step.is_none();
        if approved.edited {
            return None;
        }
        approved.facts.iter().find(is_skill)?.digest.as_deref()
    }

    /// The question before a step: its own gate; else, if it has `changed`, the
    /// one about not being what someone agreed to at an earlier question; else
    /// the one about what was changed after it had failed.
    pub(super) fn gate_of(&self, step: &Step, changed: bool) -> Ask {
        if let Some(own) = &step.confirmation {
            return own.clone();
        }
        let gate = gate_for_changes(step, self.is_bound(step));
        if !changed || self.edits_of(&step.name).is_some() {
            return gate;
        }
        let around = self.state.covered.get(&step.name.value).map(|covered| &covered.approved);
        let record = self.state.steps.get(&step.name.value);
        let approved = around.or_else(|| record.and_then(|record| record.approved.as_ref()));
        let asked_by = approved.and_then(|approved| approved.asked_by.as_deref());
        let asked = asked_by.and_then(|name| self.node(name)?.1.step.question());
        match (asked, asked_by) {
            (Some(ask), Some(name)) => Ask {
                message: crate::skill::Template::new(
                    format!("This is not what was agreed to at `{name}`. Run it as it is now?"),
                    step.span,
                ),
                by: ask.by.clone(),
                approvals: ask.approvals,
                not_starter: ask.not_starter,
                reauth: ask.reauth,
                typed: ask.typed.clone(),
                ..gate
            },
            _ => gate,
        }
    }

    /// Asks, lets the host look first, or fails the step.
    pub(super) fn put(
        &mut self,
        built: Result<BuiltQuestion, TextError>,
        changed: Vec<Change>,
        (step, part): (&str, &str),
        world: &World,
        events: &mut Vec<Event>,
    ) {
        match built {
            Ok(BuiltQuestion::Inspect(inspection)) => self.wanted = Some(inspection),
            Ok(BuiltQuestion::Question(question)) => {
                let record = self.state.steps.get(step);
                let again = record.map_or(0, |record| record.asked_again);
                if !changed.is_empty() && again >= MOST_CHANGES {
                    let error = keeps_changing(&changed);
                    return self.cannot_start(step.to_owned(), part, &error, world, events);
                }
                let question = Box::new(Question { changed, ..*question });
                self.emit(EventKind::ConfirmationRequired(question), world, events);
            }
            Err(error) => self.cannot_start(step.to_owned(), part, &error, world, events),
        }
    }

    /// Starts a step that someone agreed to, if it is still the same; asks
    /// again if it is not.
    pub(super) fn start_agreed(
        &mut self,
        step: &Step,
        attempt: u32,
        approved: &Approved,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        match self.still_agreed(step, approved, world) {
            // A template that does not render is reported when the step starts.
            Ok(Agreed::Same) | Err(_) => self.start_step(&step.name, attempt, world, events),
            Ok(Agreed::Inspect(inspection)) => self.wanted = Some(inspection),
            // The step that it repairs has failed: what to do is asked there.
            Ok(Agreed::Changed(changed)) if self.agreed_as_repair().is_some() => {
                let error = not_agreed_to(&changed);
                self.cannot_start(step.name.value.clone(), "repair", &error, world, events);
            }
            Ok(Agreed::Changed(changed)) => {
                let built = self.build_question(
                    step,
                    &self.gate_of(step, true),
                    Purpose::Gate,
                    true,
                    world,
                );
                self.put(built, changed, (&step.name, "confirmation"), world, events);
            }
        }
    }
}

/// What is different between two askings of a question.
pub(super) fn changed_since(before: &Question, after: &BuiltQuestion) -> Vec<Change> {
    let (Some(old), BuiltQuestion::Question(after)) = (&before.facts, after) else {
        return Vec::new();
    };
    let changed = changes(old, after.facts.as_deref().unwrap_or_default());
    if changed.is_empty() {
        let told = |question: &Question| Some(question.message.clone());
        let what = "the question".to_owned();
        return vec![Change { what, before: told(before), after: told(after) }];
    }
    changed
}

fn not_agreed_to(changed: &[Change]) -> TextError {
    let what: Vec<&str> = changed.iter().map(|change| change.what.as_str()).collect();
    let message = format!("it is not what was agreed to: {}", what.join(", "));
    TextError { code: ErrorCode::Changed, ..TextError::new(message) }
}

fn keeps_changing(changed: &[Change]) -> TextError {
    let what: Vec<&str> = changed.iter().map(|change| change.what.as_str()).collect();
    let message = format!(
        "Aye has asked again {MOST_CHANGES} times, and what was agreed to keeps changing: {}",
        what.join(", ")
    );
    let hint = "keep it from changing between the answer and the start".to_owned();
    TextError { code: ErrorCode::Changed, hint: Some(hint), ..TextError::new(message) }
}
