//! An event in one line of text, with everything in it: what `-v` adds.

use aye_core::event::Event;
use serde_json::Value;

use crate::paint::escape_control_line;
use crate::term;

/// As much of one text as is shown.
const LONGEST: usize = 60;

/// `#3 step_started  step=build execution=1 command="make all"`.
pub(super) fn verbose_line(event: &Event) -> String {
    let mut line = format!("#{} {}", event.seq, event.kind.name());
    if let Ok(Value::Object(mut fields)) = serde_json::to_value(&event.kind) {
        fields.shift_remove("type");
        let mut pairs = Vec::new();
        fields.iter().for_each(|(name, value)| flatten(name, value, &mut pairs));
        if !pairs.is_empty() {
            line.push_str("  ");
            line.push_str(&pairs.join(" "));
        }
    }
    line
}

/// What has parts is told by its parts: `process.exit_code=1`.
fn flatten(name: &str, value: &Value, pairs: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Object(map) => {
            map.iter().for_each(|(part, value)| flatten(&format!("{name}.{part}"), value, pairs));
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(at, item)| flatten(&format!("{name}.{at}"), item, pairs)),
        Value::Bool(_) | Value::Number(_) => pairs.push(format!("{name}={value}")),
        Value::String(text) => {
            let plain = |c: char| c.is_alphanumeric() || "-_./:@+%".contains(c);
            let shown = match !text.is_empty() && text.chars().all(plain) {
                true => term::cut(text, LONGEST),
                false => {
                    let line = escape_control_line(text).replace('"', "\\\"");
                    format!("\"{}\"", term::cut(&line, LONGEST))
                }
            };
            pairs.push(format!("{name}={shown}"));
        }
    }
}
