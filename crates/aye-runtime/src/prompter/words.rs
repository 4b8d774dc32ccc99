//! What every prompter says in the same words.

use aye_core::journal::State;
use aye_core::question::{Question, SILENCE};
use aye_core::skill::AskKind;

use crate::fmt::escape_control;

use super::AskedQuestion;

/// What happens when the time is up.
pub fn expiry_words(asked: &AskedQuestion<'_>) -> String {
    let question = asked.question;
    // Nobody has to answer there: the clean-up continues.
    if asked.run.is_some_and(|run| run.finally.is_some()) && question.default.is_none() {
        return "then its step is skipped".to_owned();
    }
    let of_run = asked.run.and_then(State::deadline);
    if of_run.is_some() && of_run == asked.deadline && question.deadline != asked.deadline {
        return "then the run ends".to_owned();
    }
    match (&question.default, question.kind) {
        (Some(_), AskKind::Input) if question.secret => "then the default".to_owned(),
        (Some(default), AskKind::Input) => format!("then `{}`", escape_control(default)),
        (Some(default), _) => format!("then {}", label(question, default)),
        (None, _) if asked.run.is_none() => "then no answer".to_owned(),
        (None, _) => match (question.lead(SILENCE), question.decline()) {
            (Some(lead), _) => format!("then {}", escape_control(&lead.to_string())),
            (None, Some(no)) => format!("then {}", label(question, &no.value)),
            (None, None) => "then no".to_owned(),
        },
    }
}

fn label(question: &Question, value: &str) -> String {
    let yes_no = question.yes_and_no();
    let position = question.options.iter().position(|offer| offer.value == value);
    match (position, yes_no) {
        (Some(at), Some((yes, _))) if at == yes => "yes".to_owned(),
        (Some(_), Some(_)) => "no".to_owned(),
        (Some(at), None) => escape_control(&question.options[at].label),
        (None, _) => escape_control(value),
    }
}
