//! What would keep a fix from being used: said when it is learned and before someone agrees.

use aye_core::text::names_in;
use serde_json::{Map, Value};

use crate::memory::{Change, look_up_obstacle};
use crate::runtime::Runtime;

impl Runtime {
    /// Why a fix for this tool would not be used as it is; empty if nothing is in its way.
    pub fn fix_obstacles(&self, tool: Option<&str>, change: &Change) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(tool) = change.first.as_ref().and_then(|act| act.tool.as_ref()) {
            if self.tool_facts(tool).is_none() {
                found.push(format!("it begins with the tool `{tool}`, which no settings define"));
            } else if !self.is_read_only(tool) {
                found.push(look_up_obstacle(tool));
            }
        }
        let acts = [&change.first, &change.replace].into_iter().flatten();
        let given = acts.flat_map(|act| act.with.values());
        for value in given.chain(change.args.values()) {
            if let Err(error) = names(value) {
                found.push(format!("`{}` is not a template: {error}", shown(value)));
            }
        }
        let uses_first = |value: &Value| {
            let names = names(value).unwrap_or_default();
            names.iter().any(|name| ["first", "first_parsed"].contains(&first_part(name)))
        };
        if change.first.is_none() && change.args.values().any(uses_first) {
            found.push("its arguments use `first`, but it looks nothing up".to_owned());
        }
        let facts = tool.and_then(|tool| self.tool_facts(tool));
        if let Some(schema) = facts.and_then(|facts| facts.schema) {
            let unknown = change.args.keys().filter(|name| !has_argument(&schema, name));
            let tool = tool.unwrap_or_default();
            found.extend(unknown.map(|name| format!("`{tool}` has no argument `{name}`")));
        }
        found
    }
}

/// The names that the templates in a value use.
fn names(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::String(text) => names_in(text).map_err(|error| error.to_string()),
        Value::Array(items) => items.iter().map(names).collect::<Result<Vec<_>, _>>().map(flat),
        Value::Object(map) => map.values().map(names).collect::<Result<Vec<_>, _>>().map(flat),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(Vec::new()),
    }
}

fn flat(names: Vec<Vec<String>>) -> Vec<String> {
    names.into_iter().flatten().collect()
}

/// Of `first.full_sha` it is `first`.
fn first_part(name: &str) -> &str {
    name.split(['.', '[']).next().unwrap_or(name)
}

/// Whether a tool takes an argument of this name, as far as its schema says.
fn has_argument(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            let others = schema.get("additionalProperties");
            properties.contains_key(name) || others.is_some_and(|others| *others != false)
        }
        None => true,
    }
}

fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    crate::fmt::cut(&text, 60)
}
