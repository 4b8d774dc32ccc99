//! What templates and blocks can look up.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use aye_core::text::{Scope, World};
use aye_runtime::outside::Outside;
use serde_json::{Value, json};

/// A scope with a little of everything.
pub(super) fn scope() -> Scope {
    let map = |value: Value| match value {
        Value::Object(map) => map.into_iter().collect::<indexmap::IndexMap<_, _>>(),
        _ => indexmap::IndexMap::new(),
    };
    let env = BTreeMap::from([("HOME".to_owned(), "/home/ann".to_owned())]);
    let outside =
        Outside::new(Arc::new(env), PathBuf::from("/nowhere/work"), "2026-01-01".to_owned());
    Scope {
        world: World { now: jiff::Timestamp::UNIX_EPOCH, names: Arc::new(outside) },
        inputs: Arc::new(map(json!({ "commit": "abc123", "count": 3, "flags": { "fast": true } }))),
        outputs: Arc::new(map(json!({
            "image": { "exists": true, "tags": ["a", "b"] },
            "n": 7, "x": 1.5, "text": "one\ntwo\n", "rows": [{ "a": 1 }, { "a": 2 }],
            "long": "word ".repeat(2000), "nothing": null,
        }))),
        locals: Arc::default(),
        steps: Arc::default(),
        secrets: Arc::default(),
        run: Arc::new(json!({ "id": "run00001" })),
        skill: Arc::new(json!({ "name": "test" })),
        lenient: false,
    }
}
