//! `patterns.yaml`: known issues by category.

use serde_json::{Map, Value};

use crate::memory::issue::category as category_name;
use crate::memory::{Keep, Memory, NewIssue};

use super::{Became, Importing, Report, not_kept, text};

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
            let is_expression = crate::memory::looks_like_regex(&pattern);
            let written = if is_expression { format!("/{pattern}/") } else { pattern.clone() };
            let texts = |key: &str| -> Vec<String> {
                let list = entry.get(key).and_then(Value::as_array).into_iter().flatten();
                list.filter_map(Value::as_str).map(str::to_owned).collect()
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
                    let what = match (is_expression, has_signs(&pattern)) {
                        (true, _) => " as a regular expression",
                        (false, true) => ", and looked for as it stands, signs and all",
                        (false, false) => "",
                    };
                    let more = not_kept(entry, &KEPT);
                    let about = format!("{pattern}; kept as {}{what}{more}", issue.id);
                    report.add(name, Became::Kept, about);
                }
                Err(error) if error.to_string().contains("is known already") => {
                    report.add(name, Became::Known, pattern);
                }
                Err(error) => report.pass_over(name, error.to_string()),
            }
        }
    }
}

/// Whether a text has signs that mean something in a regular expression. A full stop may end
/// any sentence.
fn has_signs(pattern: &str) -> bool {
    pattern.contains(|c: char| "\\^$|?*+()[]{}".contains(c))
}
