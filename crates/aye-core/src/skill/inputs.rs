//! Inputs of a run: what was given, checked against what the skill asks for.

use indexmap::IndexMap;
use serde_json::Value;

use crate::machine::Secrets;
use crate::text::nearest;

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
    /// A value is not of the type, not in the list, or does not match.
    #[error("input `{name}`: {problem}")]
    Invalid {
        /// Which.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl InputError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { nearest: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            Self::Unknown { known, .. } if known.is_empty() => {
                Some("it takes no inputs".to_owned())
            }
            Self::Unknown { known, .. } => Some(format!("it takes: {}", known.join(", "))),
            Self::Missing(name) => Some(format!("give it with `-i {name}=…`")),
            Self::Invalid { .. } => None,
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
            Some(Given::Data(data)) => coerce(spec.kind, data),
            None => match &spec.default {
                Some(default) => render(default).and_then(|value| coerce(spec.kind, value)),
                None if spec.required => {
                    errors.push(InputError::Missing(name));
                    continue;
                }
                None => Ok(Value::Null),
            },
        };
        match value.and_then(|value| check_value(spec, value)) {
            Ok(value) => {
                if let (InputType::Secret, Value::String(text)) = (spec.kind, &value) {
                    inputs.secrets.insert(name.clone(), text.clone());
                }
                inputs.values.insert(name, value);
            }
            Err(problem) => errors.push(InputError::Invalid { name, problem }),
        }
    }
    let known: Vec<String> = specs.iter().map(|spec| spec.name.value.clone()).collect();
    errors.extend(given.into_keys().map(|name| InputError::Unknown {
        nearest: nearest(&name, &known).map(str::to_owned),
        known: known.clone(),
        name,
    }));
    if errors.is_empty() { Ok(inputs) } else { Err(errors) }
}

/// Reads text as a value of the type.
fn read_text(kind: InputType, text: &str) -> Result<Value, String> {
    match kind {
        InputType::String | InputType::Secret => Ok(Value::String(text.to_owned())),
        InputType::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" | "on" | "1" => Ok(Value::Bool(true)),
            "false" | "no" | "n" | "off" | "0" => Ok(Value::Bool(false)),
            _ => Err(format!("`{text}` is no boolean; write `true` or `false`")),
        },
        InputType::Integer | InputType::Number | InputType::Array | InputType::Object => {
            match serde_json::from_str(text) {
                Ok(value) => coerce(kind, value),
                // `-i tags=a,b` is what people write for a list.
                Err(_) if kind == InputType::Array => {
                    Ok(text.split(',').map(|item| Value::String(item.trim().to_owned())).collect())
                }
                Err(_) => Err(format!("`{text}` is no {}", word(kind))),
            }
        }
    }
}

/// Accepts a value of the type, and what can only mean one.
pub(super) fn coerce(kind: InputType, value: Value) -> Result<Value, String> {
    let fits = match (kind, &value) {
        (_, Value::Null)
        | (InputType::String | InputType::Secret, Value::String(_))
        | (InputType::Boolean, Value::Bool(_))
        | (InputType::Number, Value::Number(_))
        | (InputType::Array, Value::Array(_))
        | (InputType::Object, Value::Object(_)) => true,
        (InputType::Integer, Value::Number(number)) => number.is_i64() || number.is_u64(),
        (InputType::String, Value::Number(_) | Value::Bool(_)) => {
            return Ok(Value::String(value.to_string()));
        }
        (InputType::Integer | InputType::Number | InputType::Boolean, Value::String(text)) => {
            return read_text(kind, text);
        }
        (_, _) => false,
    };
    if fits { Ok(value) } else { Err(format!("`{value}` is no {}", word(kind))) }
}

/// Checks `enum` and `match`.
pub(super) fn check_value(spec: &InputSpec, value: Value) -> Result<Value, String> {
    if value.is_null() {
        return Ok(value);
    }
    let shown = |value: &Value| match (spec.kind, value) {
        (InputType::Secret, _) => "the value".to_owned(),
        (_, Value::String(text)) => format!("`{text}`"),
        (_, other) => format!("`{other}`"),
    };
    if !spec.choices.is_empty() && !spec.choices.contains(&value) {
        let choices = spec.choices.iter().map(shown).collect::<Vec<_>>().join(", ");
        return Err(format!("{} is not one of {choices}", shown(&value)));
    }
    if let (Some(pattern), Value::String(text)) = (&spec.pattern, &value) {
        let regex = regex_lite::Regex::new(pattern).map_err(|error| error.to_string())?;
        if !regex.is_match(text) {
            return Err(format!("{} does not match `{}`", shown(&value), pattern.value));
        }
    }
    Ok(value)
}

fn word(kind: InputType) -> &'static str {
    match kind {
        InputType::String => "text",
        InputType::Integer => "whole number",
        InputType::Number => "number",
        InputType::Boolean => "boolean",
        InputType::Array => "list",
        InputType::Object => "mapping",
        InputType::Secret => "text",
    }
}
