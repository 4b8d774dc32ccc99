//! Data in a text: what tools answer that give text only.

use serde_json::{Map, Value};

/// What a text holds: JSON, or else its `key: value` lines.
pub fn data_in(text: &str) -> Option<Value> {
    let json = serde_json::from_str::<Value>(text).ok();
    let json = json.filter(|data| data.is_object() || data.is_array());
    json.or_else(|| key_values(text).map(Value::Object))
}

/// The `key: value` lines: keys in lower case, blanks as `_`. A key is a few
/// words, so that prose and JSON are not taken for one.
pub fn key_values(text: &str) -> Option<Map<String, Value>> {
    let mut found = Map::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['-', '*']).trim_start();
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        if !(value.is_empty() || value.starts_with([' ', '\t'])) {
            continue;
        }
        let key = key.trim().trim_matches('*');
        let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/');
        let begins = key.chars().next().is_some_and(char::is_alphanumeric);
        if !begins || key.len() > 60 || !key.chars().all(plain) {
            continue;
        }
        let key = key.to_lowercase().split_whitespace().collect::<Vec<_>>().join("_");
        let value = value.trim().trim_start_matches("**").trim();
        found.insert(key, Value::String(value.to_owned()));
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_comes_before_lines() {
        assert_eq!(data_in("{\"a\": 1}"), Some(json!({ "a": 1 })));
        assert_eq!(data_in("Full SHA: abc\n"), Some(json!({ "full_sha": "abc" })));
        assert_eq!(data_in("12"), None);
        assert_eq!(data_in("some words"), None);
    }
}
