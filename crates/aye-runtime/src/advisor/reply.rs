//! What an advisor says, and how it stands with it.

use aye_core::question::Question;
use serde_json::Value;

/// More characters than this nobody reads beside a question.
const LONGEST: usize = 2000;

/// Advice. The words are as they came: whoever shows them makes them harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The label of the option it names, if it names one that is offered.
    pub option: Option<String>,
    /// The lines of what it says; none is empty.
    pub lines: Vec<String>,
}

/// An advisor beside a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// What it is called.
    pub name: String,
    /// How it stands.
    pub news: News,
}

/// How it stands with an advisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// It was asked and has not answered yet.
    Awaited,
    /// It has said something.
    Came(Advice),
    /// It has not, and why.
    Failed(String),
    /// Nobody waits for it any more.
    Over,
}

/// What the words of an advisor mean; `None` if there are none.
pub fn read(said: &str, question: &Question) -> Option<Advice> {
    let said = unfenced(said.trim());
    let (option, text) = match serde_json::from_str(said) {
        Ok(Value::Object(reply)) => {
            let part = |name: &str| reply.get(name).and_then(Value::as_str).map(str::to_owned);
            let (suggestion, why) = (part("suggestion"), part("why"));
            let option = suggestion.as_deref().and_then(|named| label(named, question));
            match (suggestion, why) {
                (None, None) => (None, said.to_owned()),
                (_, why) if option.is_some() => (option, why.unwrap_or_default()),
                (Some(suggestion), Some(why)) => (None, format!("{suggestion}\n{why}")),
                (suggestion, why) => (None, suggestion.or(why).unwrap_or_default()),
            }
        }
        _ => (None, said.to_owned()),
    };
    let lines = lines(&text);
    (option.is_some() || !lines.is_empty()).then_some(Advice { option, lines })
}

/// The option that is meant: by its value, or by its label.
fn label(named: &str, question: &Question) -> Option<String> {
    let named = named.trim();
    let by_label = || question.options.iter().find(|offer| offer.label.eq_ignore_ascii_case(named));
    question.offer(named).or_else(by_label).map(|offer| offer.label.clone())
}

/// Without the fence that models like to put around JSON.
fn unfenced(said: &str) -> &str {
    let inner = said.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.and_then(|inner| inner.split_once('\n')).map(|(_, inner)| inner.trim());
    inner.filter(|inner| inner.starts_with('{')).unwrap_or(said)
}

fn lines(text: &str) -> Vec<String> {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    let lines = short.lines().map(|line| line.trim_end().replace('\t', "    "));
    lines.filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aye_core::id::QuestionId;
    use aye_core::question::Offer;
    use aye_core::skill::{AskKind, ChoiceAction};

    fn question() -> Question {
        let offer = |value: &str, label: &str| Offer {
            value: value.to_owned(),
            label: label.to_owned(),
            description: None,
            action: ChoiceAction::Proceed,
        };
        Question {
            step: "s".to_owned(),
            options: vec![offer("go", "Go on"), offer("stop", "Stop")],
            overridable: true,
            ai_assist: true,
            ..Question::new(QuestionId::from_text("abcdefgh12-1"), AskKind::Choose, String::new())
        }
    }

    /// `option | line / line`
    fn told(said: &str) -> String {
        match read(said, &question()) {
            None => "nothing".to_owned(),
            Some(Advice { option, lines }) => {
                format!("{} | {}", option.as_deref().unwrap_or("-"), lines.join(" / "))
            }
        }
    }

    #[test]
    fn text_is_text() {
        assert_eq!(told("  Go on.\n\n\tIt is safe.\r\n"), "- | Go on. /     It is safe.");
        assert_eq!(told("go"), "- | go", "only JSON names an option");
        assert_eq!(told(" \n\t\n"), "nothing");
        assert_eq!(told(""), "nothing");
        assert_eq!(told("[1, 2]"), "- | [1, 2]");
    }

    #[test]
    fn json_may_name_an_option() {
        assert_eq!(told(r#"{"suggestion": "go", "why": "tests pass"}"#), "Go on | tests pass");
        assert_eq!(told(r#"{"suggestion": "STOP"}"#), "Stop | ");
        assert_eq!(told("```json\n{\"suggestion\": \"go on\", \"why\": \"a\"}\n```"), "Go on | a");
        assert_eq!(told(r#"{"suggestion": "explode", "why": "fun"}"#), "- | explode / fun");
        assert_eq!(told(r#"{"why": "who knows"}"#), "- | who knows");
        assert_eq!(told(r#"{"suggestion": 3}"#), r#"- | {"suggestion": 3}"#);
        assert_eq!(told(r#"{"suggestion": "", "why": ""}"#), "nothing");
        assert_eq!(told("```\nno JSON\n```"), "- | ``` / no JSON / ```");
    }

    #[test]
    fn a_flood_of_words_is_cut() {
        let advice = read(&"ä".repeat(10_000), &question()).expect("words");
        assert_eq!(advice.lines[0].chars().count(), LONGEST + 1);
        assert!(advice.lines[0].ends_with('…'));
    }
}
