//! Plain data as YAML that people like to read, and that any reader of YAML
//! reads the same.

use std::fmt::Write as _;

use aye_core::diagnostic::is_hidden;
use serde_json::Value;

/// The value as a YAML document.
pub fn emit(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(value, 0, &mut out),
        Value::Array(list) if !list.is_empty() => block(value, 0, &mut out),
        _ => out.push_str(&inline(value)),
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// A value as an item of a list, indented by `indent` spaces.
pub(super) fn emit_item(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    block(&Value::Array(vec![value.clone()]), indent, &mut out);
    out
}

/// A collection on lines of its own.
fn block(value: &Value, indent: usize, out: &mut String) {
    let space = " ".repeat(indent);
    match value {
        Value::Object(map) => {
            for (index, (key, value)) in map.iter().enumerate() {
                // The first key of a list item stands behind its dash.
                if index > 0 || out.is_empty() || out.ends_with('\n') {
                    out.push_str(&space);
                }
                out.push_str(&text(key));
                out.push(':');
                below(value, indent, out);
            }
        }
        Value::Array(list) => {
            for value in list {
                out.push_str(&space);
                out.push('-');
                match value {
                    Value::Object(map) if !map.is_empty() => {
                        out.push(' ');
                        block(value, indent + 2, out);
                    }
                    _ => below(value, indent, out),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&inline(value));
        }
    }
}

/// What stands behind a colon or a dash.
fn below(value: &Value, indent: usize, out: &mut String) {
    let is_flat = |list: &[Value]| {
        list.iter().all(|value| !(value.is_array() || value.is_object()))
            && list.iter().map(|value| inline(value).len() + 2).sum::<usize>() < 80
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            block(value, indent + 2, out);
        }
        Value::Array(list) if !is_flat(list) => {
            out.push('\n');
            block(value, indent + 2, out);
        }
        _ => {
            out.push(' ');
            out.push_str(&inline(value));
            out.push('\n');
        }
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        // JSON writes `1e-7`, which is a number in YAML too.
        Value::Number(number) => number.to_string(),
        Value::String(string) => text(string),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entry =
                |(key, value): (&String, &Value)| format!("{}: {}", text(key), inline(value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text, in quotes unless every reader takes it for text without.
fn text(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '"' => out.write_str("\\\""),
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\t' => out.write_str("\\t"),
            '\r' => out.write_str("\\r"),
            c if (c.is_control() || is_hidden(c)) && u32::from(c) <= 0xffff => {
                write!(out, "\\u{:04x}", u32::from(c))
            }
            c if is_hidden(c) => write!(out, "\\U{:08x}", u32::from(c)),
            c => out.write_char(c),
        };
    }
    out.push('"');
    out
}

/// Words that are not text to some reader of YAML.
const NO_TEXT: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan"];

fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let moment = text.parse::<jiff::Timestamp>().is_ok() && !text.contains(' ');
    let starts = first.is_ascii_alphabetic() || first == '/' || first == '_' || moment;
    let inside = |c: char| c.is_ascii_alphanumeric() || " _./@+=-:!()".contains(c);
    starts
        && text.chars().all(inside)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains("  ")
        && !NO_TEXT.contains(&text.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use aye_core::yaml;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Value {
        let mut report = Vec::new();
        let tree = yaml::read(text, &mut report);
        assert!(report.is_empty(), "{report:?}\n{text}");
        let tree = tree.expect("it is YAML");
        tree.value(tree.root())
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let word = prop_oneof![
            any::<String>(),
            "[ -~]{0,12}",
            "[a-z:#\\-?,\\[\\]{}&*!|>'\"%@` \n\t]{0,8}",
            "(null|true|no|~|1|0x1|1e3|-|\\?|<<|---|2026-11-16|12:30|=|\\.inf)",
            "[\u{0}-\u{a0}\u{2028}\u{200b}\u{feff}\u{e0001}]{0,4}",
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1000i32..1000).prop_map(|n| Value::from(f64::from(n) / 8.0)),
            word.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(word.clone(), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in any_value()) {
            let text = emit(&value);
            prop_assert_eq!(read(&text), value, "{}", text);
        }

        #[test]
        fn nothing_hidden_is_written(value in any_value()) {
            prop_assert!(!emit(&value).chars().any(is_hidden));
        }
    }

    #[test]
    fn it_looks_like_yaml_that_a_person_wrote() {
        let value = json!({
            "fixes": [
                {
                    "id": "fix-1a2b3c4d",
                    "match": { "tool": "git.push", "error": "no upstream: <n>" },
                    "set": { "args": ["a", "b c"], "empty": [], "none": {} },
                    "last": "2026-11-16T04:11:54Z",
                    "verified": 3,
                    "active": true,
                    "answer": "no",
                },
                "text",
            ],
        });
        insta::assert_snapshot!(emit(&value), @r#"
        fixes:
          - id: fix-1a2b3c4d
            match:
              tool: git.push
              error: "no upstream: <n>"
            set:
              args: [a, b c]
              empty: []
              none: {}
            last: 2026-11-16T04:11:54Z
            verified: 3
            active: true
            answer: "no"
          - text
        "#);
        assert_eq!(read(&emit(&value)), value);
    }

    #[test]
    fn an_item_stands_where_a_list_goes_on() {
        let item = emit_item(&json!({ "pattern": "x", "tags": ["a"] }), 2);
        assert_eq!(item, "  - pattern: x\n    tags: [a]\n");
    }
}
