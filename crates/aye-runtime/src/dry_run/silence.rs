//! What a question comes to if nobody answers it.

use aye_core::skill::{Ask, AskKind, AskLimits, ChoiceAction, Step, format_duration};

/// How long the question of a step waits, and what counts as its answer then;
/// nothing where nothing is asked or it waits for ever.
pub(super) fn silence(
    step: &Step,
    limits: &AskLimits,
    show: &impl Fn(&str) -> String,
) -> Option<(String, String)> {
    let ask = step.question()?;
    let limit = limits.wait(ask.timeout, step.confirmation.is_some())?;
    let default = ask.default.as_ref().filter(|_| !ask.secret).map(|default| show(default));
    let taken = match default.map(|default| (action_of(ask, &default), default)) {
        // Silence is a yes only where someone could have said no.
        Some((ChoiceAction::Proceed, default)) if !ask.is_guarded() => {
            format!("{}, if a prompt shows it then", named(ask, &default))
        }
        Some((ChoiceAction::Skip, default)) => {
            format!("{}, if a prompt shows it then", named(ask, &default))
        }
        Some((ChoiceAction::Cancel, default)) => named(ask, &default),
        Some((ChoiceAction::Proceed, _)) | None => "no".to_owned(),
    };
    Some((format_duration(limit), taken))
}

fn action_of(ask: &Ask, value: &str) -> ChoiceAction {
    let choice = ask.options.iter().find(|choice| choice.value == value);
    match (choice, ask.kind) {
        (Some(choice), _) => choice.action,
        (None, AskKind::Input) => ChoiceAction::Proceed,
        (None, AskKind::Confirm | AskKind::Choose | AskKind::Recover) => ChoiceAction::Cancel,
    }
}

/// A value as people say it.
fn named(ask: &Ask, value: &str) -> String {
    match (ask.kind, value) {
        (AskKind::Confirm, "proceed") => "yes".to_owned(),
        (AskKind::Confirm, "cancel") => "no".to_owned(),
        _ => format!("`{value}`"),
    }
}
