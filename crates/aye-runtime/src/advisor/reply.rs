//! What an advisor says, and how it stands with it.

use aye_core::advice::Advice;
use aye_core::question::Question;
use serde_json::Value;

/// An advisor beside a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedAdvisor {
    /// What it is called.
    pub name: String,
    /// How it stands.
    pub state: AdvisorState,
}

/// How it stands with an advisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdvisorState {
    /// It was asked and has not answered yet.
    Awaited,
    /// It has not, and why.
    Failed(String),
    /// It has said something, or nobody waits for it any more.
    Over,
}

/// What the words of the advisor of this name mean; `None` if there are none.
pub fn read(said: &str, by: &str, question: &Question) -> Option<Advice> {
    let said = unfenced(said.trim());
    let (option, text) = match serde_json::from_str(said) {
        Ok(Value::Object(reply)) => {
            let part = |name: &str| reply.get(name).and_then(Value::as_str).map(str::to_owned);
            let (suggestion, why) = (part("suggestion"), part("why"));
            let option = suggestion.as_deref().and_then(|named| value(named, question));
            match (suggestion, why) {
                (None, None) => (None, said.to_owned()),
                (_, why) if option.is_some() => (option, why.unwrap_or_default()),
                (Some(suggestion), Some(why)) => (None, format!("{suggestion}\n{why}")),
                (suggestion, why) => (None, suggestion.or(why).unwrap_or_default()),
            }
        }
        _ => (None, said.to_owned()),
    };
    let lines = text.lines().map(|line| line.trim_end().replace('\t', "    "));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    let advice = Advice { by: by.to_owned(), option, text: lines.join("\n") };
    (advice.option.is_some() || !advice.text.is_empty()).then_some(advice)
}

/// The option that is meant: by its value, or by its label.
fn value(named: &str, question: &Question) -> Option<String> {
    let named = named.trim();
    let by_label = || question.options.iter().find(|offer| offer.label.eq_ignore_ascii_case(named));
    question.offer(named).or_else(by_label).map(|offer| offer.value.clone())
}

/// Without the fence that models like to put around JSON.
fn unfenced(said: &str) -> &str {
    let inner = said.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.and_then(|inner| inner.split_once('\n')).map(|(_, inner)| inner.trim());
    inner.filter(|inner| inner.starts_with('{')).unwrap_or(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aye_core::id::QuestionId;
    use aye_core::question::Offer;
    use aye_core::skill::{AskKind, ChoiceAction};

    fn question() -> Question {
        let offer = |value: &str, label: &str| Offer::new(value, label, ChoiceAction::Proceed);
        Question {
            step: "s".to_owned(),
            options: vec![offer("go", "Continue"), offer("stop", "Stop")],
            overridable: true,
            ai_assist: true,
            ..Question::new(QuestionId::from_text("abcdefgh12-1"), AskKind::Choose, String::new())
        }
    }

    /// `option | line / line`
    fn told(said: &str) -> String {
        match read(said, "bot", &question()) {
            None => "nothing".to_owned(),
            Some(Advice { option, text, .. }) => {
                format!("{} | {}", option.as_deref().unwrap_or("-"), text.replace('\n', " / "))
            }
        }
    }

    #[test]
    fn text_is_text() {
        assert_eq!(told("  Continue.\n\n\tIt is safe.\r\n"), "- | Continue. /     It is safe.");
        assert_eq!(told("go"), "- | go", "only JSON names an option");
        assert_eq!(told(" \n\t\n"), "nothing");
        assert_eq!(told(""), "nothing");
        assert_eq!(told("[1, 2]"), "- | [1, 2]");
    }

    #[test]
    fn json_may_name_an_option() {
        assert_eq!(told(r#"{"suggestion": "go", "why": "tests pass"}"#), "go | tests pass");
        assert_eq!(told(r#"{"suggestion": "STOP"}"#), "stop | ");
        assert_eq!(told("```json\n{\"suggestion\": \"continue\", \"why\": \"a\"}\n```"), "go | a");
        assert_eq!(told(r#"{"suggestion": "explode", "why": "fun"}"#), "- | explode / fun");
        assert_eq!(told(r#"{"why": "who knows"}"#), "- | who knows");
        assert_eq!(told(r#"{"suggestion": 3}"#), r#"- | {"suggestion": 3}"#);
        assert_eq!(told(r#"{"suggestion": "", "why": ""}"#), "nothing");
        assert_eq!(told("```\nno JSON\n```"), "- | ``` / no JSON / ```");
    }
}
