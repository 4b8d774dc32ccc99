//! What a server asks in the middle of a call, as questions.
//!
//! A form is a run of its own inside the step that called the tool: one
//! question whether to answer at all, then one for each field. All words of
//! the server are values, never templates, and stand behind `>`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::skill::{Action, Ask, AskKind, Choice, ChoiceAction, OnError, Step};

use crate::span::{Span, Spanned};

/// What the words of the form are called in the templates of its questions.
/// No field's step has a name that begins like this.
const WORDS: &str = "_form";
/// Says that nothing is answered.
const DECLINE: &str = "decline";
/// Leaves out a field that is not required.
const LEFT_OUT: &str = "-";

/// What a server asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Form {
    /// Who asks, by its name in the project.
    pub server: String,
    /// Which question it is of those that this run was asked by servers.
    pub index: u32,
    /// Its words.
    pub message: String,
    /// Why it is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What it wants to know, the required ones first.
    pub fields: Vec<Field>,
}

/// One thing that a server wants to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Field {
    /// What the server calls it.
    pub name: String,
    /// What it says about it, in lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Whether it has to be answered.
    pub required: bool,
    /// What it may be.
    pub kind: FieldKind,
}

/// What a field may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum FieldKind {
    /// Yes or no.
    Boolean,
    /// One of these.
    Choice {
        /// Value and label.
        options: Vec<(String, String)>,
    },
    /// Text.
    Text {
        /// What it has to look like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
        /// The same in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
    /// A number.
    Number {
        /// Without a fraction.
        whole: bool,
        /// The least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        least: Option<f64>,
        /// The most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most: Option<f64>,
    },
}

impl FieldKind {
    fn options(&self) -> Option<Vec<(String, String)>> {
        let pair = |(value, label): (&str, &str)| (value.to_owned(), label.to_owned());
        match self {
            Self::Boolean => Some([("yes", "Yes"), ("no", "No")].map(pair).to_vec()),
            Self::Choice { options } => Some(options.clone()),
            Self::Text { .. } | Self::Number { .. } => None,
        }
    }

    fn pattern(&self) -> Option<String> {
        match self {
            Self::Boolean | Self::Choice { .. } => None,
            Self::Text { pattern, .. } => pattern.clone(),
            Self::Number { whole: true, .. } => Some("^[+-]?[0-9]{1,15}$".to_owned()),
            Self::Number { whole: false, .. } => {
                Some(r"^[+-]?[0-9]{1,15}(\.[0-9]{1,15})?([eE][+-]?[0-9]{1,2})?$".to_owned())
            }
        }
    }

    fn rule(&self) -> Option<String> {
        match self {
            Self::Boolean | Self::Choice { .. } => None,
            Self::Text { rule, .. } => rule.clone(),
            Self::Number { whole, least, most } => {
                let what = if *whole { "a whole number" } else { "a number" };
                Some(match (least, most) {
                    (Some(least), Some(most)) => format!("{what} from {least} to {most}"),
                    (Some(least), None) => format!("{what}, at least {least}"),
                    (None, Some(most)) => format!("{what}, at most {most}"),
                    (None, None) => what.to_owned(),
                })
            }
        }
    }

    /// The answer as the server wants it, or what is wrong with it.
    fn value(&self, text: &str) -> Result<Value, String> {
        let wrong = || format!("`{text}` is not {}", self.rule().unwrap_or_default());
        match self {
            Self::Boolean => Ok(json!(text == "yes")),
            Self::Choice { .. } | Self::Text { .. } => Ok(json!(text)),
            Self::Number { whole, least, most } => {
                let number: f64 = text.parse().map_err(|_| wrong())?;
                let below = least.is_some_and(|least| number < least);
                if below || most.is_some_and(|most| number > most) {
                    return Err(wrong());
                }
                match whole {
                    true => text.parse::<i64>().map(|whole| json!(whole)).map_err(|_| wrong()),
                    false => Ok(json!(number)),
                }
            }
        }
    }
}

impl Form {
    /// The form with every text put through `change`; what is sent back to
    /// the server is looked up in the form as it was.
    #[must_use]
    pub fn map(&self, change: impl Fn(&str) -> String) -> Self {
        let mut form = self.clone();
        form.message = change(&form.message);
        for field in &mut form.fields {
            field.name = change(&field.name);
            field.words.iter_mut().for_each(|line| *line = change(line));
            if let FieldKind::Choice { options } = &mut field.kind {
                for (value, label) in options {
                    *value = change(value);
                    *label = change(label);
                }
            }
        }
        form
    }

    /// One choice says everything that two questions would.
    fn is_one_choice(&self) -> bool {
        let [field] = self.fields.as_slice() else { return false };
        let options = field.kind.options();
        options.is_some_and(|options| options.iter().all(|(value, _)| value != DECLINE))
    }

    /// Its questions.
    pub fn steps(&self) -> Vec<Step> {
        let one = self.is_one_choice();
        let whether = Ask {
            options: vec![
                choice(
                    "answer",
                    "Answer",
                    Some("what it wants to know follows"),
                    ChoiceAction::Proceed,
                ),
                declining(|_| false),
            ],
            ..self.ask(AskKind::Confirm, "intro")
        };
        let whether = (!one).then(|| step("answer".to_owned(), whether));
        let fields = self.fields.iter().enumerate().map(|(at, field)| {
            let words = format!("fields[{at}]");
            let ask = match field.kind.options() {
                Some(options) => {
                    let label = |(i, (value, _)): (usize, &(String, String))| Choice {
                        label: template(format!("{{{{ {WORDS}.labels[{at}][{i}] }}}}")),
                        value: value.clone(),
                        description: None,
                        action: ChoiceAction::Proceed,
                    };
                    let mut all: Vec<Choice> = options.iter().enumerate().map(label).collect();
                    if field.may_be_left_out() {
                        all.push(choice(LEFT_OUT, "Leave it out", None, ChoiceAction::Proceed));
                    }
                    all.push(declining(|word| options.iter().any(|(value, _)| value == word)));
                    Ask { options: all, ..self.ask(AskKind::Choose, &words) }
                }
                None => {
                    let pattern = field.kind.pattern().map(|pattern| match field.required {
                        true => pattern,
                        false => format!("^$|{pattern}"),
                    });
                    let pattern = pattern.map(|pattern| Spanned::new(pattern, Span::default()));
                    let default = (!field.required).then(|| template(String::new()));
                    let options = vec![declining(|_| false)];
                    Ask { pattern, default, options, ..self.ask(AskKind::Input, &words) }
                }
            };
            step(self.step_of(at), ask)
        });
        whether.into_iter().chain(fields).collect()
    }

    fn ask(&self, kind: AskKind, words: &str) -> Ask {
        Ask {
            title: Some(template(format!("{{{{ {WORDS}.title }}}}"))),
            ..Ask::new(kind, template(format!("{{{{ {WORDS}.{words} }}}}")))
        }
    }

    /// The name of the step that asks for a field: plain, whatever the server says.
    fn step_of(&self, at: usize) -> String {
        let name = self.fields.get(at).map_or("", |field| field.name.as_str());
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let plain: String = name.chars().take(30).map(plain).collect();
        format!("field_{}_{}", at + 1, plain.trim_matches('_')).trim_end_matches('_').to_owned()
    }

    /// What the templates of its questions show.
    pub fn locals(&self) -> IndexMap<String, Value> {
        let quoted = |text: &str| {
            text.lines().map(|line| format!("\n> {line}")).collect::<Vec<_>>().concat()
        };
        let server = &self.server;
        let note = self.note.as_ref().map(|note| format!("{note}\n\n")).unwrap_or_default();
        let wants: Vec<String> = self
            .fields
            .iter()
            .map(|field| match field.required {
                true => format!("\n> {}", field.name),
                false => format!("\n> {} (may be left out)", field.name),
            })
            .collect();
        let asks = format!("{note}The server `{server}` asks:{}", quoted(&self.message));
        let intro = match wants.is_empty() {
            true => asks.clone(),
            false => format!("{asks}\n\nIt wants to know:{}", wants.concat()),
        };
        let one = self.is_one_choice();
        let field = |field: &Field| {
            let mut text = match one {
                true => format!("{asks}\n> {}", field.name),
                false => format!("The server `{server}` asks for \"{}\":", field.name),
            };
            field.words.iter().for_each(|line| text.push_str(&quoted(line)));
            if let Some(rule) = field.kind.rule() {
                text.push_str(&format!("\n\nThis has to be {rule}."));
            }
            if !field.required && field.kind.options().is_none() {
                text.push_str("\nAn empty answer leaves it out.");
            }
            text
        };
        let labels = |field: &Field| -> Vec<String> {
            let options = field.kind.options().unwrap_or_default();
            options.into_iter().map(|(_, label)| label).collect()
        };
        let words = json!({
            "title": format!("{server} asks"),
            "intro": intro,
            "fields": self.fields.iter().map(field).collect::<Vec<_>>(),
            "labels": self.fields.iter().map(labels).collect::<Vec<_>>(),
        });
        IndexMap::from([(WORDS.to_owned(), words)])
    }

    /// What the server gets, from the answers to the questions of `shown`,
    /// which is this form with some of its words changed.
    ///
    /// # Errors
    /// What is wrong with an answer.
    pub fn content(
        &self,
        shown: &Self,
        answers: &IndexMap<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let mut content = Map::new();
        for (at, (field, seen)) in self.fields.iter().zip(&shown.fields).enumerate() {
            let answer = answers.get(&shown.step_of(at)).and_then(Value::as_str);
            let Some(answer) = answer else { continue };
            let given = match (&field.kind, &seen.kind) {
                (FieldKind::Choice { options }, FieldKind::Choice { options: seen }) => {
                    let at = seen.iter().position(|(value, _)| value == answer);
                    at.and_then(|at| options.get(at)).map(|(value, _)| value.as_str())
                }
                (FieldKind::Boolean, _) => Some(answer).filter(|answer| *answer != LEFT_OUT),
                _ => Some(answer).filter(|answer| field.required || !answer.is_empty()),
            };
            if let Some(given) = given {
                let value = field.kind.value(given);
                let value = value.map_err(|why| format!("{why} (`{}`)", seen.name))?;
                content.insert(field.name.clone(), value);
            }
        }
        Ok(content)
    }
}

impl Field {
    /// A field whose options have a word of ours among them has to be answered.
    fn may_be_left_out(&self) -> bool {
        let options = self.kind.options().unwrap_or_default();
        !self.required && options.iter().all(|(value, _)| value != LEFT_OUT)
    }
}

fn template(text: String) -> Spanned<String> {
    Spanned::new(text, Span::default())
}

fn choice(value: &str, label: &str, description: Option<&str>, action: ChoiceAction) -> Choice {
    Choice {
        label: template(label.to_owned()),
        value: value.to_owned(),
        description: description.map(|text| template(text.to_owned())),
        action,
    }
}

/// Says no to the whole form, in a word that the server does not offer.
fn declining(taken: impl Fn(&str) -> bool) -> Choice {
    let mut word = DECLINE.to_owned();
    while taken(&word) {
        word.insert(0, '-');
    }
    choice(&word, "Decline", Some("the server gets no answer"), ChoiceAction::Cancel)
}

fn step(name: String, ask: Ask) -> Step {
    let span = Span::default();
    let step = Step::bare(Spanned::new(name, span), span, Action::Ask(Box::new(ask)));
    Step { on_error: Some(OnError::Fail), ..step }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, required: bool, kind: FieldKind) -> Field {
        Field { name: name.to_owned(), words: Vec::new(), required, kind }
    }

    fn form(fields: Vec<Field>) -> Form {
        Form { server: "it".into(), index: 0, message: "Sure?".into(), note: None, fields }
    }

    fn names(form: &Form) -> Vec<String> {
        form.steps().into_iter().map(|step| step.name.value).collect()
    }

    #[test]
    fn one_choice_is_one_question() {
        assert_eq!(names(&form(vec![field("ok", true, FieldKind::Boolean)])), ["field_1_ok"]);
        assert_eq!(names(&form(Vec::new())), ["answer"]);
        // A server cannot offer the word that is ours.
        let options = vec![("decline".to_owned(), "Accept".to_owned())];
        let hostile = form(vec![field("_form", true, FieldKind::Choice { options })]);
        assert_eq!(names(&hostile), ["answer", "field_1_form"]);
        let Action::Ask(ask) = &hostile.steps()[1].action else { panic!("it asks") };
        let words: Vec<_> = ask.options.iter().map(|o| (o.value.as_str(), o.action)).collect();
        assert_eq!(words, [("decline", ChoiceAction::Proceed), ("-decline", ChoiceAction::Cancel)]);
    }

    #[test]
    fn answers_become_what_the_server_wants() {
        let options = vec![("s3cret".to_owned(), "One".to_owned()), ("b".into(), "Two".into())];
        let asked = form(vec![
            field(
                "../../n",
                true,
                FieldKind::Number { whole: true, least: Some(1.0), most: Some(9.0) },
            ),
            field("c", true, FieldKind::Choice { options }),
            field("ok", false, FieldKind::Boolean),
            field("t", false, FieldKind::Text { pattern: None, rule: None }),
        ]);
        let shown = asked.map(|text| text.replace("s3cret", "***"));
        let given = |n: &str, ok: &str, t: &str| {
            IndexMap::from([
                ("field_1_n".to_owned(), json!(n)),
                ("field_2_c".to_owned(), json!("***")),
                ("field_3_ok".to_owned(), json!(ok)),
                ("field_4_t".to_owned(), json!(t)),
            ])
        };
        let content = asked.content(&shown, &given("7", "-", "")).expect("it fits");
        assert_eq!(Value::Object(content), json!({ "../../n": 7, "c": "s3cret" }));
        let content = asked.content(&shown, &given("7", "no", "x")).expect("it fits");
        assert_eq!(content["ok"], json!(false));
        assert_eq!(content["t"], json!("x"));
        let wrong = asked.content(&shown, &given("10", "no", "x")).expect_err("too much");
        assert_eq!(wrong, "`10` is not a whole number from 1 to 9 (`../../n`)");
    }
}
