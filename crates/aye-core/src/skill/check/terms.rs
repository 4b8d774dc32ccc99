//! The terms of a question: how long it waits, who may answer, how many have
//! to, and whether the answer is kept.

use super::ask::Asked;
use super::step::flag;
use super::{Checker, template};
use crate::diagnostic::{Diagnostic, quote};
use crate::skill::document::{ApprovalsDoc, AskDoc, ByWord, OnErrorDoc, RememberDoc};
use crate::skill::duration::{Period, format_duration};
use crate::skill::{AskLimits, By, OnError, StepTimeout};
use crate::span::Spanned;
use crate::yaml::decode::{Either, Field, Text};

const DESTRUCTIVE: &str = "the step is destructive";

impl Checker<'_> {
    pub(super) fn remembered(
        &mut self,
        doc: &mut AskDoc,
        asked: &Asked<'_>,
    ) -> (bool, Vec<String>) {
        let refused = if asked.destructive {
            Some(DESTRUCTIVE)
        } else {
            flag(&doc.secret).then_some("the answer is secret")
        };
        let any = self.may_vary(std::mem::take(&mut doc.remember), refused, &asked.place);
        (any.is_some(), any.unwrap_or_default())
    }

    /// What a failure means, and the inputs that may vary where the answer to
    /// it is remembered.
    pub(super) fn on_error(
        &mut self,
        field: Field<Either<OnError, OnErrorDoc>>,
        destructive: bool,
        gated: bool,
        place: &str,
    ) -> (Option<OnError>, Option<Vec<String>>) {
        let doc = match field.take() {
            None => return (None, None),
            Some(Spanned { value: Either::Short(word), .. }) => return (Some(word), None),
            Some(Spanned { value: Either::Long(doc), span }) => {
                if doc.ask.is_absent() {
                    let message = format!("`on_error` of {place} has no `ask`");
                    self.report.push(Diagnostic::error("missing-key", message).label(span, ""));
                }
                doc
            }
        };
        let refused = if destructive {
            Some(DESTRUCTIVE)
        } else {
            gated.then_some("a step with a gate is decided by a person")
        };
        let remember = doc.ask.take().map(|ask| ask.value.remember).unwrap_or_default();
        let any = self.may_vary(remember, refused, &format!("a failure of {place}"));
        (Some(OnError::Ask), any)
    }

    /// The inputs that may vary where an answer is remembered; nothing if it
    /// is not, or must not be.
    fn may_vary(
        &mut self,
        field: Field<Either<bool, RememberDoc>>,
        refused: Option<&str>,
        place: &str,
    ) -> Option<Vec<String>> {
        let key = field.key()?;
        let any = match field.take()?.value {
            Either::Short(remember) => remember.then(Vec::new)?,
            Either::Long(doc) => self.input_names(doc.any),
        };
        let Some(reason) = refused else { return Some(any) };
        let message = format!("the answer to {place} must not be remembered");
        self.report.push(
            Diagnostic::error("remember-refused", message)
                .label(key, reason)
                .hint("remove `remember`; it has to be asked each time"),
        );
        None
    }

    /// Names of inputs, written as templates know them.
    fn input_names(&mut self, names: Field<Vec<Field<Text>>>) -> Vec<String> {
        let names = names.take().map(|names| names.value).unwrap_or_default();
        let names = names.into_iter().filter_map(|name| name.take().map(template));
        names.filter_map(|name| self.input_name(&name)).collect()
    }

    /// The input that `inputs.NAME` means.
    pub(super) fn input_name(&mut self, written: &Spanned<String>) -> Option<String> {
        let name = written.value.trim().strip_prefix("inputs.");
        let name = name.filter(|name| self.input_list.iter().any(|known| known == name));
        if name.is_none() {
            let message = format!("{} names no input", quote(written));
            let diagnostic = Diagnostic::error("unknown-input", message).label(written.span, "");
            self.report.push(match self.input_list.as_slice() {
                [] => diagnostic.hint("the skill has no inputs: declare it under `inputs:`"),
                known => diagnostic.hint(format!(
                    "write one of {}",
                    known
                        .iter()
                        .map(|name| format!("`inputs.{name}`"))
                        .collect::<Vec<_>>()
                        .join(", ")
                )),
            });
        }
        name.map(str::to_owned)
    }

    /// How long to wait.
    pub(super) fn wait(&mut self, field: &Field<Period>, place: &str) -> StepTimeout {
        let Some(period) = field.get() else { return StepTimeout::Default };
        let Some(wait) = self.duration(period) else { return StepTimeout::Default };
        if wait.is_zero() {
            return StepTimeout::Unlimited;
        }
        let clamped = wait.clamp(AskLimits::SHORTEST, AskLimits::LONGEST);
        if clamped != wait {
            let message = format!("`timeout` of {place} is outside of `1s` to `7d`");
            let used = format_duration(clamped);
            self.report.push(
                Diagnostic::warning("clamped-duration", message)
                    .label(period.span, format!("taken as `{used}`"))
                    .hint("`0` waits for ever"),
            );
        }
        StepTimeout::After(clamped)
    }

    pub(super) fn by(&mut self, by: Field<Either<ByWord, Vec<Field<Text>>>>, place: &str) -> By {
        let Some(Spanned { value, span }) = by.take() else {
            return By::Anyone;
        };
        match value {
            Either::Short(ByWord::Anyone) => By::Anyone,
            Either::Short(ByWord::Human) => By::Human,
            Either::Long(names) => {
                let names: Vec<Spanned<String>> =
                    names.into_iter().filter_map(|name| name.take().map(template)).collect();
                if names.is_empty() {
                    self.report.push(
                        Diagnostic::error("empty-list", format!("`by` of {place} is empty"))
                            .label(span, "nobody could answer"),
                    );
                }
                self.unique(
                    names.iter().map(|name| (name.as_str(), name.span)),
                    "duplicate-name",
                    "person",
                );
                By::Names(names.into_iter().map(|name| name.value).collect())
            }
        }
    }

    /// How many people have to agree, and whether the one who started the run counts.
    pub(super) fn approvals(
        &mut self,
        field: Field<Either<u32, ApprovalsDoc>>,
        by: &By,
    ) -> (u32, bool) {
        let (approvals, not_starter) = match field.take() {
            None => return (1, false),
            Some(Spanned { value: Either::Short(count), span }) => {
                (Spanned { value: count, span }, false)
            }
            Some(Spanned { value: Either::Long(doc), span }) => {
                (doc.count.take().unwrap_or(Spanned { value: 1, span }), flag(&doc.not_starter))
            }
        };
        let mut refuse = |label: String| {
            let message = format!("`approvals` cannot be {}", approvals.value);
            self.report
                .push(Diagnostic::error("bad-approvals", message).label(approvals.span, label));
        };
        match by {
            _ if approvals.value == 0 => refuse("at least one person has to agree".to_owned()),
            By::Names(names) if names.len() < approvals.value as usize => {
                refuse(format!("`by` names only {}", names.len()));
            }
            By::Anyone | By::Human | By::Names(_) => {}
        }
        (approvals.value, not_starter)
    }
}
