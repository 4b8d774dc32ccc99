//! JSON schemas, as far as our types make them, as TypeScript.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A definition that others can import.
pub(super) fn declaration(name: &str, schema: &Value) -> String {
    let mut text = comment(schema, "");
    let body = type_of(schema, "");
    let space = if body.starts_with('\n') { "" } else { " " };
    let _ = writeln!(text, "export type {name} ={space}{body};");
    text
}

/// What a schema says of itself, as a comment.
fn comment(schema: &Value, indent: &str) -> String {
    let Some(about) = schema["description"].as_str() else { return String::new() };
    let about = about.replace("*/", "* /");
    let lines: Vec<&str> = about.lines().map(str::trim_end).collect();
    match lines[..] {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        _ => {
            let lines: String = lines.iter().map(|line| format!("{indent} * {line}\n")).collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

/// The type of a schema: all that its parts say holds at once.
fn type_of(schema: &Value, indent: &str) -> String {
    let Some(parts) = schema.as_object() else {
        return if schema == false { "never" } else { "unknown" }.to_owned();
    };
    let mut all = Vec::new();
    if let Some(name) = parts.get("$ref").and_then(Value::as_str) {
        all.push(name.rsplit('/').next().unwrap_or(name).to_owned());
    }
    match (parts.get("const"), parts.get("enum").and_then(Value::as_array)) {
        (Some(value), _) => all.push(value.to_string()),
        (None, Some(words)) => all.push(union(words.iter().map(Value::to_string).collect())),
        (None, None) => all.extend(plain_type(parts, indent)),
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(ways) = parts.get(key).and_then(Value::as_array) {
            let ways = ways.iter().map(|way| documented(way, indent)).collect();
            all.push(alternatives(ways, indent));
        }
    }
    if let Some(every) = parts.get("allOf").and_then(Value::as_array) {
        all.extend(every.iter().map(|one| type_of(one, indent)));
    }
    match &mut all[..] {
        [] => "unknown".to_owned(),
        [one] => std::mem::take(one),
        _ => all.iter().map(|one| in_brackets(one)).collect::<Vec<_>>().join(" & "),
    }
}

/// One of several types; what is said of objects among them stays with them.
fn documented(schema: &Value, indent: &str) -> String {
    let text = type_of(schema, indent);
    match schema["description"].as_str() {
        Some(about) if text.contains('{') => {
            format!("/** {} */ {text}", about.replace("*/", "* /").replace('\n', " "))
        }
        Some(_) | None => text,
    }
}

/// One of several types, each on a line of its own where they are objects. What may be
/// anything adds no field.
fn alternatives(ways: Vec<String>, indent: &str) -> String {
    if !ways.iter().any(|way| way.contains('\n')) {
        return union(ways);
    }
    let ways = ways.iter().map(|way| match way.as_str() {
        "unknown" => format!("\n{indent}| {{}}"),
        way => format!("\n{indent}| {way}"),
    });
    ways.collect()
}

/// What `type` says.
fn plain_type(parts: &Map<String, Value>, indent: &str) -> Option<String> {
    let one = |kind: &str| match kind {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => array(parts, indent),
        "object" => object(parts, indent),
        other => panic!("a schema says `type: {other}`"),
    };
    match parts.get("type") {
        Some(Value::String(kind)) => Some(one(kind)),
        Some(Value::Array(kinds)) => {
            Some(union(kinds.iter().filter_map(Value::as_str).map(one).collect()))
        }
        Some(other) => panic!("a schema says `type: {other}`"),
        None if parts.contains_key("properties") => Some(object(parts, indent)),
        None => None,
    }
}

fn array(parts: &Map<String, Value>, indent: &str) -> String {
    if let Some(items) = parts.get("prefixItems").and_then(Value::as_array) {
        let items: Vec<String> = items.iter().map(|item| type_of(item, indent)).collect();
        return format!("[{}]", items.join(", "));
    }
    let item = parts.get("items").map_or("unknown".to_owned(), |item| type_of(item, indent));
    format!("{}[]", in_brackets(&item))
}

fn object(parts: &Map<String, Value>, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let mut fields = String::new();
    let required = |name: &str| {
        let names = parts.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|one| one == name))
    };
    for (name, schema) in parts.get("properties").and_then(Value::as_object).into_iter().flatten() {
        fields.push_str(&comment(schema, &inner));
        let mark = if required(name) { "" } else { "?" };
        let _ = writeln!(fields, "{inner}{name}{mark}: {};", type_of(schema, &inner));
    }
    let more = parts.get("additionalProperties").filter(|more| **more != Value::Bool(false));
    match (fields.is_empty(), more) {
        (true, more) => {
            let values = more.map_or("unknown".to_owned(), |more| type_of(more, indent));
            format!("Record<string, {values}>")
        }
        (false, _) => format!("{{\n{fields}{indent}}}"),
    }
}

/// In brackets, unless it is one thing.
fn in_brackets(text: &str) -> String {
    let mut depth = 0;
    let is_joined = text.chars().any(|c| {
        depth += match c {
            '{' | '[' | '(' => 1,
            '}' | ']' | ')' => -1,
            _ => 0,
        };
        depth == 0 && matches!(c, '|' | '&')
    });
    match is_joined {
        true => format!("({text})"),
        false => text.to_owned(),
    }
}

/// One of these. Beside known words any other may come: editors still offer those.
fn union(mut ways: Vec<String>) -> String {
    ways.dedup();
    let has_words = ways.iter().any(|way| way.contains('"') && !way.contains('{'));
    for way in &mut ways {
        if way == "string" && has_words {
            *way = "(string & {})".to_owned();
        }
    }
    ways.join(" | ")
}
