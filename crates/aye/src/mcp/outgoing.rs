//! The edge of the server: every text that leaves it goes through here.
//!
//! Skills, steps, files, other clients and the journal hold texts that others
//! wrote. Anyone who shows a message to a person may show it on a terminal, so
//! control, bidirectional and zero-width characters are written out.

use rmcp::ErrorData;
use rmcp::model::CallToolResponse;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::paint::escape_control_lines;

/// A result or an error with nothing in any of its texts, names of fields
/// included, that steers a terminal or hides.
pub(super) fn harmless<T: Serialize + DeserializeOwned>(
    said: Result<T, ErrorData>,
) -> Result<T, ErrorData> {
    let made = said.map_err(harmless_error).map(serde_json::to_value)?;
    let made = made.map(harmless_value).and_then(serde_json::from_value);
    made.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// The same for what a call of a tool answers.
pub(super) fn harmless_call(
    said: Result<CallToolResponse, ErrorData>,
) -> Result<CallToolResponse, ErrorData> {
    Ok(match said.map_err(harmless_error)? {
        CallToolResponse::Complete(result) => harmless(Ok(result))?.into(),
        CallToolResponse::InputRequired(form) => harmless(Ok(form))?.into(),
        CallToolResponse::Task(task) => harmless(Ok(task))?.into(),
        _ => return Err(ErrorData::internal_error("an answer of an unknown kind", None)),
    })
}

fn harmless_error(error: ErrorData) -> ErrorData {
    let message = harmless_text(&error.message).into();
    ErrorData { message, data: error.data.map(harmless_value), ..error }
}

fn harmless_value(value: Value) -> Value {
    match value {
        Value::String(text) => harmless_text(&text).into(),
        Value::Array(items) => items.into_iter().map(harmless_value).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (harmless_text(&name), harmless_value(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn harmless_text(text: &str) -> String {
    let mut made = escape_control_lines(text);
    if text.ends_with('\n') {
        made.push('\n');
    }
    made
}
