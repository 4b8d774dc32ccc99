//! What an assistant's context costs: values are cut, the whole has a limit,
//! and what is left is always valid JSON.

use serde_json::{Map, Value};

use aye_runtime::question_context::Redactor;

use crate::paint::escape_control_line;

/// The longest value, in characters.
pub(super) const VALUE: usize = 200;
/// The most that a pause may take, in bytes of JSON.
pub(super) const WHOLE: usize = 4096;

/// What masks, cuts and makes harmless: the same as for an advisor. The journal
/// has its secrets masked already.
pub(super) fn redactor() -> Redactor<'static> {
    Redactor::new(None)
}

/// Text that is data: made harmless and cut.
pub(super) fn text(text: &str, most: usize) -> String {
    redactor().start(text, most + 1, usize::MAX)
}

/// The same on one line: it cannot be taken for a line of ours.
pub(super) fn line(text: &str, most: usize) -> String {
    self::text(&escape_control_line(text), most)
}

/// Text of several lines among ours, each marked as not ours.
pub(super) fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("| {line}")).collect();
    lines.join("\n")
}

/// A value as it is shown: secrets masked, long ones cut.
pub(super) fn value(value: &Value) -> Value {
    cut(value, VALUE)
}

/// The same, with a limit of its own.
pub(super) fn cut(value: &Value, most: usize) -> Value {
    redactor().value(value, most + 1)
}

/// The value with the secrets inside it masked and every text made harmless.
pub(super) fn masked(value: &Value) -> Value {
    redactor().masked(value)
}

/// The beginning of a text, in bytes.
pub(super) fn bytes(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most - '…'.len_utf8())])
}

/// Leaves out what matters least until the whole takes at most `room` bytes.
/// `least` names lists and maps that may shrink, the first first; before the last
/// two, what options are called and the texts are shortened.
pub(super) fn fit(payload: &mut Map<String, Value>, room: usize, least: &[&str], texts: &[&str]) {
    /// Texts that may not be shortened further say nothing any more.
    const SHORTEST: usize = 40;
    let (last, first) = match least {
        [first @ .., a, b] => ([*a, *b], first),
        _ => return,
    };
    shrink(payload, room, first);
    for part in ["description", "leads_to", "label"] {
        // Every option can be chosen; what it is called has to go first.
        if size(payload) > room
            && let Some(Value::Array(options)) = payload.get_mut("options")
        {
            for option in options.iter_mut().filter_map(Value::as_object_mut) {
                option.remove(part);
            }
        }
    }
    for shortest in [VALUE, SHORTEST] {
        for name in texts {
            let over = size(payload).saturating_sub(room);
            if over == 0 {
                break;
            }
            if let Some(Value::String(long)) = payload.get_mut(*name)
                && long.chars().count() > shortest
            {
                let keep = long.chars().count().saturating_sub(over + '…'.len_utf8());
                *long = text(long, keep.max(shortest));
            }
        }
    }
    shrink(payload, room, &last);
}

/// Takes the last entries of these lists and maps away, and counts them.
fn shrink(payload: &mut Map<String, Value>, room: usize, names: &[&str]) {
    for name in names {
        while size(payload) > room {
            let gone = match payload.get_mut(*name) {
                Some(Value::Array(items)) => items.pop().is_some(),
                Some(Value::Object(map)) => {
                    let last = map.keys().next_back().cloned();
                    last.is_some_and(|last| map.remove(&last).is_some())
                }
                _ => false,
            };
            if !gone {
                break;
            }
            let before = payload.get("left_out").and_then(Value::as_u64).unwrap_or(0);
            payload.insert("left_out".to_owned(), (before + 1).into());
        }
    }
}

fn size(payload: &Map<String, Value>) -> usize {
    serde_json::to_string(payload).map_or(usize::MAX, |text| text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_values_are_cut_and_stay_json() {
        assert_eq!(value(&json!("a".repeat(202))), json!(format!("{}…", "a".repeat(200))));
        assert_eq!(value(&json!({ "a": [1, 2] })), json!({ "a": [1, 2] }));
        let long = value(&json!(vec!["é"; 100]));
        assert_eq!(long.as_str().map(|text| text.chars().count()), Some(201));
        assert_eq!(value(&json!({ "deep": { "$secret": true } })), json!({ "deep": "***" }));
        assert_eq!(value(&json!("\u{1b}[2Jx")), json!("\\u{1b}[2Jx"));
    }

    #[test]
    fn a_payload_fits_and_keeps_its_options() {
        let mut payload = json!({
            "message": "m".repeat(9000),
            "options": [{ "value": "go", "description": "d".repeat(3000) }, { "value": "stop" }],
            "variables": { "a": "x".repeat(200), "b": "y".repeat(200) },
            "recent_steps": [{ "step": "one" }],
        });
        let map = payload.as_object_mut().expect("an object");
        fit(map, WHOLE, &["variables", "recent_steps", "next", "options"], &["message"]);
        assert!(size(map) <= WHOLE, "{}", size(map));
        assert_eq!(map["left_out"], 3);
        assert_eq!(map["options"], json!([{ "value": "go" }, { "value": "stop" }]));
        assert!(map["message"].as_str().is_some_and(|text| text.ends_with('…')));
    }

    #[test]
    fn whatever_is_long_it_fits() {
        let long = |n: usize| "é".repeat(n);
        let list = vec![long(200); 20];
        let many = |n: usize| -> Vec<Value> {
            (0..n).map(|at| json!({ "value": at.to_string(), "label": long(200) })).collect()
        };
        let mut payload = json!({
            "message": long(2000), "title": long(200), "options": many(500), "covers": list,
            "changed": list, "not_covered": list, "next": many(8), "memory": list,
        });
        let map = payload.as_object_mut().expect("an object");
        fit(
            map,
            WHOLE,
            &["memory", "covers", "not_covered", "changed", "next", "options"],
            &["message", "title"],
        );
        assert!(size(map) <= WHOLE, "{}", size(map));
        assert!(map["left_out"].as_u64() > Some(60), "{}", map["left_out"]);
        assert!(map["options"].as_array().is_some_and(|options| options.len() > 50), "{map:?}");
        assert_eq!(bytes(&long(10), 9), format!("{}…", long(3)));
    }
}
