//! `validate` and `retry`.

use std::time::Duration;

use super::skill::texts;
use super::step::flag;
use super::{Checker, is_template, template};
use crate::diagnostic::Diagnostic;
use crate::skill::document::{GuardDoc, RetryDoc, Validation};
use crate::skill::{Guard, GuardCheck, Retry, RetryOn};
use crate::span::Spanned;
use crate::yaml::decode::{Either, Field, Raw};
use crate::yaml::{Kind, NodeId};

const BACKOFF: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
const MOST_ATTEMPTS: u32 = 1000;

impl Checker<'_> {
    pub(super) fn guards(&mut self, field: &Field<Raw<Validation>>, place: &str) -> Vec<Guard> {
        let Some(raw) = field.get() else { return Vec::new() };
        let id = raw.value.id;
        let nodes: Vec<NodeId> = match &self.tree.node(id).kind {
            Kind::List(items) => items.clone(),
            Kind::Scalar(_) | Kind::Mapping(_) => vec![id],
        };
        nodes.into_iter().flat_map(|id| self.guard(id, &format!("`validate` of {place}"))).collect()
    }

    fn guard(&mut self, id: NodeId, place: &str) -> Vec<Guard> {
        let Some(doc) = self.decode::<GuardDoc>(id, place) else { return Vec::new() };
        let message = doc.error_message.take();
        let mut checks = Vec::new();
        if let Some(condition) = doc.condition.take().map(template) {
            self.not_empty(&condition, &format!("`condition` in {place}"));
            checks.push(GuardCheck::Condition(condition));
        }
        let args = texts(doc.args);
        let is_command = !doc.command.is_absent();
        if let Some(program) = doc.command.take().map(template) {
            if self.not_empty(&program, &format!("`command` in {place}"))
                && program.trim().contains(char::is_whitespace)
                && (args.is_empty() || !is_template(&program))
            {
                self.command_line(id, &program, place, false, &[]);
            }
            checks.push(GuardCheck::Command { program, args, cwd: doc.cwd.take() });
        }
        // Beside a command it speaks of the command, which has to succeed anyway.
        if flag(&doc.expect_success) && !is_command {
            checks.push(GuardCheck::Success);
        }
        if let (Some(word), false) = (doc.expect_success.get(), flag(&doc.expect_success)) {
            self.report.push(
                Diagnostic::error(
                    "bad-value",
                    format!("`expect_success` in {place} must be `true`"),
                )
                .label(word.span, "")
                .hint("leave it out, or write a `condition` that says what is expected"),
            );
        }
        let misspelt = self.misspelt.contains_key(&id);
        if checks.is_empty() && doc.expect_success.is_absent() && !is_command && !misspelt {
            let at = self.span(id);
            self.report.push(
                Diagnostic::error("empty-guard", format!("{place} looks at nothing"))
                    .label(at, "")
                    .hint("give it a `condition`, a `command`, or `expect_success: true`"),
            );
        }
        checks.into_iter().map(|check| Guard { check, message: message.clone() }).collect()
    }

    pub(super) fn retry(
        &mut self,
        field: Field<Raw<Either<u32, RetryDoc>>>,
        place: &str,
    ) -> Option<Retry> {
        let raw = field.take()?;
        let place = format!("`retry` of {place}");
        let doc = match self.decode_raw(raw.value, &place)? {
            Either::Short(attempts) => {
                return Some(Retry {
                    attempts: self.attempts(&Spanned::new(attempts, raw.span), &place),
                    ..Retry::default()
                });
            }
            Either::Long(doc) => doc,
        };
        let defaults = Retry::default();
        let Some(attempts) = doc.attempts.get() else {
            self.missing(raw.value.id, "attempts", &place, "add `attempts: 3`, for instance");
            return None;
        };
        let attempts = self.attempts(attempts, &place);
        let factor = doc.factor.get().map_or(defaults.factor, |factor| factor.value);
        if let Some(given) = doc.factor.get()
            && !(1.0..=100.0).contains(&factor)
        {
            let message = format!("`factor` in {place} must be from 1 to 100");
            self.report.push(Diagnostic::error("bad-value", message).label(given.span, ""));
        }
        let backoff = doc.backoff.get().and_then(|period| self.duration(period));
        let max = doc.max.get().and_then(|period| self.duration(period));
        Some(Retry {
            attempts,
            backoff: backoff.unwrap_or(BACKOFF),
            factor,
            max: max.unwrap_or(LONGEST.max(backoff.unwrap_or(BACKOFF))),
            jitter: doc.jitter.get().is_none_or(|word| word.value),
            on: self.retry_on(doc.on, &place),
        })
    }

    fn attempts(&mut self, attempts: &Spanned<u32>, place: &str) -> u32 {
        if !(1..=MOST_ATTEMPTS).contains(&attempts.value) {
            let message = format!("`attempts` in {place} must be from 1 to {MOST_ATTEMPTS}");
            self.report.push(
                Diagnostic::error("bad-value", message)
                    .label(attempts.span, "how often it is tried in all"),
            );
        }
        attempts.value
    }

    fn retry_on(
        &mut self,
        field: Field<Vec<Field<crate::yaml::decode::Text>>>,
        place: &str,
    ) -> RetryOn {
        if field.is_absent() {
            return Retry::default().on;
        }
        let mut on = RetryOn { failure: false, timeout: false, codes: Vec::new() };
        for word in texts(field) {
            match (word.as_str(), word.parse::<i32>()) {
                ("failure", _) => on.failure = true,
                ("timeout", _) => on.timeout = true,
                (_, Ok(code)) if (1..=255).contains(&code) => on.codes.push(code),
                _ => self.report.push(
                    Diagnostic::error(
                        "unknown-word",
                        format!("`on` in {place} cannot be `{}`", word.value),
                    )
                    .label(word.span, "expected `failure`, `timeout`, or an exit code"),
                ),
            }
        }
        on
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 3,
            backoff: BACKOFF,
            factor: 2.0,
            max: LONGEST,
            jitter: true,
            on: RetryOn { failure: true, timeout: true, codes: Vec::new() },
        }
    }
}
