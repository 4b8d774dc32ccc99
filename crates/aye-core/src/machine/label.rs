//! What the items of a `foreach` are called.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::diagnostic::visible;
use crate::skill::ForEach;
use crate::text::{self, Scope, TextError};

use super::run::Machine;

/// As much of a name as is kept.
const LONGEST: usize = 40;

/// What items that are mappings are called by, the first that there is.
const NAMES: [&str; 3] = ["name", "id", "key"];

impl Machine {
    /// The items' labels, in order: what `label:` says, or else their value. One
    /// that says nothing, or holds a secret, is empty: the number has to do.
    pub(super) fn labels(
        &self,
        each: &ForEach,
        items: &[Value],
        scope: &Scope,
    ) -> Result<Vec<String>, TextError> {
        let mut seen: HashMap<String, u32> = HashMap::new();
        let mut labels = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let said = match &each.label {
                None => plain(item),
                Some(label) => {
                    let mut locals = IndexMap::clone(&scope.locals);
                    locals.insert(each.name.clone(), item.clone());
                    locals.insert("index".to_owned(), json!(index));
                    text::text(label, &Scope { locals: Arc::new(locals), ..scope.clone() })?
                }
            };
            let line = said.trim().lines().next().unwrap_or_default().trim_end();
            let label = match self.secrets.mask(line) == line {
                // It stands in paths and in front of lines.
                true => cut(&visible(line)),
                false => String::new(),
            };
            let times = seen.entry(label.clone()).or_insert(0);
            *times += 1;
            labels.push(match (label.is_empty(), *times) {
                (true, _) | (_, 1) => label,
                (false, times) => format!("{label}#{times}"),
            });
        }
        Ok(labels)
    }
}

/// A value that is short enough to be a name.
fn plain(item: &Value) -> String {
    match item {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => item.to_string(),
        Value::Object(map) => {
            let named = NAMES.iter().filter_map(|name| map.get(*name));
            let mut named = named.filter(|value| !value.is_object()).map(plain);
            named.find(|name| !name.is_empty()).unwrap_or_default()
        }
        Value::Null | Value::Array(_) => String::new(),
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}
