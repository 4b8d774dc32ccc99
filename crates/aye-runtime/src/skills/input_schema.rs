//! The inputs of a skill as a JSON schema, for forms.

use aye_core::skill::{InputSpec, InputType};
use serde_json::{Map, Value, json};

/// The schema of the object that a start is given.
pub fn input_schema(inputs: &[InputSpec]) -> Value {
    let properties: Map<String, Value> =
        inputs.iter().map(|input| (input.name.value.clone(), property(input))).collect();
    let required: Vec<&str> = inputs
        .iter()
        .filter(|input| input.has_to_be_given())
        .map(|input| input.name.value.as_str())
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(input: &InputSpec) -> Value {
    let kind = match input.kind {
        InputType::String | InputType::Secret => "string",
        InputType::Integer => "integer",
        InputType::Number => "number",
        InputType::Boolean => "boolean",
        InputType::Array => "array",
        InputType::Object => "object",
    };
    let mut schema = json!({ "type": kind });
    if let Some(about) = &input.description {
        schema["description"] = json!(about);
    }
    if !input.choices.is_empty() {
        schema["enum"] = json!(input.choices);
    }
    if let Some(pattern) = &input.pattern {
        schema["pattern"] = json!(pattern.value);
    }
    if input.kind == InputType::Secret {
        schema["format"] = json!("password");
        schema["writeOnly"] = json!(true);
    } else if let Some(default) = &input.default {
        schema["default"] = default.clone();
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::input_schema;
    use crate::skills::SkillFile;

    #[test]
    fn a_form_can_be_made_of_it() {
        let text = "name: s\ninputs:\n  - { name: commit, type: string, required: true, match: '^[0-9a-f]+$' }\n  \
            - { name: count, type: integer, default: 3 }\n  - { name: token, type: secret, required: false }\n\
            steps:\n  - { name: one, command: 'true' }\n";
        let file = SkillFile::from_text("s.yaml".into(), text.to_owned());
        let schema = input_schema(&file.flows[0].skill.inputs);
        assert_eq!(schema["required"], serde_json::json!(["commit"]));
        assert_eq!(schema["properties"]["commit"]["pattern"], "^[0-9a-f]+$");
        assert_eq!(schema["properties"]["count"]["default"], 3);
        assert_eq!(schema["properties"]["token"]["writeOnly"], true);
    }
}
