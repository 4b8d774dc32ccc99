//! The answers that can succeed.

use aye_core::question::{Purpose, Question};
use aye_core::skill::{AskKind, By};
use aye_runtime::usecases::OpenQuestion;
use jiff::Timestamp;

use crate::cli::commands::answer::silence;
use crate::paint::escape_control_line;
use crate::report::answer_command;

/// What can be answered from here.
pub(super) struct Offered {
    /// What `aye answer` takes.
    pub(super) values: Vec<String>,
    /// What to type, or why there is nothing to answer.
    pub(super) words: String,
}

/// What this user can answer now.
pub(super) fn offered(open: &OpenQuestion, user: &str, now: Timestamp) -> Offered {
    let Some(asked) = &open.question else {
        return nothing(format!("aye answer {} TEXT", open.row.id));
    };
    let run = open.around.first().map_or(&open.row.run, |parent| &parent.run);
    let expired = open.row.deadline.is_some_and(|deadline| deadline <= now);
    if expired && !open.driven && !asked.default_proceeds() {
        let taken = silence(asked);
        return nothing(format!("nobody answered in time, {taken}: aye resume {run}"));
    }
    if asked.secret && !open.driven {
        return nothing(format!("it asks for a secret, where the run is driven: aye resume {run}"));
    }
    match &asked.by {
        By::Names(names) if !names.iter().any(|name| name == user) => {
            let names = escape_control_line(&names.join(", "));
            return nothing(format!("only {names} may answer"));
        }
        By::Names(_) | By::Human | By::Anyone => {}
    }
    // A person who has agreed can only change that by saying no.
    let agreed = open.agreed.iter().any(|name| name == user);
    let can = |value: &str| {
        let edits = asked.purpose == Purpose::Recover && value == "edit";
        let again = agreed && asked.commits(&value.into());
        !edits && !again
    };
    let mut left = asked.clone();
    left.options.retain(|offer| can(&offer.value));
    Offered { values: choices(&left), words: answer_command(&left) }
}

fn nothing(words: String) -> Offered {
    Offered { values: Vec::new(), words }
}

fn choices(asked: &Question) -> Vec<String> {
    let text = (asked.kind == AskKind::Input).then(|| "TEXT".to_owned());
    text.into_iter().chain(asked.options.iter().map(|offer| offer.value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use aye_core::id::{QuestionId, RunId};
    use aye_core::question::Offer;
    use aye_core::skill::ChoiceAction;
    use aye_runtime::usecases::{QuestionRow, QuestionState};

    use super::*;

    /// Everyone who has agreed can only say no, not the last of them alone.
    #[test]
    fn who_has_agreed_is_not_asked_to_agree_again() {
        let id = QuestionId::from_text("r-1");
        let offer = |value: &str, action| Offer {
            value: value.to_owned(),
            label: value.to_owned(),
            description: None,
            action,
        };
        let asked = Question {
            approvals: 3,
            options: vec![
                offer("proceed", ChoiceAction::Proceed),
                offer("cancel", ChoiceAction::Cancel),
            ],
            ..Question::new(id.clone(), AskKind::Confirm, "Go?")
        };
        let open = OpenQuestion {
            row: QuestionRow {
                n: 1,
                id,
                run: RunId::from_random(7),
                skill: "s".to_owned(),
                step: "a".to_owned(),
                kind: "confirm".to_owned(),
                purpose: "gate".to_owned(),
                title: String::new(),
                message: "Go?".to_owned(),
                asked: Timestamp::UNIX_EPOCH,
                deadline: None,
                state: QuestionState::Open,
                closed: None,
                answered_by: Some("bob".to_owned()),
                prompter: None,
                missing: 1,
                declines: vec!["cancel".to_owned()],
            },
            question: Some(asked),
            driven: true,
            rests: false,
            around: Vec::new(),
            agreed: vec!["ann".to_owned(), "bob".to_owned()],
        };
        let values = |user: &str| offered(&open, user, Timestamp::UNIX_EPOCH).values;
        assert_eq!(values("ann"), ["cancel"]);
        assert_eq!(values("bob"), ["cancel"]);
        assert_eq!(values("carol"), ["proceed", "cancel"]);
    }
}
