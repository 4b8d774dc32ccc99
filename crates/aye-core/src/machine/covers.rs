//! What a yes covers: the facts that decide what a step does, collected before
//! someone is asked and again before the step starts (`agreed`).

use std::sync::Arc;

use serde_json::Value;

use crate::digest::digest;
use crate::event::Event;
use crate::facts::{Fact, FactKind, Inspected, Inspection, Look, Subject};
use crate::flow::{self, OutsideReads};
use crate::journal::StepRecord;
use crate::question::Question;
use crate::secrets::{HIDDEN, Secrets, Text, is_secret, names_secret};
use crate::skill::{Action, Step, is_production};
use crate::text::{Names, Outside, Scope, TextError, World};
use crate::value::as_text;

use super::run::Machine;
use super::variables::{made_by, secret_value};

/// What came of building a question.
pub(super) enum BuiltQuestion {
    /// It can be asked.
    Question(Box<Question>),
    /// The host has to look at something first.
    Inspect(Box<Inspection>),
}

/// What decides what one or more steps do.
#[derive(Default)]
pub(super) struct Coverage {
    /// What the core knows itself.
    facts: Vec<Fact>,
    /// What the host has to look at.
    pub(super) looks: Vec<Look>,
}

impl Coverage {
    pub(super) fn into_facts(self) -> Vec<Fact> {
        self.facts
    }

    pub(super) fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Whether a part of it may be something else in the next run.
    pub(super) fn is_uncertain(&self) -> bool {
        self.facts.iter().any(|fact| fact.kind == FactKind::Uncertain)
    }

    /// Adds that a step does nothing because of what is outside: if that changes, it is
    /// no longer what was agreed to.
    pub(super) fn leave_out(&mut self, step: &str, answer: Option<&str>, why: &str) {
        let fact = Fact::new(FactKind::Value, Some("condition"), why);
        let (step, answer) = (Some(step.to_owned()), answer.map(str::to_owned));
        self.facts.push(Fact { step, answer, ..fact });
    }

    /// Adds something that a yes does not cover.
    pub(super) fn note(&mut self, text: &str) {
        self.facts.push(Fact::new(FactKind::NotCovered, None, text));
    }

    /// Whether what this step does is a part of it.
    pub(super) fn has(&self, step: &str) -> bool {
        self.facts.iter().any(|fact| fact.step.as_deref() == Some(step))
    }
}

/// Everything that decides, with what the host saw.
pub(super) struct Covered {
    pub(super) facts: Vec<Fact>,
    pub(super) not_covered: Vec<String>,
    /// A skill that would run destroys something, or may.
    pub(super) destructive: bool,
    /// What is not covered may be something else in the next run.
    pub(super) uncertain: bool,
    /// Why the skill cannot be loaded that the step which asks would run.
    pub(super) missing: Option<String>,
}

impl Machine {
    /// What the host has to look at before the run continues; nothing if the run
    /// does not wait for that.
    pub fn inspection(&self, world: &World) -> Option<Inspection> {
        let mut probe = self.clone();
        let mut events = Vec::new();
        probe.advance(world, &mut events);
        probe.wanted.filter(|_| events.is_empty()).map(|wanted| *wanted)
    }

    /// Continues with what the host saw. The time is that of the inspection, so
    /// that what is rendered now is what was looked at.
    pub(super) fn go_on_with(
        &mut self,
        inspected: Inspected,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let world = World { now: inspected.inspection.at, ..world.clone() };
        self.inspected = Some(Box::new(inspected));
        self.advance(&world, events);
        self.inspected = None;
    }

    /// Adds what decides what a step does. `of` names it, if it is not the one
    /// that is asked about, and the answer that leads to it.
    pub(super) fn cover(
        &self,
        step: &Step,
        scope: &Scope,
        of: (Option<&str>, Option<&str>),
        coverage: &mut Coverage,
    ) -> Result<(), TextError> {
        let own = |text: Option<&str>| text.map(str::to_owned);
        if of.0.is_some() {
            self.knows_steps_of(step, scope)?;
        }
        let render = |scope: &Scope, secrets: &Secrets| self.deciding(step, scope, secrets);
        let (facts, subject) = self.render_masked(scope, render)?;
        let uncertain = self.hides_parts(step, scope, &facts)?.into_iter();
        let facts = facts.into_iter().chain(uncertain);
        let label = |fact: Fact| Fact { step: own(of.0), answer: own(of.1), ..fact };
        coverage.facts.extend(facts.map(label));
        let look = |subject| Look { step: own(of.0), answer: own(of.1), subject };
        coverage.looks.extend(subject.map(look));
        Ok(())
    }

    /// A note that something is hidden in these facts beside a secret that is a part of it, where
    /// that is so: on its way here it may have got any name.
    fn hides_parts(
        &self,
        step: &Step,
        scope: &Scope,
        facts: &[Fact],
    ) -> Result<Option<Fact>, TextError> {
        let noted = |fact: &Fact| fact.kind == FactKind::Uncertain;
        let Some(others) = self.secrets.without_parts() else { return Ok(None) };
        if facts.iter().any(noted) {
            return Ok(None);
        }
        let mut showing = self.clone();
        showing.secrets = Arc::new(others);
        let render = |scope: &Scope, secrets: &Secrets| showing.deciding(step, scope, secrets);
        let (shown, _) = showing.render_masked(scope, render)?;
        let note = "a value that a secret is only a part of, so the answer is not remembered";
        let note = || Fact::new(FactKind::Uncertain, None, note);
        Ok((shown != facts).then(note))
    }

    /// The facts that the core knows, and what there is to look at.
    fn deciding(
        &self,
        step: &Step,
        scope: &Scope,
        secrets: &Secrets,
    ) -> Result<(Vec<Fact>, Option<Subject>), TextError> {
        let mask = |text: &str| secrets.mask(text);
        let (shown, words, _) = self.masked_line(step, scope, secrets)?;
        let mut facts = vec![Fact::new(FactKind::Machine, None, &self.state.driver.host)];
        let command = Fact::new(FactKind::Command, None, &shown);
        let mut subject = None;
        match &step.action {
            Action::Command { .. } | Action::Shell { .. } => {
                // Values of a script stand in variables: the text alone does not say which.
                let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
                facts.push(match matches!(step.action, Action::Shell { .. }) {
                    true => command.with_digest(digest(&words)),
                    false => command,
                });
                let process = self.sealed_process(step, scope)?;
                subject = Some(Subject::Program {
                    argv: process.argv,
                    env: process.env,
                    cwd: process.cwd,
                    stdin: process.stdin,
                });
            }
            Action::Tool { tool, .. } => {
                facts.push(command);
                let args = self.sealed_arguments(step, scope)?;
                subject = Some(Subject::Tool { tool: tool.value.clone(), args });
            }
            Action::Skill { skill, .. } => {
                facts.push(command);
                for (name, value) in self.given_to(step, scope)? {
                    let value = secrets.mask_value(&value);
                    facts.push(Fact::new(FactKind::Input, Some(&name), &as_text(&value)));
                }
                let called = crate::text::text(skill, scope)?;
                let written = called == skill.value;
                let skill = match mask(&called) == called {
                    true => Text::Plain(called),
                    false => Text::secret(),
                };
                let begun = self.going_on(step).and_then(|record| {
                    self.parent_named(&step.name.value, record.runs).child().ok()
                });
                subject = Some(Subject::Skill { skill, written, begun });
            }
            Action::ForEach(each) => {
                // What was begun is finished, whatever the list would be now.
                let items = match self.going_on(step) {
                    Some(record) => record.items.clone(),
                    None => self.items(each, scope)?,
                };
                let items = secrets.mask_value(&Value::Array(items));
                facts.push(Fact::new(FactKind::Items, None, &items.to_string()));
                facts.push(Fact::new(FactKind::Code, None, &mask(&flow::written(&each.body))));
                facts.extend(self.values_read(step, scope, secrets));
                let note = format!(
                    "skills, tools, programs and scripts that the steps inside `{}` start",
                    step.name.value
                );
                // What a tool is, only `aye.toml` says.
                let kind = match step.holds_a_tool() {
                    true => FactKind::Uncertain,
                    false => FactKind::NotCovered,
                };
                facts.push(Fact::new(kind, None, &note));
            }
            Action::Compute { python, reads_files, .. } => {
                if *python || *reads_files {
                    let note = "files and variables that the block reads";
                    facts.push(Fact::new(FactKind::NotCovered, None, note));
                }
                let code = self.given_to(step, scope)?.remove("code").unwrap_or_default();
                facts.push(Fact::new(FactKind::Code, None, &mask(&as_text(&code))));
                facts.extend(self.values_read(step, scope, secrets));
            }
            Action::Ask(_) | Action::Return { .. } | Action::Note => {}
        }
        // What else such an input says is hidden with the secret in it.
        for name in secrets.mixed().filter(|_| flow::reads(step, "inputs")) {
            let note = format!(
                "the value of `inputs.{name}`: a secret is a part of it, so the answer is not \
                 remembered"
            );
            facts.push(Fact::new(FactKind::Uncertain, None, &note));
        }
        for (name, template) in &step.env {
            let value = template.as_ref().map(|text| crate::text::text(text, scope)).transpose()?;
            let value = match (template, value) {
                (Some(template), Some(_)) if names_secret(name) => {
                    if !self.is_made_of_secrets(template, scope) {
                        let note = format!(
                            "the value of `{name}`: its name hides it, so the answer is not \
                             remembered"
                        );
                        facts.push(Fact::new(FactKind::Uncertain, None, &note));
                    }
                    format!("{HIDDEN}{}", made_by(template, scope))
                }
                (_, Some(value)) => mask(&value),
                (_, None) => "(removed)".to_owned(),
            };
            facts.push(Fact::new(FactKind::Env, Some(name), &value));
        }
        if let Some(stdin) = &step.stdin {
            let stdin = mask(&crate::text::text(stdin, scope)?);
            facts.push(Fact::new(FactKind::Stdin, None, &stdin));
        }
        Ok((facts, subject))
    }

    /// The record of a step whose runs that failed are tried again, those that ended well kept.
    pub(super) fn going_on(&self, step: &Step) -> Option<&StepRecord> {
        self.state.steps.get(&step.name.value).filter(|record| record.goes_on)
    }

    /// Replaces what a skill would be given if it began now by what its run began with.
    fn as_begun(&self, facts: &mut Vec<Fact>, begun: &Fact) -> bool {
        let runs = |(name, record): &(&String, &StepRecord)| {
            let run = self.parent_named(name, record.runs).child();
            run.is_ok_and(|run| run.as_str() == begun.value)
        };
        let of = self.state.steps.iter().find(runs).map(|(name, _)| name);
        let own = of.and_then(|name| self.state.steps.get(name)?.approved.clone());
        let around = of.and_then(|name| self.state.covered.get(name));
        let around = around.map(|covered| Arc::clone(&covered.approved));
        let Some(approved) = own.or(around).or_else(|| self.agreed_as_repair()) else {
            return false;
        };
        let (step, answer) = (&begun.step, &begun.answer);
        let is_given =
            |kind: &FactKind| matches!(kind, FactKind::Skill | FactKind::Input | FactKind::Command);
        facts.retain(|fact| (&fact.step, &fact.answer) != (step, answer) || !is_given(&fact.kind));
        let agreed = approved.facts.iter().filter(|fact| is_given(&fact.kind));
        let label =
            |fact: &Fact| Fact { step: step.clone(), answer: answer.clone(), ..fact.clone() };
        facts.extend(agreed.map(label));
        true
    }

    /// The values that a block, or the steps inside a step, can read: what they
    /// do with them is not known before they run.
    pub(super) fn values_read(&self, step: &Step, scope: &Scope, secrets: &Secrets) -> Vec<Fact> {
        let inputs = scope.inputs.iter().filter(|_| flow::reads(step, "inputs"));
        let known = |name: &String, value: &Value| match is_secret(value) {
            true => self.secrets.input(name).unwrap_or_else(|| HIDDEN.into()),
            false => value.clone(),
        };
        let inputs = inputs.map(|(name, value)| (format!("inputs.{name}"), known(name, value)));
        let outputs = scope.outputs.iter().filter(|(name, _)| flow::reads(step, name));
        let outputs = outputs.map(|(name, value)| (name.clone(), value.clone()));
        let locals = scope.locals.iter().filter(|(name, _)| flow::reads(step, name));
        let locals = locals.map(|(name, value)| (name.clone(), value.clone()));
        let fact = |(name, value): (String, Value)| {
            let value = match is_secret(&value) {
                true => HIDDEN.into(),
                false => secrets.mask_value(&value),
            };
            Fact::new(FactKind::Value, Some(&name), &as_text(&value))
        };
        let mut facts: Vec<Fact> = inputs.chain(outputs).chain(locals).map(fact).collect();
        let reads = OutsideReads::of_step(step);
        for name in &reads.steps {
            let record = scope.steps.get(name).filter(|_| *name != step.name.value);
            if let Some(mut value) = record.map(StepRecord::to_value) {
                // It takes longer or less long each time, and decides nothing.
                value.as_object_mut().map(|known| known.remove("duration_ms"));
                facts.push(fact((format!("steps.{name}"), value)));
            }
        }
        // Runs inside, and programs, see the outside as it is, whatever was shown.
        let apart =
            step.action.is_nested() || matches!(step.action, Action::Compute { python: true, .. });
        let current = scope.world.names.unfrozen().filter(|_| apart);
        let names = current.unwrap_or(&*scope.world.names);
        facts.extend(reads.names.iter().map(|name| value_outside(name, names, secrets)));
        let unknown: Vec<String> = reads.unknown.iter().map(|name| format!("`{name}`")).collect();
        if !unknown.is_empty() {
            let (step, unknown) = (&step.name.value, unknown.join(", "));
            let note = format!("what `{step}` reads of {unknown}");
            facts.push(Fact::new(FactKind::Uncertain, None, &note));
        }
        facts
    }

    /// Fails if a block, or a step inside, reads how a step ended that has not run yet.
    fn knows_steps_of(&self, step: &Step, scope: &Scope) -> Result<(), TextError> {
        if !matches!(step.action, Action::Compute { .. } | Action::ForEach(_)) {
            return Ok(());
        }
        let reads = OutsideReads::of_step(step);
        let is_open =
            |name: &&String| self.node(name).is_some() && !scope.steps.contains_key(*name);
        match reads.steps.iter().find(is_open) {
            Some(name) => Err(TextError::new(format!("`{name}` has not run yet"))),
            None => Ok(()),
        }
    }

    /// All facts, if the host has looked at what it has to.
    pub(super) fn covered(
        &self,
        coverage: Coverage,
        outside: &Outside,
        world: &World,
    ) -> Result<Covered, Box<Inspection>> {
        let Coverage { facts, looks } = coverage;
        let is_note = |fact: &Fact| matches!(fact.kind, FactKind::NotCovered | FactKind::Uncertain);
        let (notes, mut facts): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(is_note);
        let mut uncertain = notes.iter().any(|note| note.kind == FactKind::Uncertain);
        let mut not_covered: Vec<String> = Vec::new();
        let mut note = |text: String| {
            if !not_covered.contains(&text) {
                not_covered.push(text);
            }
        };
        notes.into_iter().for_each(|fact| note(fact.value));
        let mut destructive = false;
        let mut missing = None;
        match &self.inspected {
            _ if looks.is_empty() => {}
            None => return Err(Box::new(Inspection { at: self.clock(world), looks })),
            Some(seen) if looks.iter().all(|look| seen.inspection.looks.contains(look)) => {
                let seen = &seen.only(&looks);
                missing = missing_skill(seen);
                let mut begun = Vec::new();
                for fact in seen.labelled() {
                    match fact.kind {
                        FactKind::NotCovered => note(fact.value),
                        FactKind::Uncertain => {
                            uncertain = true;
                            note(fact.value);
                        }
                        FactKind::Environment => uncertain |= may_be_production(&facts, &fact),
                        FactKind::SecretInput => {
                            if let Some(why) = hides_more(&mut facts, &fact) {
                                uncertain = true;
                                note(why);
                            }
                            hide_input(&mut facts, &fact);
                        }
                        FactKind::Destructive => destructive = true,
                        FactKind::Begun => begun.push(fact),
                        _ => facts.push(fact),
                    }
                }
                for fact in begun {
                    if !self.as_begun(&mut facts, &fact) {
                        note("what the run inside began with, which it continues with".to_owned());
                    }
                    uncertain = true;
                }
            }
            // What is different each time cannot be agreed to: asked again, it fails.
            Some(_) => facts.push(Fact::new(FactKind::Unsettled, None, "what it would run")),
        }
        let secrets = self.with_variables(outside);
        let secrets = secrets.as_ref().unwrap_or(&self.secrets);
        for fact in &mut facts {
            fact.value = secrets.mask(&fact.value);
            fact.name = fact.name.as_ref().map(|name| secrets.mask(name));
        }
        not_covered.iter_mut().for_each(|note| *note = secrets.mask(note));
        if facts.iter().any(|fact| fact.value.contains(HIDDEN)) {
            not_covered.push(format!("the values of secrets, which are shown as {HIDDEN}"));
        }
        Ok(Covered { facts, not_covered, destructive, uncertain, missing })
    }

    /// What of the outside can be kept as it is: what must not be written down
    /// is looked up again.
    pub(super) fn kept_outside(
        &self,
        outside: Outside,
        facts: &[Fact],
        (message, asks): (&str, &Step),
    ) -> Outside {
        let hidden = self.hidden_reads(facts, asks);
        // What is shown may happen to hold the same text.
        let shown = self.shown_reads(facts, asks);
        let is_shown = |name: &str, value: &Value| {
            let text = as_text(value);
            let stands = message.contains(&text);
            let stands = stands || facts.iter().any(|fact| fact.value.contains(&text));
            shown.names.contains(name) && stands
        };
        let secret = |name: &str, value: &Value| {
            secret_value((&name.to_owned(), value)).is_some()
                || name.starts_with("env.") && hidden.may_read(name) && !is_shown(name, value)
                || self.secrets.mask_value(value) != *value
        };
        outside.into_iter().filter(|(name, value)| !secret(name, value)).collect()
    }
}

/// What a name of the outside stands for.
fn value_outside(name: &str, names: &dyn Names, secrets: &Secrets) -> Fact {
    let variable = name.strip_prefix("env.");
    let value = match variable {
        Some(variable) => names.env(variable).map(Value::String),
        None => names.look_up(name),
    };
    let value = match value {
        None | Some(Value::Null) => "(not set)".to_owned(),
        Some(_) if variable.is_some_and(names_secret) => HIDDEN.to_owned(),
        Some(value) => as_text(&secrets.mask_value(&value)),
    };
    Fact::new(FactKind::Value, Some(name), &value)
}

/// Whether a skill acts against a place where nothing is taken for granted, or may: its
/// `environment` is what its input says, or what that is if nobody gives it.
fn may_be_production(facts: &[Fact], declared: &Fact) -> bool {
    let about = |fact: &&Fact| {
        fact.kind == FactKind::Input
            && (&fact.step, &fact.answer, &fact.name)
                == (&declared.step, &declared.answer, &declared.name)
    };
    let given = facts.iter().find(about).map(|fact| fact.value.as_str());
    let environment = given.unwrap_or(&declared.value);
    is_production(environment) || environment.contains('{') || environment.contains(HIDDEN)
}

/// What the host says of a skill that it was to look at and could not load. Later steps may
/// still bring theirs.
fn missing_skill(seen: &Inspected) -> Option<String> {
    let mut looks = seen.inspection.looks.iter().zip(&seen.facts);
    looks.find_map(|(look, facts)| {
        let Subject::Skill { skill: Text::Plain(_), .. } = &look.subject else { return None };
        let fact = facts.iter().find(|fact| fact.kind == FactKind::Skill)?;
        (look.step.is_none() && fact.digest.is_none()).then(|| fact.value.clone())
    })
}

/// An input that the skill itself calls a secret is not written down.
pub(super) fn hide_input(facts: &mut [Fact], secret: &Fact) {
    if let Some(fact) = input_of(facts, secret) {
        HIDDEN.clone_into(&mut fact.value);
        fact.digest = None;
    }
}

/// Says so if such an input is not made of known secrets alone: anything else decides what the
/// skill does.
fn hides_more(facts: &mut [Fact], secret: &Fact) -> Option<String> {
    let fact = input_of(facts, secret)?;
    // Nothing at all is not the secret that it may be in the next run.
    let known = fact.value.contains(HIDDEN) && fact.value.replace(HIDDEN, "").trim().is_empty();
    let name = fact.name.as_deref().unwrap_or_default();
    let why = "the skill calls it a secret, so the answer is not remembered";
    (!known).then(|| format!("the value of the input `{name}`: {why}"))
}

/// The fact about this input.
fn input_of<'a>(facts: &'a mut [Fact], secret: &Fact) -> Option<&'a mut Fact> {
    let about = |fact: &&mut Fact| {
        fact.kind == FactKind::Input
            && (&fact.step, &fact.answer, &fact.name)
                == (&secret.step, &secret.answer, &secret.name)
    };
    facts.iter_mut().find(about)
}
