//! The options of a question, and which of them is the default.

use super::command_line::in_list;
use super::{Checker, is_template, template};
use crate::diagnostic::{Diagnostic, quote, quote_list, surely_meant};
use crate::skill::document::OptionDoc;
use crate::skill::{AskKind, Choice, ChoiceAction, Template};
use crate::span::{Span, Spanned};
use crate::yaml::NodeId;
use crate::yaml::decode::{Either, Field, Raw, Text};

/// The options of a question.
pub(super) struct Options {
    pub(super) choices: Vec<Choice>,
    /// Whether every option could be read; if not, nothing is said about what
    /// seems to be missing.
    complete: bool,
}

impl Checker<'_> {
    pub(super) fn options(
        &mut self,
        field: Field<Vec<Raw<Either<Text, OptionDoc>>>>,
        kind: AskKind,
        id: NodeId,
        place: &str,
    ) -> Options {
        let complete = field.is_absent() || field.get().is_some();
        let Some(list) = field.take() else {
            return match kind {
                AskKind::Confirm => {
                    Options { choices: Choice::proceed_or_cancel(Span::default()), complete }
                }
                AskKind::Choose if complete => {
                    self.missing(id, "options", place, "add `options: [first, second]`");
                    Options { choices: Vec::new(), complete: false }
                }
                AskKind::Choose | AskKind::Input | AskKind::Recover => {
                    Options { choices: Vec::new(), complete }
                }
            };
        };
        if kind == AskKind::Input {
            return Options { choices: Vec::new(), complete: false };
        }
        if list.is_empty() {
            self.report.push(
                Diagnostic::error("empty-list", format!("`options` of {place} is empty"))
                    .label(list.span, "nothing could be chosen"),
            );
            return Options { choices: Vec::new(), complete: false };
        }
        let count = list.len();
        let mut places = Vec::new();
        let mut choices = Vec::new();
        for raw in list.value {
            let span = self.span(raw.id);
            if let Some(choice) = self.choice(raw, span, kind, place) {
                choices.push(choice);
                places.push(span);
            }
        }
        let before = self.report.errors();
        let values = choices.iter().zip(&places).map(|(choice, at)| (choice.value.as_str(), *at));
        self.unique(values, "duplicate-option", "option");
        if self.report.errors() == before {
            let labels = choices.iter().map(|choice| (choice.label.as_str(), choice.label.span));
            self.unique(labels, "duplicate-option", "option");
        }
        let options = Options { complete: choices.len() == count, choices };
        if kind == AskKind::Confirm && options.complete {
            self.can_decline(&options, list.span, place);
        }
        options
    }

    /// A confirmation that cannot be declined would take any answer for a yes.
    fn can_decline(&mut self, options: &Options, span: Span, place: &str) {
        if options.choices.iter().all(|choice| choice.action == ChoiceAction::Proceed) {
            self.report.push(
                Diagnostic::error("no-decline", format!("no option of {place} declines"))
                    .label(span, "every answer would mean yes")
                    .hint("give one of them `action: cancel`, or ask with `choose:`"),
            );
        }
    }

    fn choice(
        &mut self,
        raw: Raw<Either<Text, OptionDoc>>,
        span: Span,
        kind: AskKind,
        place: &str,
    ) -> Option<Choice> {
        let place = format!("an option of {place}");
        let (label, value, description, action) = match self.decode_raw(raw, &place)? {
            Either::Short(text) => {
                let text = Spanned::new(text.0, span);
                (Some(text.clone()), Some(text), None, None)
            }
            Either::Long(doc) => (
                doc.label.take().map(template),
                doc.value.take().map(template),
                doc.description.take(),
                doc.action.take().map(|action| action.value),
            ),
        };

        let (label, value) = match (label, value) {
            (None, None) => {
                self.missing(raw.id, "label", &place, "add `label: …`");
                return None;
            }
            (Some(label), None) | (None, Some(label)) => (label.clone(), label),
            (Some(label), Some(value)) => (label, value),
        };
        for (text, what) in [(&label, "the label"), (&value, "the value")] {
            if !self.not_empty(text, &format!("{what} of {place}")) {
                return None;
            }
        }
        if is_template(&value) {
            self.report.push(
                Diagnostic::error("bad-value", format!("the value of {place} is a template"))
                    .label(value.span, "")
                    .hint("give the option a fixed `value:`; only `label` may be a template"),
            );
        }
        self.shown(&label, &format!("the label of {place}"));
        if value.span != label.span {
            self.shown(&value, &format!("the value of {place}"));
        }
        if let Some(description) = &description {
            self.shown(description, &format!("the description of {place}"));
        }
        let action = action.unwrap_or_else(|| implied_action(kind, &value));
        Some(Choice { label, value: value.value, description, action })
    }

    /// The default as the value of an option, or an error.
    pub(super) fn default_option(
        &mut self,
        default: Template,
        options: &Options,
        kind: AskKind,
    ) -> Option<Template> {
        let choices = &options.choices;
        if choices.iter().any(|choice| choice.value == default.value) {
            return Some(default);
        }
        if let (AskKind::Confirm, Some(action)) = (kind, meaning(&default))
            && let Some(choice) = choices.iter().find(|choice| choice.action == action)
        {
            return Some(Spanned::new(choice.value.clone(), default.span));
        }
        if !options.complete {
            return None;
        }
        let labelled = choices.iter().find(|c| c.label.to_lowercase() == default.to_lowercase());
        let values = || choices.iter().map(|choice| choice.value.as_str());
        let meant = labelled
            .map(|choice| choice.value.as_str())
            .or_else(|| self.report.suggestion(&default, values()));
        let message = format!("the default {} is not an option", quote(&default));
        let diagnostic = Diagnostic::error("bad-default", message);
        self.report.push(match meant {
            Some(meant) => {
                let sure = labelled.is_some() || surely_meant(&default, values()) == Some(meant);
                let said = diagnostic.label(default.span, format!("did you mean `{meant}`?"));
                if sure { said.fix(default.span, in_list(meant)) } else { said }
            }
            None => {
                diagnostic.label(default.span, format!("expected {}", quote_list(values(), "or")))
            }
        });
        None
    }
}

/// What choosing an option means that does not say it: nobody who confirms
/// means yes by `cancel`.
fn implied_action(kind: AskKind, value: &str) -> ChoiceAction {
    let declines = ["cancel", "no", "abort"].contains(&value.to_lowercase().as_str());
    match kind {
        AskKind::Confirm if declines => ChoiceAction::Cancel,
        _ => ChoiceAction::Proceed,
    }
}

/// Yes and no, in the ways people write them.
pub(super) fn meaning(word: &str) -> Option<ChoiceAction> {
    match word.to_lowercase().as_str() {
        "yes" | "true" | "y" | "on" => Some(ChoiceAction::Proceed),
        "no" | "false" | "n" | "off" => Some(ChoiceAction::Cancel),
        _ => None,
    }
}
