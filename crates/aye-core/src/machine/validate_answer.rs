//! Which answers count.

use serde_json::Value;

use crate::pattern::is_match;
use crate::question::{Agreement, Answer, Channel, Objection, Question};
use crate::skill::{AskKind, By, ChoiceAction};

use super::refusal::Refusal;

/// Whether this answer to this question counts.
pub(super) fn validate_answer(
    question: &Question,
    answer: &Answer,
    agreement: &Agreement,
) -> Result<(), Refusal> {
    if answer.digest.as_ref().is_some_and(|digest| *digest != question.digest) {
        return Err(Refusal::Changed);
    }
    validate_value(question, &answer.value)?;
    validate_person(question, answer)?;
    // Saying no is always safe and needs nothing further.
    if !question.commits(&answer.value) {
        return Ok(());
    }
    match agreement.objection(question, &answer.value, &answer.by) {
        Some(Objection::Agreed) => return Err(Refusal::AlreadyAgreed(answer.by.clone())),
        Some(Objection::Starter) => return Err(Refusal::Starter(answer.by.clone())),
        Some(Objection::Other(first)) => return Err(Refusal::Disagrees(first)),
        None => {}
    }
    if let Some(typed) = &question.typed
        && answer.typed.as_ref() != Some(typed)
    {
        return Err(Refusal::NotTyped(typed.clone()));
    }
    match &answer.code_error {
        _ if !question.reauth || answer.reauth => Ok(()),
        Some(why) => Err(Refusal::WrongCode(why.clone())),
        None => Err(Refusal::NoReauth),
    }
}

/// Whether a step that failed is tried again because someone says so after the
/// run has ended. What else its gate wants is asked for before it runs.
pub(super) fn validate_retry(question: &Question, answer: Option<&Answer>) -> Result<(), Refusal> {
    match answer {
        Some(answer) => validate_person(question, answer),
        None if question.is_guarded() => {
            Err(Refusal::NotAllowed("a person has to answer this question".to_owned()))
        }
        None => Ok(()),
    }
}

pub(super) fn validate_value(question: &Question, value: &Value) -> Result<ChoiceAction, Refusal> {
    let Some(text) = value.as_str() else {
        return Err(Refusal::NotText);
    };
    match question.kind {
        AskKind::Confirm | AskKind::Choose | AskKind::Recover => {
            question.offer(text).map(|offer| offer.action).ok_or_else(|| Refusal::NotOffered {
                value: text.to_owned(),
                offered: question
                    .options
                    .iter()
                    .map(|offer| format!("`{}`", offer.value))
                    .collect::<Vec<_>>()
                    .join(", "),
            })
        }
        AskKind::Input => {
            if let Some(offer) = question.offer(text) {
                return Ok(offer.action);
            }
            if let Some(pattern) = &question.pattern
                && !is_match(pattern, text)
            {
                return Err(Refusal::NoMatch(pattern.clone()));
            }
            Ok(ChoiceAction::Proceed)
        }
    }
}

fn validate_person(question: &Question, answer: &Answer) -> Result<(), Refusal> {
    let Answer { by, prompter, .. } = answer;
    let person = answer.is_persons();
    let refuse = |why: String| Err(Refusal::NotAllowed(why));
    let pressed = answer.value.as_str().is_some_and(|value| question.takes_button(value));
    // To decline takes no more than a button, also where a yes takes a person.
    let declined = matches!(prompter, Channel::Notification | Channel::Message)
        && pressed
        && answer.started_by().is_none()
        && !question.commits(&answer.value);
    match prompter {
        Channel::Override if !question.overridable => {
            return refuse("`--yes` may not answer this question".to_owned());
        }
        Channel::Memory if !question.remember => {
            return refuse("this question may not be answered from memory".to_owned());
        }
        Channel::Memory if answer.value.as_str().is_some_and(|value| !question.recalls(value)) => {
            return refuse("this answer may not be given from memory".to_owned());
        }
        Channel::Override | Channel::Memory if question.approvals > 1 || question.not_starter => {
            return refuse("several people have to agree".to_owned());
        }
        Channel::Override | Channel::Memory => {}
        Channel::Terminal
        | Channel::Command
        | Channel::Desktop
        | Channel::Zenity
        | Channel::Kdialog
        | Channel::Notification
        | Channel::Editor
        | Channel::Web
        | Channel::Assistant
        | Channel::Elicited
        | Channel::Message
        | Channel::DropBox
            if !person && !declined && question.is_guarded() =>
        {
            let why = "a person has to answer this question".to_owned();
            return refuse(match answer.started_by() {
                Some(program) => format!("{why}; this answer came from {program}"),
                None => why,
            });
        }
        Channel::Notification | Channel::Message | Channel::DropBox if !pressed => {
            return refuse("a button or a file may not give this answer".to_owned());
        }
        Channel::Terminal | Channel::Command | Channel::Editor => {}
        Channel::Desktop | Channel::Zenity | Channel::Kdialog | Channel::Notification => {}
        Channel::Web | Channel::Assistant | Channel::Elicited => {}
        Channel::Message | Channel::DropBox => {}
    }
    // Only what a person chose is remembered, so that what is recalled was.
    let shown = person
        || *prompter == Channel::Memory
        || *prompter == Channel::Elicited && answer.started_by().is_none();
    match answer.value.as_str() {
        Some(value) if !shown && !question.is_relayable(value) => {
            return refuse(format!(
                "`{value}` has to be chosen by a person, at a prompt or in a form"
            ));
        }
        Some(_) | None => {}
    }
    match &question.by {
        By::Anyone => Ok(()),
        By::Human if person || declined => Ok(()),
        By::Human => refuse("a person has to answer this question".to_owned()),
        By::Names(names) => match answer.claimed() {
            None if person && names.contains(by) => Ok(()),
            Some(claimed) => refuse(format!(
                "`{claimed}` in another user namespace than the run's is not a name that counts"
            )),
            None => {
                refuse(format!("`{by}` may not answer this question; {} may", names.join(", ")))
            }
        },
    }
}
