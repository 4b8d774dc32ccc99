//! JSON values as people write and name them.
//!
//! Touches nothing; messages, questions and command lines say values with it.

use serde_json::Value;

/// A value as people write it: a text without quotes, anything else as JSON.
pub fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What kind of value it is, in words.
pub fn kind_in_words(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
