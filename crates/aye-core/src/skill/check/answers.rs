//! Transitions that are named after an exit code or an answer.

use super::Checker;
use super::choices::meaning;
use super::state::{Names, OUTCOMES, Targeted, named};
use crate::diagnostic::{Diagnostic, quote};
use crate::skill::{Action, Ask, AskKind, Choice, ChoiceAction, GuardCheck, Step, Transitions};
use crate::span::Spanned;

impl Checker<'_> {
    /// Takes in the keys that name no outcome.
    pub(super) fn codes_and_answers(
        &mut self,
        keys: Targeted,
        step: &Step,
        transitions: &mut Transitions,
        names: &Names,
        place: &str,
    ) {
        let asks = matches!(step.action, Action::Ask(_));
        let options = step.question().map(|ask| ask.options.as_slice()).unwrap_or_default();
        for (key, target) in keys {
            let option = options.iter().find(|option| option.value == key.value);
            // Before a command a number is the command's exit code.
            let option = option.filter(|_| asks || key.parse::<i64>().is_err());
            if let Some(option) = option {
                if !asks && option.action == ChoiceAction::Proceed {
                    self.runs_the_state(&key, place);
                } else if let Some(target) = named(target) {
                    self.target(&target, names, &format!("the transition {}", quote(&key)));
                    transitions.answers.insert(key.value, target);
                }
            } else if let Some(code) = self.exit_code(&key, step, place)
                && let Some(target) = named(target)
            {
                self.target(&target, names, &format!("the transition `{code}`"));
                transitions.codes.insert(code, target);
            }
        }
        self.answers_called_outcomes(options, step, transitions, place);
        self.answers_past_guards(step, transitions, place);
    }

    /// At a gate a yes runs the state; how that ends says where it leads.
    fn runs_the_state(&mut self, key: &Spanned<String>, place: &str) {
        let message = format!("the answer {} in the transitions of {place}", quote(key));
        self.report.push(
            Diagnostic::error("answer-runs-state", message)
                .label(key.span, "this answer runs the state")
                .hint("how the state ends says where it leads: `success`, `failure`, an exit code"),
        );
    }

    /// `failure: rollback` cannot be both an outcome and an answer.
    fn answers_called_outcomes(
        &mut self,
        options: &[Choice],
        step: &Step,
        to: &Transitions,
        place: &str,
    ) {
        let used = |word: &str| match word {
            "success" => to.success.is_some(),
            "failure" => to.failure.is_some(),
            "timeout" => to.timeout.is_some(),
            "declined" => to.declined.is_some(),
            _ => to.cancelled.is_some(),
        };
        let both = |option: &&Choice| OUTCOMES.contains(&option.value.as_str());
        for option in options.iter().filter(both).filter(|option| used(&option.value)) {
            let message =
                format!("{} in {place} is an answer and an outcome", quote(&option.value));
            self.report.push(
                Diagnostic::error("ambiguous-transition", message)
                    .label(step.name.span, "")
                    .hint("give the option another `value:`"),
            );
        }
    }

    /// A check that has to hold before the way on cannot be gone past.
    fn answers_past_guards(&mut self, step: &Step, to: &Transitions, place: &str) {
        let checks =
            step.guards.iter().any(|guard| matches!(guard.check, GuardCheck::Command { .. }));
        if checks && !to.answers.is_empty() {
            let message = format!("{place} has a `validate` command and answers as transitions");
            self.report.push(
                Diagnostic::error("answers-past-check", message)
                    .label(step.name.span, "an answer would lead past the command")
                    .hint("put the command in a state of its own"),
            );
        }
    }

    fn exit_code(&mut self, key: &Spanned<String>, step: &Step, place: &str) -> Option<i32> {
        match key.parse::<i64>() {
            Ok(code @ 0..=255) => return i32::try_from(code).ok(),
            Ok(_) => self.report.push(
                Diagnostic::error("bad-exit-code", format!("{} is not an exit code", quote(key)))
                    .label(key.span, "expected a number from 0 to 255"),
            ),
            Err(_) => {
                let message = format!("unknown transition {} in {place}", quote(key));
                let diagnostic = Diagnostic::error("unknown-key", message);
                let word = key.strip_prefix("on_").unwrap_or(key);
                let answers: Vec<&str> = named_answers(step).collect();
                let all = OUTCOMES.iter().copied().chain(answers.iter().copied());
                let meant = said_otherwise(step.question(), word)
                    .filter(|meant| answers.contains(meant))
                    .or_else(|| self.report.suggestion(word, all));
                self.report.push(match (meant, answers.is_empty()) {
                    (Some(meant), _) => {
                        diagnostic.label(key.span, format!("did you mean `{meant}`?"))
                    }
                    (None, true) => diagnostic.label(key.span, "").hint(
                        "transitions are `success`, `failure`, `timeout`, `declined`, `cancelled` \
                         and exit codes",
                    ),
                    (None, false) => diagnostic
                        .label(
                            key.span,
                            "neither an answer nor an \
                         outcome",
                        )
                        .hint(format!(
                            "answers here: {}; outcomes: `success`, `failure`, `timeout`, \
                             `declined`, `cancelled`",
                            answers.iter().map(|it| quote(it)).collect::<Vec<_>>().join(", ")
                        )),
                });
            }
        }
        None
    }
}

/// The answers that a transition of this state may be named after.
fn named_answers(step: &Step) -> impl Iterator<Item = &str> {
    let asks = matches!(step.action, Action::Ask(_));
    let options = step.question().map(|ask| ask.options.as_slice()).unwrap_or_default();
    let leads = move |option: &&Choice| asks || option.action != ChoiceAction::Proceed;
    options.iter().filter(leads).map(|option| option.value.as_str())
}

/// The value of the option that someone calls `yes` or `no`, or by its label.
fn said_otherwise<'a>(ask: Option<&'a Ask>, word: &str) -> Option<&'a str> {
    let ask = ask?;
    let means = meaning(word).filter(|_| ask.kind == AskKind::Confirm);
    let fits = |option: &&Choice| {
        option.label.to_lowercase() == word.to_lowercase() || Some(option.action) == means
    };
    ask.options.iter().find(fits).map(|option| option.value.as_str())
}
