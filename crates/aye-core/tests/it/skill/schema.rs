//! The published schema is the one the types generate.

use std::path::Path;

use aye_core::skill::schema;

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may read and write files")]
fn the_published_schema_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/skill.schema.json");
    let mut generated = serde_json::to_string_pretty(&schema()).expect("JSON");
    generated.push('\n');
    if std::env::var_os("AYE_UPDATE").is_some() {
        std::fs::write(&path, &generated).expect("the schema can be written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == generated, "run the tests once with AYE_UPDATE=1");
}

#[test]
fn every_key_has_a_description() {
    let schema = schema();
    let definitions = schema["$defs"].as_object().expect("definitions");
    for (name, definition) in definitions {
        let Some(properties) = definition["properties"].as_object() else { continue };
        for (key, property) in properties {
            assert!(property["description"].is_string(), "{name}.{key}");
        }
        // Transitions may be named after answers, which only the skill knows.
        let open = name == "Transitions";
        assert_eq!(definition["additionalProperties"] == false, !open, "{name}");
    }
    for (definition, key) in [
        ("Skill", "initialState"),
        ("Skill", "globalTimeout"),
        ("Question", "learn_preference"),
        ("Question", "defaultAccept"),
        ("State", "on_success"),
        ("Step", "confirmation"),
    ] {
        assert!(definitions[definition]["properties"][key].is_object(), "{definition}.{key}");
    }
    assert!(definitions["Step"]["properties"]["transitions"].is_null());
    assert!(definitions["State"]["properties"]["name"].is_null());
}
