//! Questions.

use super::choices::Options;
use super::step::flag;
use super::{Checker, is_template, template};
use crate::diagnostic::{Diagnostic, quote};
use crate::pattern::BadPattern;
use crate::skill::document::{AskDoc, OverrideWord, Question};
use crate::skill::{Ask, AskKind, By, Choice, ChoiceAction, StepTimeout, Template};
use crate::span::Spanned;
use crate::yaml::decode::Either;
use crate::yaml::{Kind, NodeId, Typed};

/// The longest message of a confirmation, in characters.
const LONGEST_MESSAGE: usize = 500;

/// What a question belongs to.
pub(super) struct Asked<'a> {
    pub(super) kind: AskKind,
    /// The `confirmation` of a step, not a step that asks.
    pub(super) gate: bool,
    pub(super) name: &'a str,
    pub(super) destructive: bool,
    pub(super) place: String,
}

impl Checker<'_> {
    /// The question of a step that asks.
    pub(super) fn question(
        &mut self,
        question: Question,
        kind: AskKind,
        name: &str,
        destructive: bool,
        place: &str,
    ) -> Option<Ask> {
        let place = format!("`{}` of {place}", kind.word());
        self.ask(question, &Asked { kind, gate: false, name, destructive, place })
    }

    /// The confirmation of any step.
    pub(super) fn confirmation(
        &mut self,
        question: Question,
        name: &str,
        destructive: bool,
        place: &str,
    ) -> Option<Ask> {
        let place = format!("`confirmation` of {place}");
        self.ask(question, &Asked { kind: AskKind::Confirm, gate: true, name, destructive, place })
    }

    fn ask(&mut self, question: Question, asked: &Asked<'_>) -> Option<Ask> {
        let id = question.id;
        if let Some(value) = self.truth_value(id) {
            let message = format!("{} must be a question", asked.place);
            let diagnostic = Diagnostic::error("wrong-type", message)
                .label(self.span(id), format!("this is `{value}`"));
            self.report.push(if asked.gate {
                let hinted =
                    diagnostic.hint("write `confirmation: {}` to ask with the usual words");
                if value { hinted.fix(self.span(id), "{}") } else { hinted }
            } else {
                let word = asked.kind.word();
                diagnostic.hint(format!("write the question itself: `{word}: Continue?`"))
            });
            return None;
        }
        let (mut doc, short) = match self.decode_raw(question, &asked.place)? {
            Either::Short(message) => {
                (AskDoc::default(), Some(Spanned::new(message, self.span(id))))
            }
            Either::Long(doc) => (doc, None),
        };
        self.stray_ask_keys(&doc, asked);
        let message = self.message(&mut doc, short, id, asked);
        let title = std::mem::take(&mut doc.title).take();
        if let Some(title) = &title {
            self.shown(title, &format!("the title of {}", asked.place));
        }
        let details = std::mem::take(&mut doc.details).take().map(template);
        if let Some(details) = &details {
            self.shown(details, &format!("`details` of {}", asked.place));
        }
        let options = self.options(std::mem::take(&mut doc.options), asked.kind, id, &asked.place);
        self.pattern(doc.pattern.get());
        let default = self.default(&mut doc, &options, asked);
        let (remember, any) = self.remembered(&mut doc, asked);
        let timeout = self.wait(&doc.timeout, &asked.place);
        let by = self.by(std::mem::take(&mut doc.by), &asked.place);
        let (approvals, not_starter) = self.approvals(std::mem::take(&mut doc.approvals), &by);
        let overridable = doc.overriding.get().is_none_or(|word| word.value == OverrideWord::Allow);
        let typed = std::mem::take(&mut doc.typed).take().map(template);
        if let Some(typed) = &typed {
            self.not_empty(typed, &format!("`type_to_confirm` of {}", asked.place));
        }
        let reauth = flag(&doc.reauth);
        let guarded = by != By::Anyone || approvals > 1 || not_starter || reauth || typed.is_some();
        if guarded && timeout != StepTimeout::Unlimited {
            self.lets_through(default.as_ref(), &options, asked);
        }
        Some(Ask {
            kind: asked.kind,
            title,
            message: message?,
            details,
            options: options.choices,
            default,
            timeout,
            pattern: doc.pattern.take(),
            secret: flag(&doc.secret),
            by,
            approvals,
            not_starter,
            reauth,
            typed,
            overridable,
            remember,
            any,
            ai_assist: flag(&doc.ai_assist),
        })
    }

    /// If not everyone may say yes, silence must not count as a yes.
    fn lets_through(&mut self, default: Option<&Template>, options: &Options, asked: &Asked<'_>) {
        let Some(default) = default.filter(|default| !is_template(default)) else { return };
        let proceeds = |choice: &Choice| {
            choice.value == default.value && choice.action == ChoiceAction::Proceed
        };
        if asked.kind == AskKind::Input || options.choices.iter().any(proceeds) {
            let message = format!("the default of {} lets the run through", asked.place);
            self.report.push(
                Diagnostic::error("default-lets-through", message)
                    .label(default.span, "taken when nobody answers in time")
                    .hint("drop the default or make it `no`: nobody would have agreed"),
            );
        }
    }

    fn truth_value(&self, id: NodeId) -> Option<bool> {
        let Kind::Scalar(scalar) = &self.tree.node(id).kind else {
            return None;
        };
        match scalar.typed() {
            Typed::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Keys that this kind of question does not have.
    fn stray_ask_keys(&mut self, doc: &AskDoc, asked: &Asked<'_>) {
        let input = asked.kind == AskKind::Input;
        let confirm = asked.kind == AskKind::Confirm;
        let keys = [
            ("options", doc.options.key(), !input, "`input` takes text; use `choose:` for options"),
            ("match", doc.pattern.key(), input, "only `input` takes text"),
            ("secret", doc.secret.key(), input, "only `input` takes text"),
            ("type_to_confirm", doc.typed.key(), confirm, "only a confirmation can be typed"),
            ("defaultAccept", doc.default_accept.key(), confirm, "write `default:`"),
        ];
        for (name, key, fits, hint) in keys {
            if let (Some(key), false) = (key, fits) {
                self.report.push(
                    Diagnostic::error("stray-key", format!("`{name}` in {}", asked.place))
                        .label(key, "")
                        .hint(hint),
                );
            }
        }
    }

    fn message(
        &mut self,
        doc: &mut AskDoc,
        short: Option<Template>,
        id: NodeId,
        asked: &Asked<'_>,
    ) -> Option<Template> {
        if short.is_none() && doc.message.is_absent() {
            if asked.gate {
                return Some(Spanned::new(format!("Execute {}?", asked.name), self.span(id)));
            }
            self.missing(id, "message", &asked.place, "add `message: …`, the question itself");
            return None;
        }
        let message = short.or_else(|| std::mem::take(&mut doc.message).take())?;
        let what = format!("the message of {}", asked.place);
        self.not_empty(&message, &what);
        self.shown(&message, &what);
        let length = message.chars().count();
        if asked.gate && length > LONGEST_MESSAGE {
            let text = format!("{what} has {length} characters, the limit is {LONGEST_MESSAGE}");
            self.report.push(
                Diagnostic::error("message-too-long", text)
                    .label(message.span, "")
                    .hint("put what it is about under `details:`, which has no limit"),
            );
        }
        Some(message)
    }

    fn default(
        &mut self,
        doc: &mut AskDoc,
        options: &Options,
        asked: &Asked<'_>,
    ) -> Option<Template> {
        if let (Some(default), Some(accept)) = (doc.default.key(), doc.default_accept.key()) {
            let message = format!("{} has both `default` and `defaultAccept`", asked.place);
            self.report.push(
                Diagnostic::error("conflicting-keys", message)
                    .label(accept, "the older name")
                    .label(default, "keep this one"),
            );
        }
        let default = match (doc.default.get(), doc.default_accept.get()) {
            (Some(text), _) => Spanned::new(text.0.clone(), text.span),
            (None, Some(accept)) => {
                let word = if accept.value { "yes" } else { "no" };
                Spanned::new(word.to_owned(), accept.span)
            }
            (None, None) => return None,
        };
        if is_template(&default) {
            return Some(default);
        }
        if asked.kind == AskKind::Input {
            if let Some(pattern) = doc.pattern.get()
                && let Ok(false) | Err(BadPattern::TooMuch) = self.work.is_match(pattern, &default)
            {
                let message = format!("the default does not match {}", quote(pattern));
                self.report.push(Diagnostic::error("bad-default", message).label(default.span, ""));
            }
            return Some(default);
        }
        self.default_option(default, options, asked.kind)
    }
}
