//! What a step is given: as the skill says, or as someone changed it.

use serde_json::{Map, Value};

use crate::event::{Event, EventKind, RetryReason};
use crate::input::Retry;
use crate::question::{Answer, Edits, Question};
use crate::skill::{Action, AskKind, Step, Template};
use crate::text::{self, Scope, TextError, World};
use crate::value::as_text;

use super::refusal::Refusal;
use super::run::Machine;
use super::validate_answer::validate_retry;
use crate::secrets::is_secret;

/// How often someone may change what a step is given before it has to be
/// the skill that changes.
pub const MOST_EDITS: u32 = 3;

impl Machine {
    /// What a step is given as it stands, secrets masked: by name, as
    /// [`Edits`] name it. Nothing for a step that is given nothing.
    pub fn arguments(&self, step: &str, world: &World) -> Option<Map<String, Value>> {
        self.masked_arguments(step, self.edits_of(step), world)
    }

    /// The same as the skill says it, whatever was changed.
    pub fn original_arguments(&self, step: &str, world: &World) -> Option<Map<String, Value>> {
        self.masked_arguments(step, None, world)
    }

    fn masked_arguments(
        &self,
        step: &str,
        edits: Option<&Edits>,
        world: &World,
    ) -> Option<Map<String, Value>> {
        let (_, node) = self.node(step)?;
        let masked = self.render_masked(&self.scope(world), |scope, secrets| {
            let given = self.given_with(&node.step, edits, scope)?;
            Ok(secrets.mask_value(&Value::Object(given)))
        });
        match masked.ok()? {
            Value::Object(given) if !given.is_empty() => Some(given),
            _ => None,
        }
    }

    /// Whether a step can be given something else.
    pub fn is_editable(&self, step: &str) -> bool {
        self.node(step).is_some_and(|(_, node)| match node.step.action {
            Action::Command { .. }
            | Action::Shell { .. }
            | Action::Tool { .. }
            | Action::Compute { .. }
            | Action::Skill { .. } => !node.step.interactive,
            Action::Ask(_) | Action::ForEach(_) | Action::Return { .. } | Action::Note => false,
        })
    }

    /// Whether a step can be given this.
    pub fn check_edits(&self, step: &str, edits: &Edits, world: &World) -> Result<(), Refusal> {
        let refuse = |why: String| Err(Refusal::BadEdit(why));
        let Some((_, node)) = self.node(step).filter(|_| self.is_editable(step)) else {
            return refuse(format!("`{step}` has no arguments to change"));
        };
        if edits.set.is_empty() && !edits.only {
            return Err(Refusal::NoEdits);
        }
        if self.lost_secrets() {
            let why =
                "the run has secrets that are not known here; change it where the run continues";
            return refuse(why.to_owned());
        }
        let hidden = self.names_with_secrets(&node.step, world);
        if let Some(name) = edits.set.keys().find(|name| hidden.contains(*name)) {
            return refuse(format!(
                "`{name}` holds a secret; give the secret itself again instead"
            ));
        }
        let whole = Value::Object(edits.set.clone());
        if self.secrets.mask_value(&whole) != whole {
            return refuse("what is changed holds a secret, which must not be written down".into());
        }
        let text_only = |key: &str| match (edits.set.len(), edits.set.get(key)) {
            (1, Some(Value::String(_))) => Ok(()),
            _ => refuse(format!("only `{key}` of `{step}` can be changed, to a text")),
        };
        match &node.step.action {
            Action::Shell { .. } => text_only("script"),
            Action::Compute { .. } => text_only("code"),
            Action::Command { args, .. } => {
                let most = args.len() + edits.set.len();
                for (key, value) in &edits.set {
                    let number = key.parse::<usize>().ok().filter(|n| n.to_string() == *key);
                    if number.is_none_or(|n| n > most) {
                        return refuse(format!(
                            "`{key}` is not an argument of `{step}`; `1` is the first, `0` the \
                             program"
                        ));
                    }
                    if value.is_array() || value.is_object() || value.is_null() {
                        return refuse(format!("argument `{key}` has to be a text"));
                    }
                }
                Ok(())
            }
            Action::Tool { .. } | Action::Skill { .. } => Ok(()),
            Action::Ask(_) | Action::ForEach(_) | Action::Return { .. } | Action::Note => Ok(()),
        }
    }

    /// Whether this process does not know what the run must not show.
    pub(super) fn lost_secrets(&self) -> bool {
        let mut inputs = self.state.started.inputs.iter();
        let mut answers = self.state.outputs.iter();
        inputs.any(|(name, value)| is_secret(value) && !self.secrets.knows_input(name))
            || answers.any(|(name, value)| is_secret(value) && self.secrets.answer(name).is_none())
            || self.state.hidden.iter().any(|name| self.secrets.revealed(name).is_none())
    }

    /// The arguments in which a secret stands.
    fn names_with_secrets(&self, step: &Step, world: &World) -> Vec<String> {
        let found = self.render_masked(&self.scope(world), |scope, secrets| {
            let given = self.given_with(step, None, scope)?;
            let hides = |(_, value): &(&String, &Value)| secrets.mask_value(value) != **value;
            Ok(given.iter().filter(hides).map(|(name, _)| name.clone()).collect())
        });
        found.unwrap_or_default()
    }

    /// Whether what an answer changes can be changed.
    pub(super) fn validate_edits(
        &self,
        question: &Question,
        answer: &Answer,
        world: &World,
    ) -> Result<(), Refusal> {
        let wanted = answer.value == "edit" && question.kind == AskKind::Recover;
        match (wanted, &answer.edits) {
            (true, Some(edits)) => self.check_edits(&question.step, edits, world),
            (true, None) => Err(Refusal::NoEdits),
            (false, Some(_)) => {
                let why = "only an answer `edit` to a failed step changes what it is given";
                Err(Refusal::BadEdit(why.to_owned()))
            }
            (false, None) => Ok(()),
        }
    }

    /// A run that failed continues with the step that failed.
    pub(super) fn reopen(
        &mut self,
        retry: Retry,
        world: &World,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        let Retry { driver, epoch, step: wanted, edits, turn, answer } = retry;
        if epoch < self.state.epoch {
            return Err(Refusal::Stale { epoch, current: self.state.epoch });
        }
        let step = self.state.failed_step().ok_or(Refusal::NotFailed)?.to_owned();
        if wanted.is_some_and(|wanted| wanted != step) {
            return Err(Refusal::NotFailed);
        }
        let record = self.state.steps.get(&step);
        // What is changed in a `foreach` is what its items are given: they check it.
        let items = record.is_some_and(|record| !record.items.is_empty());
        if let (false, Some(edits)) = (items, &edits) {
            let nested = record.is_some_and(|record| record.runs > 0);
            let again = self.node(&step).is_some_and(|(_, node)| node.step.idempotent);
            if nested && !again {
                return Err(Refusal::BadEdit(format!(
                    "`{step}` is a run of its own, and with other inputs would do all of it again"
                )));
            }
            self.check_edits(&step, edits, world)?;
        }
        // The same as if it had been asked what becomes of the step.
        let answer = answer.map(|answer| Box::new(self.established(*answer)));
        validate_retry(&self.pose_failed(&step, world), answer.as_deref())?;
        let why = match answer.as_deref().is_some_and(Answer::is_persons) {
            true => RetryReason::Answer,
            false => RetryReason::Relayed,
        };
        self.epoch = Some(epoch);
        // The time since it ended was not the run's; nobody suspended it.
        let suspended_ms = None;
        self.emit(
            EventKind::SkillResumed { driver, suspended_ms, turn, ended: None, epoch },
            world,
            events,
        );
        let attempt = self.state.steps.get(&step).map_or(1, |record| record.attempt.max(1)) + 1;
        let (not_before, fix) = (None, None);
        let retried = EventKind::StepRetried { step, attempt, why, not_before, edits, fix, answer };
        self.emit(retried, world, events);
        self.advance(world, events);
        Ok(())
    }

    /// What was changed, a line each, secrets masked: `tag: abc -> abcdef`.
    pub(super) fn changes(&self, step: &Step, scope: &Scope) -> Vec<String> {
        let Some(edits) = self.edits_of(&step.name) else { return Vec::new() };
        let lines = self.render_masked(scope, |scope, secrets| {
            let before = self.given_with(step, None, scope).unwrap_or_default();
            let after = self.given_with(step, Some(edits), scope).unwrap_or_default();
            Ok(text::changes(&before, &after, |value| secrets.mask(&as_text(value))))
        });
        lines.unwrap_or_default()
    }

    pub(super) fn edits_of(&self, step: &str) -> Option<&Edits> {
        self.state.steps.get(step).and_then(|record| record.edits.as_ref())
    }

    /// What a step is given right now, secrets included.
    pub(super) fn given_to(
        &self,
        step: &Step,
        scope: &Scope,
    ) -> Result<Map<String, Value>, TextError> {
        self.given_with(step, self.edits_of(&step.name), scope)
    }

    fn given_with(
        &self,
        step: &Step,
        edits: Option<&Edits>,
        scope: &Scope,
    ) -> Result<Map<String, Value>, TextError> {
        match &step.action {
            Action::Command { program, args } => {
                let words = words(program, args, edits, scope)?;
                let numbered = words.into_iter().enumerate();
                Ok(numbered.map(|(n, word)| (n.to_string(), word.into())).collect())
            }
            Action::Shell { script } => {
                let script = match replaced(edits, "script") {
                    Some(script) => script.to_owned(),
                    None => text::shell_script(script, scope, self.limits.verbatim)?
                        .shown(|text| self.secrets.mask(text)),
                };
                Ok(Map::from_iter([("script".to_owned(), script.into())]))
            }
            Action::Compute { code, .. } => {
                let code = replaced(edits, "code").unwrap_or(code).to_owned();
                Ok(Map::from_iter([("code".to_owned(), code.into())]))
            }
            Action::Tool { args, .. } => named(args, edits, scope),
            Action::Skill { inputs, .. } => {
                let inputs = inputs.iter().map(|(name, value)| (name.clone(), value.clone()));
                named(&Value::Object(inputs.collect()), edits, scope)
            }
            Action::Ask(_) | Action::ForEach(_) | Action::Return { .. } | Action::Note => {
                Ok(Map::new())
            }
        }
    }
}

/// A program and its arguments. What is changed need not render any more.
pub(super) fn words(
    program: &Template,
    args: &[Template],
    edits: Option<&Edits>,
    scope: &Scope,
) -> Result<Vec<String>, TextError> {
    let Some(edits) = edits else {
        return std::iter::once(program).chain(args).map(|arg| text::text(arg, scope)).collect();
    };
    let mut all = Vec::new();
    for (n, template) in std::iter::once(program).chain(args).enumerate() {
        match edits.set.get(&n.to_string()) {
            Some(value) => all.push(as_text(value)),
            None if edits.only && n > 0 => {}
            None => all.push(text::text(template, scope)?),
        }
    }
    let further = |n: usize| edits.set.get(&n.to_string()).map(as_text);
    all.extend((args.len() + 1..=args.len() + edits.set.len()).filter_map(further));
    Ok(all)
}

/// Arguments by name; what is changed need not render any more.
pub(super) fn named(
    args: &Value,
    edits: Option<&Edits>,
    scope: &Scope,
) -> Result<Map<String, Value>, TextError> {
    let whole;
    let (templates, rendered) = match args {
        Value::Object(map) => (map, false),
        other => {
            whole = match text::render_value(other, scope)? {
                Value::Object(map) => map,
                _ => Map::new(),
            };
            (&whole, true)
        }
    };
    let mut all = Map::new();
    for (name, template) in templates {
        match edits.map(|edits| (edits.set.get(name), edits.only)) {
            Some((Some(value), _)) => {
                // Where there was a text, `5` is one too.
                let scalar = value.is_number() || value.is_boolean();
                let was = scalar.then(|| text::render_value(template, scope).ok()).flatten();
                let value = match was {
                    Some(Value::String(_)) => Value::String(as_text(value)),
                    Some(_) | None => value.clone(),
                };
                all.insert(name.clone(), value)
            }
            Some((None, true)) => None,
            Some((None, false)) | None if rendered => all.insert(name.clone(), template.clone()),
            Some((None, false)) | None => {
                all.insert(name.clone(), text::render_value(template, scope)?)
            }
        };
    }
    for (name, value) in edits.iter().flat_map(|edits| &edits.set) {
        all.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Ok(all)
}

/// The text that stands in for a script or a block.
pub(super) fn replaced<'a>(edits: Option<&'a Edits>, key: &str) -> Option<&'a str> {
    edits.and_then(|edits| edits.set.get(key)).and_then(Value::as_str)
}
