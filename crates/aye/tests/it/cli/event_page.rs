//! The page of events, from the published description of the API, which is
//! itself made from the types.

use std::path::Path;

use serde_json::Value;

const HEAD: &str = "# Events

Everything that happens in a run is an event. The journal, the socket of `aye serve`, `aye run --json` and editors have the same events in the same words. Output of steps (`step_output`) is streamed beside them and not kept in the journal.

Every event has `v` (the version of this vocabulary), `run`, `seq` (1, 2, 3, … within the run), `at` (UTC) and `type`; over HTTP and the socket also `n`, its number in the whole journal. Fields marked with ? may be missing. New fields and events may come; names are never used again for something else.

Written by the tests from the types: `AYE_UPDATE=1 cargo test -p aye event_page`.
";

/// A text on one line.
fn line(text: &Value) -> String {
    let text = text.as_str().unwrap_or_default().replace('|', "\\|");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The types that a field may have, and the values where only some are possible.
fn kinds(field: &Value) -> Vec<String> {
    match field["anyOf"].as_array().or(field["oneOf"].as_array()) {
        Some(any) => any.iter().flat_map(kinds).filter(|kind| kind != "null").collect(),
        None => vec![one_kind(field)],
    }
}

/// The type of a field, in a few words.
fn kind(field: &Value) -> String {
    let mut kinds = kinds(field);
    let last = kinds.pop().unwrap_or_default();
    if kinds.is_empty() { last } else { format!("{} or {last}", kinds.join(", ")) }
}

fn one_kind(field: &Value) -> String {
    if let Some(name) = field["$ref"].as_str() {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(value) = field["const"].as_str() {
        return format!("`{value}`");
    }
    let named = match &field["type"] {
        Value::Array(types) => {
            types.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("any")
        }
        Value::String(name) => name.as_str(),
        _ => "any",
    };
    if named == "array" { format!("list of {}", kind(&field["items"])) } else { named.to_owned() }
}

/// The fields of an event, and those of the type that it is made of.
fn fields(schemas: &Value, event: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut from = vec![event];
    if let Some(name) = event["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        from.push(&schemas[name]);
    }
    for part in from {
        let Some(properties) = part["properties"].as_object() else { continue };
        let required = part["required"].as_array().cloned().unwrap_or_default();
        for (name, field) in properties.iter().filter(|(name, _)| *name != "type") {
            let mark = if required.iter().any(|required| required == name) { "" } else { "?" };
            let about = line(&field["description"]);
            found.push(format!("| `{name}`{mark} | {} | {about} |\n", kind(field)));
        }
    }
    found
}

fn events() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let api: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let schemas = &api["components"]["schemas"];
    let mut page = HEAD.to_owned();
    for event in schemas["JournalEvent"]["oneOf"].as_array().unwrap() {
        let name = event["properties"]["type"]["const"].as_str().unwrap();
        page.push_str(&format!("\n## {name}\n\n{}\n", line(&event["description"])));
        let fields = fields(schemas, event);
        if !fields.is_empty() {
            page.push_str(&format!("\n| field | type | |\n|---|---|---|\n{}", fields.concat()));
        }
    }
    page
}

#[test]
fn the_page_has_every_event_and_field() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/events.md");
    let wanted = events();
    assert!(wanted.matches("\n## ").count() > 20);
    if std::env::var_os("AYE_UPDATE").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/reference/events.md is old: AYE_UPDATE=1 rewrites it");
}
