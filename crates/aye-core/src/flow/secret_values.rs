//! Which values of a skill may hold a secret, and which programs get one as an argument.
//!
//! A secret is an input or an answer that says so. What a block computes from one, and the
//! items and results of a loop over one, may hold it too. What programs and tools print does
//! not count: Aye masks it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::skill::{Action, ForEach, GuardCheck, InputType, Step, Template};
use crate::span::Span;
use crate::text::{self, Expressions};

use super::graph::Flow;
use super::outside::{attribute, key, words};
use super::reading::{EVERY_NAME, is_word_of};
use super::texts::{each_string, results_of};

/// A name, as templates write it, and the secret that its value may hold.
type Secrets = BTreeMap<String, String>;

/// An argument that may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretArgument {
    /// The program that gets it.
    pub program: String,
    /// The name that the argument uses.
    pub name: String,
    /// The secret. It is the name itself, unless the value was made from the secret.
    pub secret: String,
    /// Where the argument stands.
    pub span: Span,
}

/// An input of another skill that is given a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenSecret {
    /// The skill that is called, as it is written.
    pub skill: String,
    /// Its input.
    pub input: String,
    /// The secret.
    pub secret: String,
    /// Where the call stands.
    pub span: Span,
}

/// Where the secrets of a skill go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretUses {
    /// Into arguments of programs.
    pub arguments: Vec<SecretArgument>,
    /// Into inputs of other skills.
    pub given: Vec<GivenSecret>,
}

impl Flow {
    /// Where the secrets of a skill go. Its secrets are the inputs and answers that say so,
    /// and also the input `given`, whatever it says: a caller passes a secret to it.
    pub fn secret_uses(
        &self,
        given: Option<&str>,
        expressions: Option<&dyn Expressions>,
    ) -> SecretUses {
        let declared = |kind: InputType, name: &str| match given {
            Some(given) => name == given,
            None => kind == InputType::Secret,
        };
        let inputs = self.skill.inputs.iter();
        let inputs = inputs.filter(|input| declared(input.kind, &input.name.value));
        let mut secrets: Secrets = inputs
            .map(|input| format!("inputs.{}", input.name.value))
            .map(|name| (name.clone(), name))
            .collect();
        let follow = Follow { answers: given.is_none(), expressions };
        let repairs = self.skill.heal.iter().map(|rule| &rule.repair);
        let steps: Vec<&Step> = self.nodes.iter().map(|node| &node.step).chain(repairs).collect();
        // States may lead back, so that an earlier step uses what a later one made.
        loop {
            let known = secrets.len();
            steps.iter().for_each(|step| follow.learn(step, &mut secrets));
            if secrets.len() == known {
                break;
            }
        }
        let mut uses = SecretUses::default();
        if !secrets.is_empty() {
            steps.iter().for_each(|step| follow.find(step, &secrets, &mut uses));
        }
        uses
    }
}

struct Follow<'a> {
    /// Whether secret answers count.
    answers: bool,
    expressions: Option<&'a dyn Expressions>,
}

impl Follow<'_> {
    /// Adds the results of a step that may hold a secret.
    fn learn(&self, step: &Step, secrets: &mut Secrets) {
        let name = || step.output.as_ref().unwrap_or(&step.name).value.clone();
        let secret = match &step.action {
            Action::Ask(ask) if ask.secret => self.answers.then(name),
            Action::Ask(ask) => {
                ask.default.as_ref().and_then(|text| self.read(text, secrets)).map(|(_, of)| of)
            }
            Action::Compute { code, .. } => read_by_code(code, secrets).map(|(_, of)| of),
            Action::ForEach(each) => {
                let inside = self.inside(each, secrets);
                let results = each.body.iter().flat_map(results_of);
                results
                    .filter(|name| !secrets.contains_key(name))
                    .find_map(|name| inside.get(&name).cloned())
            }
            Action::Command { .. }
            | Action::Shell { .. }
            | Action::Tool { .. }
            | Action::Skill { .. }
            | Action::Return { .. }
            | Action::Note => None,
        };
        if let Some(secret) = secret {
            secrets.entry(name()).or_insert(secret);
        }
        step.then.iter().for_each(|step| self.learn(step, secrets));
    }

    /// The names inside of a loop.
    fn inside(&self, each: &ForEach, secrets: &Secrets) -> Secrets {
        let mut inside = secrets.clone();
        inside.remove(&each.name);
        if let Some((_, secret)) = self.read_value(&each.items, secrets) {
            inside.insert(each.name.clone(), secret);
        }
        loop {
            let known = inside.len();
            each.body.iter().for_each(|step| self.learn(step, &mut inside));
            if inside.len() == known {
                return inside;
            }
        }
    }

    fn find(&self, step: &Step, secrets: &Secrets, uses: &mut SecretUses) {
        match &step.action {
            Action::Command { program, args } => self.look(program, args, secrets, uses),
            Action::Skill { skill, inputs, span } => {
                for (input, value) in inputs {
                    let Some((_, secret)) = self.read_value(value, secrets) else { continue };
                    let (skill, input) = (skill.value.clone(), input.clone());
                    uses.given.push(GivenSecret { skill, input, secret, span: *span });
                }
            }
            Action::ForEach(each) => {
                let inside = self.inside(each, secrets);
                each.body.iter().for_each(|step| self.find(step, &inside, uses));
            }
            // The values in a script reach the shell through its environment.
            Action::Shell { .. }
            | Action::Ask(_)
            | Action::Tool { .. }
            | Action::Compute { .. }
            | Action::Return { .. }
            | Action::Note => {}
        }
        for guard in &step.guards {
            if let GuardCheck::Command { program, args, .. } = &guard.check {
                self.look(program, args, secrets, uses);
            }
        }
        step.then.iter().for_each(|step| self.find(step, secrets, uses));
    }

    /// Looks at a program and its arguments.
    fn look(
        &self,
        program: &Template,
        args: &[Template],
        secrets: &Secrets,
        uses: &mut SecretUses,
    ) {
        for argument in [program].into_iter().chain(args) {
            let Some((name, secret)) = self.read(argument, secrets) else { continue };
            let (program, span) = (program.value.clone(), argument.span);
            uses.arguments.push(SecretArgument { program, name, secret, span });
        }
    }

    /// The first name in a value that may hold a secret, and which secret.
    fn read_value(&self, value: &Value, secrets: &Secrets) -> Option<(String, String)> {
        let mut found = None;
        each_string(value, &mut |text| {
            found = found.take().or_else(|| self.read(text, secrets));
        });
        found
    }

    /// The first name in a template that may hold a secret, and which secret.
    fn read(&self, template: &str, secrets: &Secrets) -> Option<(String, String)> {
        if secrets.is_empty() {
            return None;
        }
        let used = text::names_in_with(template, self.expressions).unwrap_or_default();
        let mut named = used.iter().filter_map(|name| {
            secrets.iter().find(|(secret, _)| is_part_of(name, secret)).map(owned)
        });
        // The engine tells neither keys nor what it takes a slice of.
        named.next().or_else(|| {
            let code = expressions_of(template);
            let result = |name: &&String| is_word_of(&without_texts(&code), name);
            let result = || secrets.iter().find(|(name, _)| result(name)).map(owned);
            read_of_inputs(&code, secrets).or_else(result)
        })
    }
}

/// What stands in the braces of a template.
fn expressions_of(template: &str) -> String {
    let (mut found, mut rest) = (String::new(), template);
    while let Some(at) = [rest.find("{{"), rest.find("{%")].into_iter().flatten().min() {
        let close = if rest[at..].starts_with("{{") { "}}" } else { "%}" };
        let (inside, after) = rest[at + 2..].split_once(close).unwrap_or((&rest[at + 2..], ""));
        found.push_str(inside);
        found.push('\n');
        rest = after;
    }
    found
}

/// An expression without the texts in quotes.
fn without_texts(code: &str) -> String {
    let mut quote = None;
    let outside = code.chars().filter(|c| match quote {
        Some(open) => {
            quote = quote.filter(|_| *c != open);
            false
        }
        None => {
            quote = Some(*c).filter(|c| matches!(c, '"' | '\''));
            quote.is_none()
        }
    });
    outside.collect()
}

fn owned((name, secret): (&String, &String)) -> (String, String) {
    (name.clone(), secret.clone())
}

/// Whether a dotted name is this one or something inside of it.
fn is_part_of(name: &str, whole: &str) -> bool {
    name.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The first name in a block that may hold a secret.
fn read_by_code(code: &str, secrets: &Secrets) -> Option<(String, String)> {
    let every = EVERY_NAME.into_iter().flat_map(|name| words(code, name, false));
    if every.into_iter().any(|after| after.trim_start().starts_with('(')) {
        return secrets.iter().next().map(owned);
    }
    let result = |name: &&String| !name.starts_with("inputs.") && is_word_of(code, name);
    read_of_inputs(code, secrets)
        .or_else(|| secrets.iter().find(|(name, _)| result(name)).map(owned))
}

/// The first secret input that a text reads. One that does not say which input it reads may
/// read each of them.
fn read_of_inputs(text: &str, secrets: &Secrets) -> Option<(String, String)> {
    words(text, "inputs", false).find_map(|after| match attribute(after).or_else(|| key(after)) {
        Some(name) => secrets.get_key_value(&format!("inputs.{name}")).map(owned),
        None => secrets.iter().find(|(name, _)| name.starts_with("inputs.")).map(owned),
    })
}
