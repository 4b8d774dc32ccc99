//! Trying a tool that only looks: a run of one step, recorded like any other.

use aye_core::id::RunId;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::runtime::Runtime;

use super::script_question::{as_name, literal};
use super::start::StartRequest;
use super::warning::Warning;

impl Runtime {
    /// Starts a run that calls a tool which the user's or a trusted project's
    /// settings mark `read_only`. Its arguments are data, not templates.
    pub fn try_tool(
        &self,
        tool: &str,
        args: &Map<String, Value>,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<RunId, Error> {
        self.must_be_trusted()?;
        if self.tool_facts(tool).is_none() {
            let message = format!("there is no tool `{}`", crate::fmt::escape_control_line(tool));
            let hint = "name a command of the settings, or `SERVER.TOOL`";
            return Err(Error::not_found(message, hint));
        }
        if !self.is_read_only(tool) {
            return Err(Error::Refused {
                message: format!("no settings mark `{tool}` as `read_only`"),
                hint: Some(
                    "a person can mark it with `read_only = true`; the server's own claim does \
                     not count"
                        .to_owned(),
                ),
            });
        }
        let step = json!({
            "name": "call", "tool": tool, "args": as_data(&Value::Object(args.clone())),
            "output": "result", "on_error": "fail",
        });
        let name = format!("try-{}", as_name(tool));
        let skill = json!({
            "name": name, "description": "A tool that was tried", "steps": [step],
            "outputs": [{ "name": "result", "value": "{{ result }}" }],
        });
        let request = StartRequest::of_text(&name, format!("{skill:#}\n"), IndexMap::new(), self);
        self.start_text_detached(request, warn)
    }
}

/// The value whose templates render to exactly this one.
fn as_data(value: &Value) -> Value {
    match value {
        Value::String(text) => literal(text).into(),
        Value::Array(items) => items.iter().map(as_data).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(name, item)| (name.clone(), as_data(item))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
