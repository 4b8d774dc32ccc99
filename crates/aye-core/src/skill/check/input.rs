//! The inputs of a skill.

use serde_json::Value;

use super::{Checker, is_template};
use crate::diagnostic::{Diagnostic, quote};
use crate::pattern::BadPattern;
use crate::skill::document::InputDoc;
use crate::skill::{InputSpec, InputType};
use crate::span::Spanned;
use crate::yaml::NodeId;
use crate::yaml::decode::{Field, Raw};

impl Checker<'_> {
    pub(super) fn inputs(&mut self, inputs: Field<Vec<Raw<InputDoc>>>) -> Vec<InputSpec> {
        let mut specs = Vec::new();
        for raw in inputs.take().map(|list| list.value).unwrap_or_default() {
            let name = self.tree.entry(raw.id, "name").and_then(|(_, value)| self.tree.text(value));
            let place = match name {
                Some(name) => format!("input {}", quote(name)),
                None => "an input".to_owned(),
            };
            if let Some(doc) = self.decode_raw(raw, &place) {
                specs.extend(self.input(doc, raw.id, &place));
            }
        }
        let names = specs.iter().map(|input: &InputSpec| (input.name.as_str(), input.name.span));
        self.unique(names, "duplicate-name", "input");
        specs
    }

    fn input(&mut self, doc: InputDoc, id: NodeId, place: &str) -> Option<InputSpec> {
        if doc.name.is_absent() {
            self.missing(id, "name", place, "add `name: …`");
        }
        if let Some(name) = doc.name.get() {
            self.name(name, "an input");
        }
        let kind_is_good = doc.kind.is_absent() || doc.kind.get().is_some();
        let kind = doc.kind.get().map(|kind| kind.value).unwrap_or_default();
        self.pattern(doc.pattern.get());
        if let Some(key) = doc.pattern.key()
            && !matches!(kind, InputType::String | InputType::Secret)
        {
            self.report.push(
                Diagnostic::error("stray-key", format!("`match` of {place}, which is not text"))
                    .label(key, "only for `type: string` and `type: secret`"),
            );
        }
        let choices: Vec<Spanned<Value>> = doc
            .choices
            .get()
            .map(|list| list.value.iter().map(|raw| self.value(raw.id)).collect())
            .unwrap_or_default();
        if let Some(list) = doc.choices.get()
            && list.is_empty()
        {
            self.report.push(
                Diagnostic::error("empty-list", format!("`enum` of {place} is empty"))
                    .label(list.span, "no value would be allowed"),
            );
        }
        let default = doc.default.get().map(|raw| self.value(raw.id));
        let from = self.secret_source(&doc, kind, place);
        let mut spec = InputSpec {
            name: doc.name.take()?,
            description: doc.description.take().map(|text| text.value),
            kind,
            required: doc.required.take().is_some_and(|required| required.value),
            default: None,
            choices: Vec::new(),
            pattern: doc.pattern.take(),
            from,
        };
        if kind_is_good {
            for choice in &choices {
                self.fits(&spec, choice, "a value of `enum`");
            }
            spec.choices = choices.into_iter().map(|choice| choice.value).collect();
            if let Some(default) = &default {
                self.fits(&spec, default, "the default");
            }
            spec.default = default.map(|default| default.value).filter(|value| !value.is_null());
        }
        Some(spec)
    }

    fn value(&self, id: NodeId) -> Spanned<Value> {
        Spanned::new(self.tree.value(id), self.span(id))
    }

    /// Reports a `match` that cannot be used.
    pub(super) fn pattern(&mut self, pattern: Option<&Spanned<String>>) {
        let Some(pattern) = pattern else { return };
        let Err(error) = self.work.check(pattern) else { return };
        let found = match &error {
            BadPattern::Invalid(_) => {
                let message = format!("`match` is not a regular expression: {error}");
                Diagnostic::error("bad-pattern", message).hint(
                    "in double quotes a backslash is written twice; single quotes take it as it is",
                )
            }
            BadPattern::TooMuch => Diagnostic::error("bad-pattern", format!("`match`: {error}"))
                .hint("all patterns of a file share a budget: write shorter repetitions"),
        };
        self.report.push(found.label(pattern.span, ""));
    }

    fn fits(&mut self, spec: &InputSpec, value: &Spanned<Value>, what: &str) {
        let open = value.as_str().is_some_and(is_template) || value.is_null();
        if open {
            return;
        }
        if let Err(mismatch) = spec.check_with(&mut self.work, value) {
            let message = format!("{what} of input {} {mismatch}", quote(&spec.name));
            let diagnostic = Diagnostic::error("bad-default", message).label(value.span, "");
            self.report.push(match (spec.kind, &value.value) {
                (InputType::String | InputType::Secret, Value::Number(_) | Value::Bool(_)) => {
                    diagnostic.hint("put it in quotes if it is meant as text")
                }
                (InputType::Boolean, Value::String(text)) => match text.as_str() {
                    "yes" | "on" => diagnostic.hint("write `true`").fix(value.span, "true"),
                    "no" | "off" => diagnostic.hint("write `false`").fix(value.span, "false"),
                    "true" | "false" => {
                        diagnostic.hint("write it without the quotes").fix(value.span, text)
                    }
                    _ => diagnostic,
                },
                (InputType::Integer | InputType::Number, Value::String(text)) => {
                    match text.trim().parse::<f64>() {
                        Ok(_) => {
                            let said = diagnostic.hint("write it without the quotes");
                            said.fix(value.span, text.trim())
                        }
                        Err(_) if text.is_empty() => {
                            diagnostic.hint("leave the default out, or give a number")
                        }
                        Err(_) => diagnostic,
                    }
                }
                _ => diagnostic,
            });
        }
    }
}
