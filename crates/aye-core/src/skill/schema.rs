//! The published schema, generated from the document types.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::document::{ALIASES, SkillDoc, SkillsDoc};

/// A file: one skill or several.
struct File;

impl JsonSchema for File {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Aye skill file".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<SkillDoc>();
        let several = generator.subschema_for::<SkillsDoc>();
        json_schema!({
            "description": "A skill for Aye, or several under `workflows`.",
            "type": "object",
            "if": { "required": ["workflows"] },
            "then": several,
            "else": { "allOf": [one, { "required": ["name"] }] },
        })
    }
}

/// The JSON schema of skill files, draft 2020-12.
pub fn schema() -> Value {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<File>();
    let mut schema = schema.to_value();
    add_aliases(&mut schema);
    let Value::Object(mut rest) = schema else {
        return schema;
    };
    let mut root = serde_json::Map::new();
    for key in ["$schema", "title", "description"] {
        if let Some(value) = rest.remove(key) {
            root.insert(key.to_owned(), value);
        }
    }
    root.insert("$id".to_owned(), json!("urn:aye:skill"));
    root.append(&mut rest);
    Value::Object(root)
}

/// The generator knows nothing of older names.
fn add_aliases(schema: &mut Value) {
    for (definition, key, alias) in ALIASES {
        let properties = schema.pointer_mut(&format!("/$defs/{definition}/properties"));
        let Some(properties) = properties.and_then(Value::as_object_mut) else {
            continue;
        };
        let Some(mut value) = properties.get(*key).cloned() else {
            continue;
        };
        value["description"] = json!(format!("The older name of `{key}`."));
        value["deprecated"] = json!(true);
        properties.insert((*alias).to_owned(), value);
    }
}
