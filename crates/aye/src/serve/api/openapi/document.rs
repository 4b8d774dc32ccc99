//! The whole document.

use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

use super::Operation;

/// Where definitions are.
const DEFINITIONS: &str = "/components/schemas";

/// The schemas of what is sent, and of what comes back: a field that may be left
/// out of one may always be there in the other.
pub(in crate::serve) struct Schemas {
    pub(in crate::serve) requests: SchemaGenerator,
    pub(in crate::serve) replies: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let generator = |contract: Contract| {
            let settings = SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = DEFINITIONS.into();
                settings.meta_schema = None;
                settings.contract = contract;
            });
            settings.into_generator()
        };
        Self { requests: generator(Contract::Deserialize), replies: generator(Contract::Serialize) }
    }
}

impl Schemas {
    /// Every definition by its name, and the names that mean two things.
    pub(in crate::serve) fn definitions(self) -> (Map<String, Value>, Vec<String>) {
        let (mut requests, mut replies) = (self.requests, self.replies);
        let mut all = replies.take_definitions(true);
        let mut twice = Vec::new();
        for (name, schema) in requests.take_definitions(true) {
            match all.get(&name) {
                Some(known) if *known != schema => twice.push(name),
                Some(_) => {}
                None => {
                    all.insert(name, schema);
                }
            }
        }
        all.sort_keys();
        (all, twice)
    }
}

/// What is known of the routes.
#[derive(Default)]
pub(in crate::serve) struct Document {
    pub(in crate::serve) schemas: Schemas,
    paths: Map<String, Value>,
}

impl Document {
    /// Adds a method of a path.
    pub(super) fn add(
        &mut self,
        method: &str,
        path: &str,
        summary: &str,
        describe: impl FnOnce(&mut Operation<'_>),
    ) {
        let mut operation = Operation {
            schemas: &mut self.schemas,
            path,
            parameters: Vec::new(),
            body: None,
            responses: Map::new(),
            is_open: true,
        };
        describe(&mut operation);
        let Operation { parameters, body, responses, is_open, .. } = operation;
        let mut told = Map::new();
        told.insert("summary".to_owned(), summary.into());
        if !parameters.is_empty() {
            told.insert("parameters".to_owned(), parameters.into());
        }
        if let Some(body) = body {
            told.insert("requestBody".to_owned(), body);
        }
        told.insert("responses".to_owned(), responses.into());
        if is_open {
            told.insert("security".to_owned(), json!([]));
        }
        let entry = self.paths.entry(path.to_owned()).or_insert_with(|| json!({}));
        entry[method] = told.into();
    }

    /// The document.
    pub(in crate::serve) fn into_json(self) -> Value {
        let (schemas, _) = self.schemas.definitions();
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Aye",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Runs, questions and skills of `aye serve`; see docs/reference/server.md.",
            },
            "servers": [{ "url": "/api/v1" }],
            "security": [{ "token": [] }, { "session": [], "secret": [] }],
            "paths": self.paths,
            "components": {
                "securitySchemes": {
                    "token": { "type": "http", "scheme": "bearer" },
                    "session": {
                        "type": "apiKey", "in": "cookie", "name": "aye_session",
                        "description": "`aye_session_` and eight digits of the home's digest",
                    },
                    "secret": { "type": "apiKey", "in": "header", "name": "X-Aye-Secret" },
                },
                "schemas": schemas,
            },
        })
    }
}
