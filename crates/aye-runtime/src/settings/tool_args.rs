//! The typed arguments of a command in `aye.toml`, as a JSON schema.

use aye_core::diagnostic::{Diagnostic, did_you_mean, quote, quote_list};
use aye_core::pattern::Work;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toml::Spanned;

use crate::schema::check_value;

use super::tools::wrong;

const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// One argument as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    #[serde(default = "text", rename = "type")]
    kind: String,
    #[serde(default)]
    required: bool,
    description: Option<String>,
    #[serde(rename = "enum")]
    choices: Option<Vec<Value>>,
    default: Option<Value>,
    #[serde(rename = "match")]
    pattern: Option<String>,
    min: Option<Value>,
    max: Option<Value>,
}

fn text() -> String {
    "string".to_owned()
}

/// The schema of `args = { name = { type = "string", required = true }, … }`.
pub(super) fn schema(args: Option<Spanned<toml::Value>>) -> Result<Map<String, Value>, Diagnostic> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some(args) = args {
        let place = args.span();
        let toml::Value::Table(table) = args.into_inner() else {
            return Err(wrong("`args` says which arguments the command has", place).hint(
                "`args = { name = { type = \"string\", required = true } }`; an MCP server is \
                 written `server = [\"program\", \"argument\"]`",
            ));
        };
        for (name, value) in table {
            let argument: Argument = value.try_into().map_err(|error: toml::de::Error| {
                let message = error.message().replace("unknown field", "unknown key");
                wrong(format!("argument {}: {message}", quote(&name)), place.clone())
            })?;
            if argument.required {
                required.push(Value::String(name.clone()));
            }
            let property = argument.into_schema(&name, &place)?;
            properties.insert(name, property);
        }
    }
    let all = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    match all {
        Value::Object(map) => Ok(map),
        _ => Ok(Map::new()),
    }
}

impl Argument {
    fn into_schema(self, name: &str, place: &std::ops::Range<usize>) -> Result<Value, Diagnostic> {
        let at =
            |message: String| wrong(format!("argument {}: {message}", quote(name)), place.clone());
        if !TYPES.contains(&self.kind.as_str()) {
            let hint = match did_you_mean(&self.kind, TYPES) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("types are {}", quote_list(TYPES, "and")),
            };
            return Err(at(format!("there is no type {}", quote(&self.kind))).hint(hint));
        }
        if self.required && self.default.is_some() {
            return Err(at("it is required, so its `default` is never used".to_owned())
                .hint("leave out one of the two"));
        }
        if let Some(pattern) = &self.pattern
            && Work::default().check(pattern).is_err()
        {
            return Err(at(format!("`match` is not a regular expression: {}", quote(pattern))));
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), Value::String(self.kind));
        let optional = [
            ("description", self.description.map(Value::String)),
            ("enum", self.choices.map(Value::Array)),
            ("pattern", self.pattern.map(Value::String)),
            ("minimum", self.min),
            ("maximum", self.max),
            ("default", self.default),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                schema.insert(key.to_owned(), value);
            }
        }
        let schema = Value::Object(schema);
        if let Some(default) = schema.get("default") {
            let found = check_value(&schema, default);
            if let Some(problem) = found.first() {
                return Err(at(format!("its `default` {problem}")));
            }
        }
        Ok(schema)
    }
}
