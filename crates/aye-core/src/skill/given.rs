//! Inputs of a run: what was given, checked against what the skill asks for.

use indexmap::IndexMap;
use serde_json::Value;

use crate::diagnostic::{did_you_mean, quote};
use crate::secrets::Secrets;
use crate::value::as_text;

use super::inputs::InputMismatch;
use super::model::{InputSpec, InputType};

/// An input as it was given.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// Text from a command line or a prompt; read as the input's type.
    Text(String),
    /// Data from a file or a caller.
    Data(Value),
}

/// The inputs of a run, ready to start it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inputs {
    /// Every input of the skill; secrets as text.
    pub values: IndexMap<String, Value>,
    /// The secret ones.
    pub secrets: Secrets,
}

/// What is wrong with the inputs given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The skill has no such input.
    #[error("the skill has no input `{name}`")]
    Unknown {
        /// The name given.
        name: String,
        /// The nearest that exists.
        nearest: Option<String>,
        /// All that exist.
        known: Vec<String>,
    },
    /// A required input is missing.
    #[error("input `{0}` is missing")]
    Missing(String),
    /// A required secret is missing, and the skill does not say where to read it.
    #[error("secret input `{0}` is missing")]
    MissingSecret(String),
    /// A value is not of the type, not in the list, or does not match.
    #[error("input `{name}`: {problem}")]
    Invalid {
        /// Which.
        name: String,
        /// What is wrong with it.
        problem: String,
        /// The value allowed that was probably meant.
        nearest: Option<String>,
    },
}

impl InputError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { nearest: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            Self::Unknown { name, known, .. } => {
                let takes = match known.is_empty() {
                    true => "it takes no inputs".to_owned(),
                    false => format!("it takes: {}", known.join(", ")),
                };
                let declare = format!("`- {{ name: {name}, type: string }}` under `inputs:`");
                Some(format!("{takes}; declare it in the skill: {declare}"))
            }
            Self::Missing(name) => Some(format!("give it with `-i {name}=…`")),
            // Not `-i`: a shell keeps what follows it in its history.
            Self::MissingSecret(_) => Some(
                "run it on a terminal, which asks for it, or say in the skill where to read it: \
                 `from: { env: NAME }`"
                    .to_owned(),
            ),
            Self::Invalid { nearest, .. } => {
                nearest.as_ref().map(|near| format!("did you mean `{near}`?"))
            }
        }
    }
}

/// Checks what was given, applies defaults (through `render`, since a default
/// may be a template), and reports everything that is wrong at once.
pub fn resolve_inputs(
    specs: &[InputSpec],
    mut given: IndexMap<String, Given>,
    render: impl Fn(&Value) -> Result<Value, String>,
) -> Result<Inputs, Vec<InputError>> {
    let mut errors = Vec::new();
    let mut inputs = Inputs::default();
    for spec in specs {
        let name = spec.name.value.clone();
        let value = match given.shift_remove(&name) {
            Some(Given::Text(text)) => read_text(spec.kind, &text),
            Some(Given::Data(data)) if !data.is_null() => coerce(spec.kind, data),
            // Nothing was given, in so many words.
            Some(Given::Data(_)) | None => match &spec.default {
                Some(default) => render(default).and_then(|value| coerce(spec.kind, value)),
                // The driver of the run reads it.
                None if spec.from.is_some() => {
                    inputs.values.insert(name, Value::Null);
                    continue;
                }
                None if spec.required => {
                    errors.push(match spec.kind {
                        InputType::Secret => InputError::MissingSecret(name),
                        _ => InputError::Missing(name),
                    });
                    continue;
                }
                None => Ok(Value::Null),
            },
        };
        let checked = value.map_err(|problem| (problem, None)).and_then(|value| check(spec, value));
        match checked {
            Ok(value) => {
                if let (InputType::Secret, Value::String(text)) = (spec.kind, &value) {
                    inputs.secrets.insert(name.clone(), text.clone());
                }
                inputs.values.insert(name, value);
            }
            Err((problem, nearest)) => {
                errors.push(InputError::Invalid { name, problem, nearest });
            }
        }
    }
    let known: Vec<String> = specs.iter().map(|spec| spec.name.value.clone()).collect();
    errors.extend(given.into_keys().map(|name| InputError::Unknown {
        nearest: did_you_mean(&name, known.iter().map(String::as_str)).map(str::to_owned),
        known: known.clone(),
        name,
    }));
    if errors.is_empty() { Ok(inputs) } else { Err(errors) }
}

impl InputSpec {
    /// Reads text from a command line or a prompt as a value of the input.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        read_text(self.kind, text)
    }
}

/// Reads text as a value of the type.
fn read_text(kind: InputType, text: &str) -> Result<Value, String> {
    match kind {
        InputType::String | InputType::Secret => Ok(Value::String(text.to_owned())),
        InputType::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" | "on" | "1" => Ok(Value::Bool(true)),
            "false" | "no" | "n" | "off" | "0" => Ok(Value::Bool(false)),
            _ => Err(format!("`{text}` is neither `true` nor `false`")),
        },
        InputType::Array => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => Ok(items.into()),
            // Half a list in brackets is a slip, not one of strange words.
            Err(error) if text.trim_start().starts_with('[') => {
                Err(format!("`{text}` is not a list: {error}"))
            }
            // `-i tags=a,b` is what people write for a list.
            Ok(_) | Err(_) => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Ok(items.map(|item| Value::String(item.to_owned())).collect())
            }
        },
        InputType::Integer | InputType::Number | InputType::Object => {
            match serde_json::from_str(text) {
                Ok(value) if kind.holds(&value) => coerce(kind, value),
                // Whole, and all the same not one of ours.
                Ok(_) | Err(_) if kind == InputType::Integer && is_whole(text) => {
                    Err(format!("`{text}` is beyond 64 bits"))
                }
                Ok(_) | Err(_) => Err(format!("`{text}` is not {}", kind.words())),
            }
        }
    }
}

/// Whether a text is digits and nothing else, perhaps with a sign.
fn is_whole(text: &str) -> bool {
    let digits = text.trim().trim_start_matches('-');
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Takes a value as the type it is meant to be, where it can only mean one;
/// whether it fits is for [`check`] to say.
fn coerce(kind: InputType, value: Value) -> Result<Value, String> {
    match (kind, &value) {
        (InputType::String | InputType::Secret, Value::Number(_) | Value::Bool(_)) => {
            Ok(Value::String(value.to_string()))
        }
        (InputType::Integer | InputType::Number | InputType::Boolean, Value::String(text)) => {
            read_text(kind, text)
        }
        (_, _) => Ok(value),
    }
}

/// Checks type, `enum` and `match`; an optional input may be nothing.
/// What is wrong names the value, and the one that was probably meant.
fn check(spec: &InputSpec, value: Value) -> Result<Value, (String, Option<String>)> {
    if value.is_null() && !spec.required {
        return Ok(value);
    }
    let Err(mismatch) = spec.check(&value) else { return Ok(value) };
    if spec.kind == InputType::Secret {
        return Err((mismatch.to_string(), None));
    }
    let given = as_text(&value);
    let nearest = match mismatch {
        InputMismatch::Enum { .. } => nearest_choice(&given, &spec.choices),
        InputMismatch::Type { .. } | InputMismatch::Pattern { .. } => None,
    };
    Err((format!("{} {mismatch}", quote(&given)), nearest))
}

/// The one of these values that a text is a slip for, or the beginning of.
fn nearest_choice(given: &str, choices: &[Value]) -> Option<String> {
    let choices: Vec<String> = choices.iter().map(as_text).collect();
    let folded = given.to_lowercase();
    let begins =
        |choice: &&String| given.chars().count() > 1 && choice.to_lowercase().starts_with(&folded);
    let mut begun = choices.iter().filter(begins);
    match (begun.next(), begun.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => did_you_mean(given, choices.iter().map(String::as_str)).map(str::to_owned),
    }
}
