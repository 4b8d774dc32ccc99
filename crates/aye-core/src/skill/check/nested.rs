//! Steps inside steps: `foreach` and `then`.

use serde_json::Value;

use super::step::flag;
use super::{Checker, is_template};
use crate::diagnostic::Diagnostic;
use crate::skill::document::{ReturnDoc, StepDoc, ThenItem};
use crate::skill::{Action, ForEach, OnError, Step, Template};
use crate::span::{Span, Spanned};
use crate::text;
use crate::yaml::decode::{Field, Raw};

/// What `foreach` and the keys beside it say.
pub(super) struct Each {
    items: Value,
    span: Span,
    name: String,
    label: Option<Template>,
    parallel: u32,
    fail_fast: Option<bool>,
    /// The steps, if they are listed.
    steps: Option<Vec<Step>>,
}

impl Checker<'_> {
    pub(super) fn for_each(&mut self, doc: &mut StepDoc, place: &str) -> Option<Each> {
        let steps = std::mem::take(&mut doc.steps).take();
        let raw = std::mem::take(&mut doc.foreach).take()?;
        let items = self.tree.value(raw.value.id);
        if matches!(items, Value::Number(_) | Value::Bool(_)) {
            let message = format!("`foreach` of {place} is not a list");
            self.report.push(
                Diagnostic::error("bad-value", message)
                    .label(raw.span, "")
                    .hint("give it a list, a mapping, or a template that gives one"),
            );
        }
        if let Value::String(text) = &items
            && !is_template(text)
        {
            let template = Spanned::new(text.clone(), raw.span);
            if self.not_empty(&template, &format!("`foreach` of {place}")) {
                let hint = format!("write `foreach: \"{{{{ {} }}}}\"` for a name", text.trim());
                let said =
                    Diagnostic::error("bad-value", format!("`foreach` of {place} is not a list"))
                        .label(raw.span, "")
                        .hint(hint);
                let name = text.trim();
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
                self.report.push(match name.chars().all(plain) {
                    true => said.fix(raw.span, format!("\"{{{{ {name} }}}}\"")),
                    false => said,
                });
            }
        }
        if let Some(name) = doc.item_name.get() {
            self.variable(name, "as");
            if name.value == "index" {
                self.report.push(
                    Diagnostic::error("built-in-name", format!("`as: index` in {place}"))
                        .label(name.span, "`index` is the number of the item")
                        .hint("give the item another name, or leave `as` out: it is `item` then"),
                );
            }
        }
        let name = doc.item_name.get().map_or("item", |name| name.as_str()).to_owned();
        let parallel = doc.parallel.get().map_or(1, |parallel| parallel.value);
        if let Some(given) = doc.parallel.get()
            && parallel == 0
        {
            let message = format!("`parallel` of {place} must be at least 1");
            self.report.push(Diagnostic::error("bad-value", message).label(given.span, ""));
        }
        if let (Some(key), true) = (doc.interactive.key(), parallel > 1 && flag(&doc.interactive)) {
            self.report.push(
                Diagnostic::error(
                    "conflicting-keys",
                    format!("{place} is interactive and parallel"),
                )
                .label(key, "there is one terminal"),
            );
        }
        let listed = steps.is_some();
        if listed {
            self.keys_of_items(doc, place);
        }
        Some(Each {
            items,
            span: raw.span,
            name,
            label: std::mem::take(&mut doc.label).take().map(super::template),
            parallel,
            fail_fast: doc.fail_fast.get().map(|word| word.value),
            steps: steps.map(|steps| self.steps(steps)),
        })
    }

    /// What belongs to each of the listed steps cannot stand beside them.
    fn keys_of_items(&mut self, doc: &StepDoc, place: &str) {
        let keys = [
            ("confirmation", doc.confirmation.key()),
            ("retry", doc.retry.key()),
            ("validate", doc.validate.key()),
            ("timeout", doc.timeout.key()),
        ];
        for (key, span) in keys {
            let Some(span) = span else { continue };
            self.report.push(
                Diagnostic::error("stray-key", format!("`{key}` beside `steps` in {place}"))
                    .label(span, "")
                    .hint("write it at one of the steps"),
            );
        }
    }

    /// A step becomes the body of another that goes through the items.
    pub(super) fn repeated(&mut self, mut step: Step, each: Each, place: &str) -> Step {
        if let Some(first) = step.then.first() {
            self.report.push(
                Diagnostic::error("conflicting-keys", format!("{place} has `foreach` and `then`"))
                    .label(first.name.span, "")
                    .hint("list the steps of each item under `steps:`"),
            );
        }
        let Each { items, span, name, label, parallel, fail_fast, steps } = each;
        // A condition that looks at the item is asked for each of them.
        let by_item = |condition: &Template| {
            let used = text::names_in_condition(condition).unwrap_or_default();
            used.iter().any(|used| {
                let first = used.split('.').next().unwrap_or(used);
                first == name || first == "index"
            })
        };
        let condition = match &step.condition {
            Some(condition) if steps.is_none() && by_item(condition) => None,
            _ => step.condition.take(),
        };
        let (description, output) = (step.description.take(), step.output.clone());
        let (own_name, own_span, destructive) = (step.name.clone(), step.span, step.destructive);
        // What fails is told by the items; only where it may be passed over, and
        // nothing has to hold, a list that is none may be, too.
        let passed_over = step.on_error == Some(OnError::Continue) && step.guards.is_empty();
        let on_error = if steps.is_some() || passed_over { step.on_error } else { None };
        let body = steps.unwrap_or_else(|| vec![step]);
        let each = ForEach { items, span, name, label, parallel, fail_fast, body };
        Step {
            description,
            condition,
            output,
            on_error,
            destructive,
            ..Step::bare(own_name, own_span, Action::ForEach(Box::new(each)))
        }
    }

    pub(super) fn then(
        &mut self,
        then: Field<Vec<Raw<ThenItem>>>,
        name: &Spanned<String>,
        place: &str,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for raw in then.take().map(|list| list.value).unwrap_or_default() {
            let id = raw.id;
            if self.tree.entry(id, "return").is_none() {
                steps.extend(self.list_step(id, &format!("a step under `then` of {place}")));
                continue;
            }
            let place = format!("`return` under `then` of {place}");
            let Some(doc) = self.decode::<ReturnDoc>(id, &place) else { continue };
            if let Some(name) = doc.name.get() {
                self.name(name, "a step");
            }
            let span = self.span(id);
            let own = Spanned::new(format!("{}.return", name.value), span);
            let Some(text) = doc.text.take() else { continue };
            steps.push(Step {
                condition: doc.condition.take().map(super::template),
                ..Step::bare(doc.name.take().unwrap_or(own), span, Action::Return { text })
            });
        }
        steps
    }
}
