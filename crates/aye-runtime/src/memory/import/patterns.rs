//! `patterns.yaml`: known issues by category.

use serde_json::{Map, Value};

use crate::memory::issue::category as category_name;
use crate::memory::{Keep, Memory, MemoryError, NewIssue};

use super::{ImportOutcome, Importing, Report, as_pattern, not_kept, text};

/// What is kept of an entry.
const KEPT: [&str; 7] = ["pattern", "meaning", "fix", "commands", "tool", "tools", "tags"];

/// Whether a file looks like one: its lists have entries with a `pattern`.
pub(super) fn is_one(map: &Map<String, Value>) -> bool {
    let lists = map.values().filter_map(Value::as_array);
    lists.flatten().any(|entry| entry.get("pattern").is_some())
}

pub(super) fn import(
    memory: &Memory,
    map: &Map<String, Value>,
    how: Importing<'_>,
    report: &mut Report,
) {
    for (category, list) in map {
        let Some(list) = list.as_array() else {
            report.pass_over(category.clone(), "it is not a list of patterns");
            continue;
        };
        for (at, entry) in list.iter().enumerate() {
            let name = format!("{category}[{at}]");
            let pattern = text(entry, "pattern");
            let some = |key: &str| Some(text(entry, key)).filter(|text| !text.is_empty());
            let (meaning, fix) = (some("meaning"), some("fix"));
            if pattern.is_empty() || meaning.is_none() && fix.is_none() {
                report.pass_over(name, "it needs `pattern`, and `meaning` or `fix`");
                continue;
            }
            let (written, what) = as_pattern(&pattern);
            let texts = |key: &str| -> Vec<String> {
                let given = entry.get(key);
                // One text is a list of one.
                let list = given.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let all = list.iter().chain(given).filter_map(Value::as_str);
                all.map(str::to_owned).collect()
            };
            let mut tags = texts("tags");
            tags.push(category_name(category).to_owned());
            let new = NewIssue {
                pattern: written,
                tools: some("tool").into_iter().chain(texts("tools")).collect(),
                meaning,
                fix,
                commands: texts("commands"),
                tags,
                keep: Keep::Auto,
            };
            match memory.note_issue(&new, how.mask) {
                Ok(issue) => {
                    let more = not_kept(entry, &KEPT);
                    let about = format!("{pattern}; kept as {}{what}{more}", issue.id);
                    report.add(name, ImportOutcome::Kept, about);
                }
                Err(MemoryError::Known { .. }) => report.add(name, ImportOutcome::Known, pattern),
                Err(error) => report.pass_over(name, error.to_string()),
            }
        }
    }
}
