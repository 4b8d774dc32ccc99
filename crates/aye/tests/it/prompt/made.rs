//! Made-up questions.

use aye_core::id::QuestionId;
use aye_core::question::{Offer, Purpose, Question};
use aye_core::skill::{AskKind, ChoiceAction};
use jiff::Timestamp;

pub(super) fn moment(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + seconds).unwrap()
}

pub(super) fn offer(value: &str, label: &str, action: ChoiceAction) -> Offer {
    Offer::new(value, label, action)
}

fn question(kind: AskKind, message: &str) -> Question {
    Question {
        step: "release".into(),
        title: "Production release".into(),
        overridable: true,
        digest: "0".into(),
        ..Question::new(QuestionId::from_text("abcdefgh12-1"), kind, message)
    }
}

pub(super) fn confirm() -> Question {
    Question {
        options: vec![
            offer("proceed", "Proceed", ChoiceAction::Proceed),
            offer("cancel", "Cancel", ChoiceAction::Cancel),
        ],
        ..question(AskKind::Confirm, "Release `abc123` to **production**?")
    }
}

pub(super) fn choose(options: &[&str]) -> Question {
    let options = options.iter().map(|text| offer(text, text, ChoiceAction::Proceed)).collect();
    Question { options, ..question(AskKind::Choose, "Which environment?") }
}

pub(super) fn input() -> Question {
    question(AskKind::Input, "Which commit?")
}

pub(super) fn recover() -> Question {
    let say = |offer: Offer, text: &str| Offer { description: Some(text.into()), ..offer };
    Question {
        options: vec![
            say(offer("retry", "Retry", ChoiceAction::Proceed), "run the step again"),
            say(
                offer("done", "It was done", ChoiceAction::Proceed),
                "continue as if it had succeeded",
            ),
            say(offer("skip", "Skip", ChoiceAction::Skip), "skip the step and continue"),
            say(offer("abort", "Abort", ChoiceAction::Cancel), "end the run as failed"),
        ],
        purpose: Purpose::Recover,
        ..question(AskKind::Recover, "`build` failed: exit code 3")
    }
}
