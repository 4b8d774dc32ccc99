//! The answers that can succeed.

use aye_core::question::{Agreement, Purpose, Question};
use aye_core::skill::{AskKind, By};
use serde_json::Value;

use crate::paint::{escape_control_line, shell_word};

/// What someone can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// What `aye answer` takes.
    pub values: Vec<String>,
    /// What to type, with all that a yes takes; or why there is nothing to type.
    pub command: Result<String, String>,
    /// Another person than this one has to agree.
    pub needs_another: bool,
}

impl Offered {
    /// What this user can answer, with who has agreed so far.
    pub fn to(user: &str, question: &Question, agreement: &Agreement) -> Self {
        let needs_another = agreement.needs_another(question, user);
        let nothing = |why| Self { values: Vec::new(), command: Err(why), needs_another };
        if let By::Names(names) = &question.by
            && !names.iter().any(|name| name == user)
        {
            let names = escape_control_line(&names.join(", "));
            return nothing(format!("only {names} may answer"));
        }
        let can = |value: &str| agreement.objection(question, &value.into(), user).is_none();
        // Where others have agreed on a text, only that text agrees with them.
        let text = (question.kind == AskKind::Input).then(|| match &agreement.on {
            Some(Value::String(first)) if question.offer(first).is_none() => first.as_str(),
            Some(_) | None => "TEXT",
        });
        let options = question.options.iter().map(|offer| offer.value.as_str());
        // What only begins with its name is not among them.
        let options =
            options.filter(|value| !(question.purpose == Purpose::Recover && *value == "edit"));
        let mut values: Vec<String> =
            text.into_iter().chain(options).filter(|v| can(v)).map(str::to_owned).collect();
        let commits = |value: &String| question.commits(&value.as_str().into());
        let agrees = values.iter().any(commits);
        let command = match (&question.typed, question.reauth) {
            _ if values.is_empty() => return nothing("another person has to agree".to_owned()),
            // Asked for at the prompt: a command line is kept by the shell.
            (Some(_), _) if agrees => String::new(),
            _ if question.secret && agrees => String::new(),
            (None, true) if agrees => format!(" {} --code CODE", shown(&values)),
            _ => format!(" {}", shown(&values)),
        };
        if question.typed.is_some() {
            values.retain(|value| !commits(value));
        }
        Self { values, command: Ok(format!("aye answer {}{command}", question.id)), needs_another }
    }

    /// The command, or why there is none.
    pub fn words(&self) -> &str {
        match &self.command {
            Ok(words) | Err(words) => words,
        }
    }
}

/// What can be answered, as one writes it: the first values of many. Several are in brackets,
/// which no shell runs: `proceed|cancel` on its own would answer the first when it is pasted.
fn shown(values: &[String]) -> String {
    const MOST: usize = 8;
    let more = (values.len() > MOST).then(|| "…".to_owned());
    let words = values.iter().take(MOST).map(|value| shell_word(&escape_control_line(value)));
    let words: Vec<String> = words.chain(more).collect();
    match words.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join("|")),
    }
}

#[cfg(test)]
mod tests {
    use aye_core::id::QuestionId;
    use aye_core::question::Offer;
    use aye_core::skill::ChoiceAction;

    use super::*;

    fn confirm(values: &[(&str, ChoiceAction)]) -> Question {
        let offer = |(value, action): &(&str, ChoiceAction)| Offer::new(*value, *value, *action);
        let options = values.iter().map(offer).collect();
        Question { options, ..Question::new(QuestionId::from_text("r-1"), AskKind::Confirm, "Go?") }
    }

    fn yes_or_no() -> Question {
        confirm(&[("proceed", ChoiceAction::Proceed), ("cancel", ChoiceAction::Cancel)])
    }

    fn agreed(by: &[&str], on: Option<&str>) -> Agreement {
        let by = by.iter().map(|&name| name.to_owned()).collect();
        Agreement { by, on: on.map(Value::from), starter: "ann".to_owned() }
    }

    /// Everyone who has agreed can only say no, not the last of them alone.
    #[test]
    fn who_has_agreed_is_not_asked_to_agree_again() {
        let asked = Question { approvals: 3, ..yes_or_no() };
        let agreed = agreed(&["ann", "bob"], Some("proceed"));
        let values = |user: &str| Offered::to(user, &asked, &agreed).values;
        assert_eq!(values("ann"), ["cancel"]);
        assert_eq!(values("bob"), ["cancel"]);
        assert_eq!(values("carol"), ["proceed", "cancel"]);
    }

    #[test]
    fn who_started_the_run_can_only_say_no_where_another_has_to_agree() {
        let asked = Question { not_starter: true, typed: Some("go".to_owned()), ..yes_or_no() };
        let ann = Offered::to("ann", &asked, &agreed(&[], None));
        assert_eq!((ann.words(), ann.needs_another), ("aye answer r-1 cancel", true));
        let bob = Offered::to("bob", &asked, &agreed(&[], None));
        assert_eq!((bob.words(), bob.needs_another), ("aye answer r-1", false));
        // The text is typed at the prompt, never on a command line.
        assert_eq!(bob.values, ["cancel"]);
        let asked = Question { options: asked.options[..1].to_vec(), ..asked };
        let ann = Offered::to("ann", &asked, &agreed(&[], None));
        assert_eq!((ann.words(), ann.values.len()), ("another person has to agree", 0));
    }

    #[test]
    fn who_agrees_second_agrees_on_the_same() {
        let two = [("canary", ChoiceAction::Proceed), ("all", ChoiceAction::Proceed)];
        let asked = Question { approvals: 2, kind: AskKind::Choose, ..confirm(&two) };
        let values = |on| Offered::to("bob", &asked, &agreed(&["ann"], on)).values;
        assert_eq!(values(Some("all")), ["all"]);
        assert_eq!(values(None), ["canary", "all"]);
        let asked = Question { kind: AskKind::Input, options: Vec::new(), ..asked };
        let bob = Offered::to("bob", &asked, &agreed(&["ann"], Some("v 2")));
        assert_eq!(bob.words(), "aye answer r-1 'v 2'");
        assert_eq!(Offered::to("bob", &asked, &agreed(&[], None)).values, ["TEXT"]);
    }
}
