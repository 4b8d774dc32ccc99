//! One method of one path.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::document::Schemas;

/// What is said of a method of a path.
pub(in crate::serve::api) struct Operation<'a> {
    pub(super) schemas: &'a mut Schemas,
    /// The path, with names in braces.
    pub(super) path: &'a str,
    pub(super) parameters: Vec<Value>,
    pub(super) body: Option<Value>,
    pub(super) responses: Map<String, Value>,
    /// It needs no token and no session.
    pub(super) is_open: bool,
}

impl Operation<'_> {
    /// The names in the path.
    pub(super) fn path_parameters(&mut self) {
        let names = self.path.split('/').filter_map(|part| part.strip_prefix('{'));
        for name in names.filter_map(|part| part.strip_suffix('}')) {
            let schema = json!({ "type": "string" });
            self.parameters
                .push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
        }
    }

    /// The fields of a type, after `?`.
    pub(super) fn query<T: JsonSchema>(&mut self) {
        let mut schema = T::json_schema(&mut self.schemas.requests).to_value();
        let required = schema["required"].take();
        let is_required =
            |name: &str| required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let Value::Object(properties) = schema["properties"].take() else { return };
        for (name, mut schema) in properties {
            let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            let required = is_required(&name);
            self.parameters.push(json!({
                "name": name, "in": "query", "required": required,
                "description": about.unwrap_or_default(), "schema": schema,
            }));
        }
    }

    /// A header that is sent with it.
    pub(super) fn header(&mut self, name: &str, about: &str) {
        self.parameters.push(json!({
            "name": name, "in": "header", "required": false,
            "description": about, "schema": { "type": "string" },
        }));
    }

    /// The JSON that is sent with it.
    pub(super) fn body<T: JsonSchema>(&mut self) {
        let schema = self.schemas.requests.subschema_for::<T>();
        self.body = Some(json!({ "content": { "application/json": { "schema": schema } } }));
    }

    /// JSON that comes back.
    pub(super) fn replies_json<T: JsonSchema>(&mut self, status: u16, about: &str) {
        let schema = self.schemas.replies.subschema_for::<T>();
        let schema = serde_json::to_value(schema).unwrap_or_default();
        self.replies(status, about, "application/json", &schema);
    }

    /// Something else that comes back.
    pub(super) fn replies_text(&mut self, status: u16, about: &str, kind: &str) {
        self.replies(status, about, kind, &json!({ "type": "string" }));
    }

    /// Nothing comes back.
    pub(super) fn replies_nothing(&mut self, status: u16, about: &str) {
        self.responses.insert(status.to_string(), json!({ "description": about }));
    }

    /// What comes back when it goes wrong.
    pub(super) fn fails<T: JsonSchema>(&mut self) {
        let schema = self.schemas.replies.subschema_for::<T>();
        let content = json!({ "application/problem+json": { "schema": schema } });
        let told = json!({ "description": "A problem", "content": content });
        self.responses.insert("default".to_owned(), told);
    }

    fn replies(&mut self, status: u16, about: &str, kind: &str, schema: &Value) {
        let told = json!({ "description": about, "content": { kind: { "schema": schema } } });
        self.responses.insert(status.to_string(), told);
    }
}
