//! Arguments against a tool's JSON schema, before the call.
//!
//! The part of JSON Schema that tools use: `type`, `required`, `properties`,
//! `additionalProperties`, `items`, `enum`, `const`, bounds, lengths,
//! `pattern`, `anyOf`, `oneOf`, `allOf` and references inside the schema. A
//! keyword that is not known here is left to the server.
//!
//! Nothing is converted, with one exception: text where a number or a truth
//! value is wanted and the text is exactly one, because templates make text.

use std::fmt;

use aye_core::diagnostic::{did_you_mean, quote, quote_list};
use aye_core::pattern::{Work, is_match};
use aye_core::value::{as_text, kind_in_words};
use serde_json::{Map, Value};

/// Deeper than any honest schema.
const DEEPEST: usize = 64;

/// What is wrong with one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where: `a.b[2]`; empty for the value itself.
    pub(crate) path: String,
    /// What, reading on from the name of the value.
    pub(crate) what: String,
    /// What to write instead.
    pub(crate) hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.what),
            path => write!(f, "`{path}` {}", self.what),
        }
    }
}

/// Checks arguments, text converted where the schema wants something else.
pub(crate) fn check_arguments(
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Vec<Problem>> {
    let root = Value::Object(schema.clone());
    let mut value = Value::Object(arguments);
    let mut checker = Checker { root: &root, problems: Vec::new() };
    checker.convert(&root, &mut value, 0);
    checker.check(&root, &value, "", 0);
    match (value, checker.problems.is_empty()) {
        (Value::Object(arguments), true) => Ok(arguments),
        _ => Err(checker.problems),
    }
}

/// Checks one value as it is.
pub(crate) fn check_value(schema: &Value, value: &Value) -> Vec<Problem> {
    let mut checker = Checker { root: schema, problems: Vec::new() };
    checker.check(schema, value, "", 0);
    checker.problems
}

struct Checker<'s> {
    root: &'s Value,
    problems: Vec<Problem>,
}

impl<'s> Checker<'s> {
    /// Follows references inside the schema.
    fn resolve(&self, mut schema: &'s Value) -> &'s Value {
        for _ in 0..DEEPEST {
            let Some(target) = schema.get("$ref").and_then(Value::as_str) else {
                return schema;
            };
            let Some(found) = target.strip_prefix('#').and_then(|at| self.root.pointer(at)) else {
                return &Value::Bool(true);
            };
            schema = found;
        }
        &Value::Bool(true)
    }

    /// The types a schema allows, `None` for any.
    fn types(&self, schema: &'s Value, depth: usize) -> Option<Vec<&'s str>> {
        let schema = self.resolve(schema);
        match schema.get("type") {
            Some(Value::String(one)) => return Some(vec![one]),
            Some(Value::Array(many)) => {
                return Some(many.iter().filter_map(Value::as_str).collect());
            }
            _ => {}
        }
        let members = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array())?;
        let mut all = Vec::new();
        for member in members.iter().filter(|_| depth < DEEPEST) {
            all.extend(self.types(member, depth + 1)?);
        }
        Some(all)
    }

    /// Text that is exactly a number or a truth value, where one is wanted.
    fn convert(&self, schema: &'s Value, value: &mut Value, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        let resolved = self.resolve(schema);
        match value {
            Value::String(text) => {
                if let Some(types) = self.types(schema, 0)
                    && let Some(other) = reading(text, &types)
                {
                    *value = other;
                }
            }
            Value::Array(items) => {
                if let Some(of) = resolved.get("items") {
                    items.iter_mut().for_each(|item| self.convert(of, item, depth + 1));
                }
            }
            Value::Object(map) => {
                let properties = resolved.get("properties");
                for (name, item) in map {
                    if let Some(of) = properties.and_then(|all| all.get(name)) {
                        self.convert(of, item, depth + 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn say(&mut self, path: &str, what: impl Into<String>, hint: Option<String>) {
        self.problems.push(Problem { path: path.to_owned(), what: what.into(), hint });
    }

    fn check(&mut self, schema: &'s Value, value: &Value, path: &str, depth: usize) {
        let schema = self.resolve(schema);
        if depth > DEEPEST || schema == &Value::Bool(true) {
            return;
        }
        let own = match schema.get("type") {
            Some(Value::String(one)) => vec![one.as_str()],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !own.is_empty() && !own.iter().any(|kind| is_of(kind, value)) {
            let wanted: Vec<&str> = own.iter().map(|kind| words(kind)).collect();
            self.say(
                path,
                format!("must be {}, not {}", wanted.join(" or "), kind_in_words(value)),
                None,
            );
            return;
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array)
            && !choices.contains(value)
        {
            let shown: Vec<String> = choices.iter().map(as_text).collect();
            let all = quote_list(shown.iter().map(String::as_str), "or");
            let given = as_text(value);
            let near = did_you_mean(&given, shown.iter().map(String::as_str));
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            // Part of a long text could be part of a secret, which nobody would know any more.
            let given = match given.chars().count() {
                0..=40 => quote(&given),
                long => format!("a text of {long} characters"),
            };
            self.say(path, format!("must be {all}, not {given}"), hint);
        }
        if let Some(only) = schema.get("const").filter(|only| *only != value) {
            self.say(path, format!("must be {}", quote(&as_text(only))), None);
        }
        self.check_size(schema, value, path);
        match value {
            Value::Object(map) => self.check_object(schema, map, path, depth),
            Value::Array(items) => {
                if let Some(of) = schema.get("items") {
                    for (at, item) in items.iter().enumerate() {
                        self.check(of, item, &format!("{path}[{at}]"), depth + 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.check(part, value, path, depth + 1);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(members) = schema.get(key).and_then(Value::as_array) {
                self.check_any(members, value, path, depth);
            }
        }
    }

    fn check_any(&mut self, members: &'s [Value], value: &Value, path: &str, depth: usize) {
        let before = std::mem::take(&mut self.problems);
        let mut tries: Vec<Vec<Problem>> = Vec::new();
        for member in members {
            self.check(member, value, path, depth + 1);
            tries.push(std::mem::take(&mut self.problems));
        }
        self.problems = before;
        if tries.iter().any(Vec::is_empty) {
            return;
        }
        // What is wrong deeper down says more than that the kind is wrong.
        let own = |tried: &&Vec<Problem>| tried.iter().any(|problem| problem.path != path);
        match tries.iter().find(own) {
            Some(closest) => self.problems.extend(closest.iter().cloned()),
            None => {
                let mut kinds: Vec<&str> = Vec::new();
                for member in members {
                    kinds.extend(self.types(member, 0).unwrap_or_default());
                }
                let wanted: Vec<&str> =
                    kinds.iter().filter(|kind| **kind != "null").map(|kind| words(kind)).collect();
                let what = match wanted.is_empty() || kinds.iter().any(|kind| is_of(kind, value)) {
                    true => tries.iter().flatten().next().map_or_else(
                        || "fits none of the allowed forms".to_owned(),
                        |first| first.what.clone(),
                    ),
                    false => {
                        format!("must be {}, not {}", wanted.join(" or "), kind_in_words(value))
                    }
                };
                self.say(path, what, None);
            }
        }
    }

    fn check_object(
        &mut self,
        schema: &'s Value,
        map: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = |name: &str| properties.is_some_and(|all| all.contains_key(name));
        let names: Vec<&str> =
            properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
        let strange: Vec<&str> =
            map.keys().map(String::as_str).filter(|name| !known(name)).collect();
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let Some(name) = name.as_str().filter(|name| !map.contains_key(*name)) else {
                continue;
            };
            let hint = did_you_mean(name, strange.iter().copied())
                .map(|given| format!("`{given}` was given: did you mean `{name}`?"));
            self.say(&below(path, name), "is missing", hint);
        }
        let closed = schema.get("additionalProperties");
        for (name, value) in map {
            if let Some(of) = properties.and_then(|all| all.get(name)) {
                self.check(of, value, &below(path, name), depth + 1);
                continue;
            }
            match closed {
                Some(Value::Bool(false)) if !matches_pattern(schema, name) => {
                    let hint = match did_you_mean(name, names.iter().copied()) {
                        Some(near) => Some(format!("did you mean `{near}`?")),
                        None if names.is_empty() => None,
                        None => {
                            Some(format!("it has {}", quote_list(names.iter().copied(), "and")))
                        }
                    };
                    self.say(&below(path, name), "is not an argument of it", hint);
                }
                Some(of @ Value::Object(_)) => self.check(of, value, &below(path, name), depth + 1),
                _ => {}
            }
        }
    }

    fn check_size(&mut self, schema: &Value, value: &Value, path: &str) {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        if let Some(number) = value.as_f64() {
            if let Some(least) = bound("minimum").filter(|least| number < *least) {
                self.say(path, format!("must be {least} or more, not {number}"), None);
            }
            if let Some(most) = bound("maximum").filter(|most| number > *most) {
                self.say(path, format!("must be {most} or less, not {number}"), None);
            }
            if let Some(least) = bound("exclusiveMinimum").filter(|least| number <= *least) {
                self.say(path, format!("must be more than {least}, not {number}"), None);
            }
            if let Some(most) = bound("exclusiveMaximum").filter(|most| number >= *most) {
                self.say(path, format!("must be less than {most}, not {number}"), None);
            }
        }
        let count = |key: &str| {
            let limit = schema.get(key).and_then(Value::as_u64)?;
            usize::try_from(limit).ok()
        };
        let (length, unit, least, most) = match value {
            Value::String(text) => (text.chars().count(), "characters", "minLength", "maxLength"),
            Value::Array(items) => (items.len(), "items", "minItems", "maxItems"),
            _ => return,
        };
        if let Some(limit) = count(least).filter(|limit| length < *limit) {
            self.say(path, format!("must have at least {limit} {unit}, not {length}"), None);
        }
        if let Some(limit) = count(most).filter(|limit| length > *limit) {
            self.say(path, format!("must have at most {limit} {unit}, not {length}"), None);
        }
        // Patterns are those of JavaScript; one that is not ours to read is the server's.
        if let (Some(text), Some(pattern)) =
            (value.as_str(), schema.get("pattern").and_then(Value::as_str))
            && let Ok(false) = Work::default().is_match(pattern, text)
        {
            self.say(path, format!("does not match {}", quote(pattern)), None);
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn matches_pattern(schema: &Value, name: &str) -> bool {
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    patterns.is_some_and(|all| all.keys().any(|pattern| is_match(pattern, name)))
}

/// What a text says, if it may not stay text.
fn reading(text: &str, types: &[&str]) -> Option<Value> {
    if types.contains(&"string") {
        return None;
    }
    let read: Value = serde_json::from_str(text).ok()?;
    let scalar = matches!(read, Value::Bool(_) | Value::Number(_));
    // Blanks around it are not part of a number.
    let exact = scalar && text.trim() == text;
    (exact && types.iter().any(|kind| is_of(kind, &read))).then_some(read)
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        // Not a type we know: not ours to judge.
        _ => true,
    }
}

/// The type in words, with its article.
pub(crate) fn words(kind: &str) -> &str {
    match kind {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "`true` or `false`",
        "array" => "a list",
        "object" => "a mapping",
        "null" => "nothing",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(schema: Value, arguments: Value) -> Result<Value, Vec<String>> {
        let (Value::Object(schema), Value::Object(arguments)) = (schema, arguments) else {
            panic!("both are objects");
        };
        check_arguments(&schema, arguments).map(Value::Object).map_err(|problems| {
            problems
                .iter()
                .map(|problem| match &problem.hint {
                    Some(hint) => format!("{problem}; {hint}"),
                    None => problem.to_string(),
                })
                .collect()
        })
    }

    #[test]
    fn every_problem_is_named_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "repo_path": { "type": "string" },
                "count": { "type": "integer", "minimum": 1, "maximum": 10 },
                "mode": { "enum": ["fast", "slow"] },
                "files": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                "deep": {
                    "type": "object",
                    "properties": { "on": { "type": "boolean" } },
                    "additionalProperties": false,
                },
            },
            "required": ["repo_path"],
            "additionalProperties": false,
        });
        let given = json!({
            "repo-path": "x", "count": 11, "mode": "fsat", "files": ["a", 1], "deep": { "no": 1 },
        });
        let problems = checked(schema, given).expect_err("nothing of it is right");
        assert_eq!(
            problems,
            [
                "`repo_path` is missing; `repo-path` was given: did you mean `repo_path`?",
                "`repo-path` is not an argument of it; did you mean `repo_path`?",
                "`count` must be 10 or less, not 11",
                "`mode` must be `fast` or `slow`, not `fsat`; did you mean `fast`?",
                "`files[1]` must be text, not a number",
                "`deep.no` is not an argument of it; did you mean `on`?",
            ]
        );
    }

    #[test]
    fn only_exact_text_becomes_a_number_or_a_truth_value() {
        let schema = json!({
            "properties": {
                "count": { "type": "integer" },
                "share": { "anyOf": [{ "type": "number" }, { "type": "null" }] },
                "on": { "type": "boolean" },
                "name": { "type": "string" },
                "either": { "type": ["string", "integer"] },
                "all": { "type": "array", "items": { "type": "integer" } },
            },
        });
        let given = json!({
            "count": "5", "share": "0.5", "on": "true", "name": "5", "either": "5", "all": ["1"],
        });
        let wanted = json!({
            "count": 5, "share": 0.5, "on": true, "name": "5", "either": "5", "all": [1],
        });
        assert_eq!(checked(schema.clone(), given), Ok(wanted));
        for wrong in ["5 ", "5.5", "five", "", "1e999", "[1]", "\"5\""] {
            let problems = checked(schema.clone(), json!({ "count": wrong })).expect_err(wrong);
            assert_eq!(problems, ["`count` must be a whole number, not text"], "{wrong}");
        }
        assert!(checked(schema.clone(), json!({ "on": "yes" })).is_err());
        assert!(checked(schema, json!({ "name": 5 })).is_err(), "nothing becomes text");
    }

    #[test]
    fn references_are_followed_and_circles_end() {
        let schema = json!({
            "properties": {
                "tree": { "$ref": "#/$defs/tree" },
                "loop": { "$ref": "#/$defs/loop" },
                "away": { "$ref": "https://example.org/schema" },
            },
            "$defs": {
                "tree": {
                    "type": "object",
                    "properties": { "below": { "$ref": "#/$defs/tree" } },
                },
                "loop": { "$ref": "#/$defs/loop" },
            },
        });
        let given = json!({ "tree": { "below": { "below": 3 } }, "loop": 1, "away": 2 });
        let problems = checked(schema, given).expect_err("a number is not a tree");
        assert_eq!(problems, ["`tree.below.below` must be a mapping, not a number"]);
    }

    #[test]
    fn alternatives_say_what_would_fit() {
        let schema = json!({
            "properties": {
                "limit": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] },
            },
        });
        assert!(checked(schema.clone(), json!({ "limit": null })).is_ok());
        assert_eq!(
            checked(schema.clone(), json!({ "limit": [] })),
            Err(vec!["`limit` must be a whole number, not a list".to_owned()])
        );
        assert_eq!(
            checked(schema, json!({ "limit": 0 })),
            Err(vec!["`limit` must be 1 or more, not 0".to_owned()])
        );
    }
}
