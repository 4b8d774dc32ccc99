//! `tool_failures.yaml`: the last failures.

use serde_json::{Map, Value};

use crate::memory::{Ending, Failure, Memory, Seen};

use super::{ImportOutcome, Importing, Report, entries, not_kept, text, time};

/// What is kept of an entry.
const KEPT: [&str; 5] = ["tool", "error_snippet", "timestamp", "fix_applied", "success"];

pub(super) fn import(
    memory: &Memory,
    map: &Map<String, Value>,
    how: Importing<'_>,
    report: &mut Report,
) {
    for (entry, failure) in entries(map, "failures", report) {
        let (tool, error) = (text(failure, "tool"), text(failure, "error_snippet"));
        if tool.is_empty() || error.is_empty() {
            report.pass_over(entry, "it needs `tool` and `error_snippet`");
            continue;
        }
        let at = time(&text(failure, "timestamp"));
        let fix = text(failure, "fix_applied");
        let healed = failure.get("success") == Some(&Value::Bool(true));
        let seen = Seen {
            tool: &tool,
            args: &Value::Null,
            error: &error,
            skill: None,
            step: None,
            run: None,
            ending: if healed { Ending::Healed } else { Ending::Failed },
            fix: Some(fix.as_str()).filter(|fix| !fix.is_empty()),
            now: at.unwrap_or(how.now),
        };
        let (new, _) = seen.read(how.mask);
        // One without a time is known by what it says.
        let is_known = |one: &Failure| *one == Failure { at: at.unwrap_or(one.at), ..new.clone() };
        if memory.failures().iter().any(|one| is_known(&one.value)) {
            report.add(entry, ImportOutcome::Known, format!("{tool}: {error}"));
            continue;
        }
        let kept = memory.saw_failure(&seen, how.mask);
        let more = not_kept(failure, &KEPT);
        let about = format!("{tool}: {error}; kept among the last failures{more}");
        report.tried(entry, kept.map(|_| about));
    }
    for key in map.keys().filter(|key| *key != "failures") {
        match key.as_str() {
            "stats" => report.pass_over("stats", "Aye counts for itself"),
            "auto_fixes" => report.pass_over(
                "auto_fixes",
                "a repair is a heal rule: write it under `[[heal]]` in `aye.toml`",
            ),
            other => report.pass_over(other, "it is text for people"),
        }
    }
}
