//! Values of variables whose names say that they are secrets, where templates look them up.
//!
//! Such a value is known once the template is rendered, so what may hold one is rendered a
//! second time with it masked. The run itself gets it as it is.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use crate::facts::{Change, Fact, FactKind};
use crate::flow::{self, Flow, OutsideReads};
use crate::journal::{Approved, StepRecord};
use crate::secrets::{HIDDEN, Secrets, is_secret, names_secret};
use crate::skill::{Action, Step};
use crate::text::{self, Outside, Recorder, Scope, TextError, World};

use super::run::{Machine, frozen};

impl Machine {
    /// Masks from now on what a step that is about to start puts into variables with the names
    /// of secrets.
    pub(super) fn learn_variables(&mut self, step: &Step, world: &World) {
        for (name, template) in step.env.iter().filter(|(name, _)| names_secret(name)) {
            let Some(template) = template else { continue };
            let scope = self.scope_of(&step.name, world);
            // What does not render is reported when the step starts.
            if let Ok(value) = text::text(template, &scope) {
                let is_secret = self.is_made_of_secrets(template, &scope);
                drop(scope);
                self.learn_variable(name, is_secret, &value);
            }
        }
    }

    /// The run with what its steps put into variables with the names of secrets masked again:
    /// a process that takes it up has only the journal, which does not have them. A step that
    /// was asked about saw the outside as it was then; what is different now is masked too.
    #[must_use]
    pub fn relearned(mut self, world: &World) -> Self {
        let mut found = Vec::new();
        for (step, record) in self.started_steps() {
            let outsides = [Some(&record.outside), record.approved.as_ref().map(|it| &it.outside)];
            for outside in std::iter::once(None).chain(outsides.into_iter().flatten().map(Some)) {
                let scope = self.scope_in(frozen(world.now, outside, world));
                found.extend(self.named_values(step, record, &scope));
            }
        }
        for (name, is_secret, value) in found {
            self.learn_variable(&name, is_secret, &value);
        }
        self
    }

    /// The steps that have started, with the repairs of those that were repaired: those of them
    /// that set such a variable.
    fn started_steps(&self) -> Vec<(&Step, &StepRecord)> {
        let started = self.flow.nodes.iter().filter_map(|node| {
            let record = self.state.steps.get(&node.step.name.value)?;
            (record.execution > 0).then_some((&node.step, record))
        });
        let started: Vec<_> = started.collect();
        let repaired = started.iter().filter(|(_, record)| record.heals > 0).copied();
        let repairs =
            repaired.flat_map(|(_, record)| self.rules().map(move |rule| (&rule.repair, record)));
        let all = started.iter().copied().chain(repairs);
        all.filter(|(step, _)| sets_secret(step)).collect()
    }

    /// What a step, and the steps inside it, put into variables with the names of secrets.
    fn named_values(
        &self,
        step: &Step,
        record: &StepRecord,
        scope: &Scope,
    ) -> Vec<(String, bool, String)> {
        let mut found = Vec::new();
        for (name, template) in step.env.iter().filter(|(name, _)| names_secret(name)) {
            // What does not render any more was the result of something that is lost.
            if let Some(template) = template
                && let Ok(value) = text::text(template, scope)
            {
                found.push((name.clone(), self.is_made_of_secrets(template, scope), value));
            }
        }
        let Action::ForEach(each) = &step.action else { return found };
        if !each.body.iter().any(sets_secret) {
            return found;
        }
        let items = self.items(each, scope).unwrap_or_else(|_| record.items.clone());
        for (index, item) in items.into_iter().enumerate() {
            let mut locals = IndexMap::clone(&scope.locals);
            locals.insert(each.name.clone(), item);
            locals.insert("index".to_owned(), index.into());
            let inside = Scope { locals: Arc::new(locals), ..scope.clone() };
            for step in each.body.iter().flat_map(|step| std::iter::once(step).chain(&step.then)) {
                found.extend(self.named_values(step, record, &inside));
            }
        }
        found
    }

    /// The run as questions show it. What only the name of a variable hides is shown wherever
    /// else it stands: nobody agrees to what they cannot see, and a skill could hide any command
    /// like that.
    pub(super) fn showing(&self) -> Cow<'_, Self> {
        let Some(others) = self.secrets.without_named() else { return Cow::Borrowed(self) };
        let mut showing = self.clone();
        showing.secrets = Arc::new(others);
        Cow::Owned(showing)
    }

    /// Masks from now on what a step puts into this variable, if its name says that it is a
    /// secret.
    pub(super) fn learn_variable(&mut self, name: &str, is_secret: bool, value: &str) {
        if !self.secrets.is_news(name, value) {
            return;
        }
        let secrets = Arc::make_mut(&mut self.secrets);
        match is_secret {
            true => secrets.learn_env(value),
            false => secrets.learn_named(value),
        }
    }

    /// What `render` gives with everything masked that must not be written down. It may be
    /// called twice.
    pub(super) fn render_masked<T>(
        &self,
        scope: &Scope,
        render: impl Fn(&Scope, &Secrets) -> Result<T, TextError>,
    ) -> Result<T, TextError> {
        let (scope, recorder) = recording(scope.clone());
        let rendered = render(&scope, &self.secrets)?;
        match self.with_variables(&recorder.seen()) {
            Some(secrets) => render(&scope, &secrets),
            None => Ok(rendered),
        }
    }

    /// A text that was rendered while this recorder looked on, as it may be written down.
    pub(super) fn mask_seen(&self, text: &str, recorder: &Recorder) -> String {
        match self.with_variables(&recorder.seen()) {
            Some(secrets) => secrets.mask(text),
            None => self.secrets.mask(text),
        }
    }

    /// Whether all of a value is secrets: inputs and answers that are, and variables with the
    /// names of some. Their values may change, which is the point of not writing them down; any
    /// other value decides what a step does.
    pub(super) fn is_made_of_secrets(&self, template: &str, scope: &Scope) -> bool {
        let mut rest = template.trim();
        while !rest.is_empty() {
            let inside = rest.strip_prefix("{{").and_then(|rest| rest.split_once("}}"));
            let Some((expression, after)) = inside else { return false };
            if !self.is_secret_name(expression, scope) {
                return false;
            }
            rest = after;
        }
        !template.trim().is_empty()
    }

    /// Whether an expression is one secret, with or without plain filters.
    fn is_secret_name(&self, expression: &str, scope: &Scope) -> bool {
        let is_word = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
        let mut parts = expression.split('|').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let known = match name.split_once('.') {
            // Of some a secret is only a part.
            Some(("inputs", input)) => {
                self.secrets.get(input).is_some_and(|value| !self.secrets.is_part(value))
            }
            Some(("env", variable)) => is_word(variable) && names_secret(variable),
            Some(_) => false,
            // The result of another step, or an item, may have the same name.
            None => self.secrets.answer(name).is_some_and(|answer| {
                let value = scope.outputs.get(name).filter(|_| !scope.locals.contains_key(name));
                value.is_some_and(|value| is_secret(value) || value == answer)
            }),
        };
        known && parts.all(is_word)
    }

    /// What is read of the outside for variables whose names hide their values, and for inputs
    /// that the called skill calls secrets.
    pub(super) fn hidden_reads(&self, facts: &[Fact], asks: &Step) -> OutsideReads {
        let mut reads = OutsideReads::default();
        let repairs = self.rules().map(|rule| &rule.repair);
        let steps = self.flow.nodes.iter().map(|node| &node.step).chain(repairs);
        let env = steps.flat_map(|step| &step.env).filter(|(name, _)| names_secret(name));
        env.filter_map(|(_, template)| template.as_ref()).for_each(|text| reads.add_template(text));
        for fact in facts.iter().filter(|fact| fact.kind == FactKind::Input && fact.value == HIDDEN)
        {
            let about =
                fact.step.as_deref().map_or(Some(asks), |step| Some(&self.node(step)?.1.step));
            let Some(Action::Skill { inputs, .. }) = about.map(|step| &step.action) else {
                continue;
            };
            let value = fact.name.as_ref().and_then(|name| inputs.get(name));
            value.into_iter().for_each(|value| {
                flow::each_string(value, &mut |text| reads.add_template(text));
            });
        }
        reads
    }

    /// What is read of the outside for what a question shows: not for variables whose names hide
    /// their values, and not for inputs that the called skill calls secrets.
    pub(super) fn shown_reads(&self, facts: &[Fact], asks: &Step) -> OutsideReads {
        let mut reads = OutsideReads::default();
        let of = |fact: &Fact| fact.step.clone();
        let about: std::collections::BTreeSet<Option<String>> =
            facts.iter().map(of).chain([None]).collect();
        for name in &about {
            let step = name.as_deref().map_or(Some(asks), |name| Some(&self.node(name)?.1.step));
            let Some(mut step) = step.cloned() else { continue };
            step.env.retain(|name, _| !names_secret(name));
            step.condition = None;
            if let Action::Skill { inputs, .. } = &mut step.action {
                let is_hidden = |input: &String| {
                    let about = |fact: &&Fact| fact.kind == FactKind::Input && fact.step == *name;
                    let mut facts = facts.iter().filter(about);
                    facts.any(|fact| fact.name.as_ref() == Some(input) && fact.value == HIDDEN)
                };
                inputs.retain(|input, _| !is_hidden(input));
            }
            reads.extend(OutsideReads::of_step(&step));
        }
        reads
    }

    /// Values that are hidden because of the names of their variables, and that are not what
    /// they were with what was shown of the outside. They are compared here and nowhere written
    /// down.
    pub(super) fn hidden_changes(
        &self,
        step: &Step,
        approved: &Approved,
        scope: &Scope,
    ) -> Result<Vec<Change>, TextError> {
        let then = frozen(scope.world.now, Some(&approved.outside), &scope.world);
        let then = Scope { world: then, ..scope.clone() };
        let mut changed = Vec::new();
        for (name, template) in step.env.iter().filter(|(name, _)| names_secret(name)) {
            let Some(template) = template else { continue };
            if text::text(template, scope)? != text::text(template, &then)? {
                let told = |when: &str| Some(format!("{HIDDEN} ({when})"));
                changed.push(Change {
                    what: format!("env `{name}`"),
                    before: told("another value"),
                    after: told("as it is now"),
                });
            }
        }
        Ok(changed)
    }

    /// The secrets of the run and those among these values; nothing if there are none.
    pub(super) fn with_variables(&self, seen: &Outside) -> Option<Secrets> {
        let mut values = seen.iter().filter_map(secret_value).peekable();
        values.peek()?;
        let mut secrets = Secrets::clone(&self.secrets);
        values.for_each(|value| secrets.learn_env(value));
        Some(secrets)
    }
}

impl Flow {
    /// Whether a run of it may learn to mask what the run around it does not know; what it calls
    /// left out.
    pub fn may_learn_secrets(&self) -> bool {
        let asks = |step: &Step| matches!(&step.action, Action::Ask(ask) if ask.secret);
        let repairs = self.skill.heal.iter().map(|rule| &rule.repair);
        let mut steps = self.nodes.iter().map(|node| &node.step).chain(repairs);
        self.skill.inputs.iter().any(|input| input.from.is_some())
            || steps.any(|step| sets_secret(step) || asks(step))
    }
}

/// Whether a step, or one inside it, puts something into a variable with the name of a secret.
pub(super) fn sets_secret(step: &Step) -> bool {
    let inside = step.action.body().iter().chain(&step.then);
    step.env.keys().any(|name| names_secret(name)) || inside.into_iter().any(sets_secret)
}

/// Which starts of earlier steps gave what a hidden value is made of: a later start may have
/// given something else.
pub(super) fn made_by(template: &str, scope: &Scope) -> String {
    let reads = |(name, record): &(&String, &StepRecord)| {
        flow::template_reads(template, name, record.output.as_deref())
    };
    let mut made = scope
        .steps
        .iter()
        .filter(reads)
        .map(|(name, record)| format!("`{name}` at start {}", record.execution));
    match made.next() {
        Some(first) => format!(" (of {})", made.fold(first, |all, one| all + ", " + &one)),
        None => String::new(),
    }
}

/// A scope that notes what it looks up outside.
pub(super) fn recording(scope: Scope) -> (Scope, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::new(scope.world.names.clone()));
    let world = World { names: recorder.clone(), ..scope.world };
    (Scope { world, ..scope }, recorder)
}

/// The value of a variable whose name says that it is a secret.
pub(super) fn secret_value<'a>((name, value): (&String, &'a Value)) -> Option<&'a str> {
    const SHORTEST: usize = 4;
    let name = name.strip_prefix("env.").filter(|name| names_secret(name))?;
    let value = value.as_str().filter(|value| value.len() >= SHORTEST);
    value.filter(|_| !name.is_empty())
}
