//! Steps, and what states share with them.

use indexmap::IndexMap;

use super::kept_output::kept_output;
use super::{Checker, template};
use crate::diagnostic::{Diagnostic, quote};
use crate::skill::document::{STATE_KEYS, StepDoc, StepItem};
use crate::skill::{Step, StepTimeout, Template};
use crate::span::{Span, Spanned};
use crate::yaml::NodeId;
use crate::yaml::decode::{Field, Mapping, Raw, Text};

impl Checker<'_> {
    pub(super) fn steps(&mut self, list: Spanned<Vec<Raw<StepItem>>>) -> Vec<Step> {
        let steps = self.step_list(list, "steps");
        let mut names = Vec::new();
        steps.iter().for_each(|step| collect_names(step, &mut names));
        self.unique(names, "duplicate-name", "step");
        steps
    }

    /// Steps in order; names that are there twice are for the caller.
    pub(super) fn step_list(&mut self, list: Spanned<Vec<Raw<StepItem>>>, key: &str) -> Vec<Step> {
        if list.is_empty() {
            self.report.push(
                Diagnostic::error("no-steps", format!("`{key}` is empty"))
                    .label(list.span, "")
                    .hint(match key {
                        "steps" => "a skill has at least one step",
                        _ => "write at least one step, or leave it out",
                    }),
            );
        }
        let mut steps = Vec::new();
        for (index, raw) in list.value.into_iter().enumerate() {
            let name = self.tree.entry(raw.id, "name").and_then(|(_, value)| self.tree.text(value));
            let place = match name {
                Some(name) => format!("step {}", quote(name)),
                None => format!("step {}", index + 1),
            };
            steps.extend(self.list_step(raw.id, &place));
        }
        steps
    }

    pub(super) fn list_step(&mut self, id: NodeId, place: &str) -> Option<Step> {
        let doc = self.step_doc(id, place, STATE_KEYS)?;
        for key in STATE_KEYS {
            if let Some((key_id, _)) = self.tree.entry(id, key) {
                self.report.push(
                    Diagnostic::error("misplaced-key", format!("`{key}` in {place}"))
                        .label(self.span(key_id), "only states have this key")
                        .hint("steps run in order; write the skill with `states:` to branch"),
                );
            }
        }
        if doc.name.is_absent() {
            self.missing(id, "name", place, "add `name: …`, it is how runs refer to the step");
        }
        let name = doc.name.get().cloned();
        if let Some(name) = &name {
            self.name(name, "a step");
        }
        let step = self.step(doc, name.clone().unwrap_or_default(), id, place, false);
        name.and(step)
    }

    /// Decodes a step or state.
    pub(super) fn step_doc(
        &mut self,
        id: NodeId,
        place: &str,
        not_here: &[&str],
    ) -> Option<StepDoc> {
        self.decode_without(id, place, not_here)
    }

    /// A step or state by its name.
    pub(super) fn step(
        &mut self,
        mut doc: StepDoc,
        name: Spanned<String>,
        id: NodeId,
        place: &str,
        ends: bool,
    ) -> Option<Step> {
        let destructive = flag(&doc.destructive);
        let span = self.span(id);
        let action = self.action(&mut doc, &name, id, place, ends);
        let guards = self.guards(&doc.validate, place);
        let then = self.then(std::mem::take(&mut doc.then), &name, place);
        let each = self.for_each(&mut doc, place);
        let retry = self.retry(std::mem::take(&mut doc.retry), place);
        let confirmation = std::mem::take(&mut doc.confirmation);
        let confirmation = confirmation
            .take()
            .and_then(|ask| self.confirmation(ask.value, &name, destructive, place));
        if let Some(output) = doc.output.get() {
            self.variable(output, "output");
        } else {
            self.hidden_result(&name, place.split(' ').next().unwrap_or("step"));
        }
        if let Some(condition) = doc.condition.get() {
            let condition = Spanned::new(condition.0.clone(), condition.span);
            self.not_empty(&condition, &format!("`condition` of {place}"));
        }
        let timeout = self.step_timeout(&doc);
        let max_memory = doc.max_memory.get().and_then(|size| self.size(size));
        let max_cpu = doc.max_cpu.get().and_then(|period| self.duration(period));
        let env = self.env(std::mem::take(&mut doc.env), place);
        let kept = kept_output(&doc);
        let on_error = std::mem::take(&mut doc.on_error);
        let (on_error, remember_recovery) =
            self.on_error(on_error, destructive, confirmation.is_some(), place);
        let step = Step {
            name,
            description: doc.description.take().map(|text| text.value),
            span,
            action: action?,
            condition: doc.condition.take().map(template),
            output: doc.output.take(),
            timeout,
            on_error,
            remember_recovery,
            env,
            cwd: doc.cwd.take(),
            stdin: doc.stdin.take().map(template),
            interactive: flag(&doc.interactive),
            tty: flag(&doc.tty),
            kept,
            max_memory,
            max_cpu: max_cpu.filter(|limit| !limit.is_zero()),
            idempotent: flag(&doc.idempotent),
            destructive,
            assistant_may_edit: !doc.assistant.is_absent(),
            confirmation,
            retry,
            guards,
            then,
        };
        Some(match each {
            Some(each) => self.repeated(step, each, place),
            None => step,
        })
    }

    fn step_timeout(&mut self, doc: &StepDoc) -> StepTimeout {
        match doc.timeout.get().and_then(|period| self.duration(period)) {
            None => StepTimeout::Default,
            Some(duration) if duration.is_zero() => StepTimeout::Unlimited,
            Some(duration) => StepTimeout::After(duration),
        }
    }

    fn env(
        &mut self,
        env: Field<Mapping<Field<Option<Text>>>>,
        place: &str,
    ) -> IndexMap<String, Option<Template>> {
        let mut variables = IndexMap::new();
        for (name, value) in env.take().map(|env| env.value.0).unwrap_or_default() {
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = format!("{} cannot be a variable in `env` of {place}", quote(&name));
                self.report.push(
                    Diagnostic::error("bad-name", message)
                        .label(name.span, "expected a name without `=`"),
                );
            }
            if let Some(Spanned { value, span }) = value.take() {
                variables.insert(name.value, value.map(|text| Spanned::new(text.0, span)));
            }
        }
        variables
    }
}

/// The names of a step and of those that belong to it, which share its run.
pub(super) fn collect_names<'a>(step: &'a Step, names: &mut Vec<(&'a str, Span)>) {
    names.push((step.name.as_str(), step.name.span));
    step.then.iter().for_each(|step| collect_names(step, names));
}

/// A key that is false unless it says otherwise.
pub(super) fn flag(field: &Field<bool>) -> bool {
    field.get().is_some_and(|value| value.value)
}
