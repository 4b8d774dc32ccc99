//! `tool_fixes.yaml`: what helped against an error, in words.

use serde_json::{Map, Value};

use crate::memory::{Change, ErrorText, Keep, Memory, NewFix, Origin, OriginKind};

use super::{ImportOutcome, Importing, Report, as_pattern, entries, not_kept, text, time};

/// What is kept of an entry.
const KEPT: [&str; 6] =
    ["tool_name", "error_pattern", "root_cause", "fix_applied", "date_learned", "learned_at"];

pub(super) fn import(
    memory: &Memory,
    map: &Map<String, Value>,
    how: Importing<'_>,
    report: &mut Report,
) {
    for (entry, fix) in entries(map, "tool_fixes", report) {
        let (tool, error) = (text(fix, "tool_name"), text(fix, "error_pattern"));
        if tool.is_empty() || error.is_empty() {
            report.pass_over(entry, "it needs `tool_name` and `error_pattern`");
            continue;
        }
        let (cause, done) = (text(fix, "root_cause"), text(fix, "fix_applied"));
        let about = [cause, done].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        if about.is_empty() {
            report.pass_over(entry, "it says neither why nor what to do");
            continue;
        }
        let (pattern, what) = as_pattern(&error);
        let at = ["date_learned", "learned_at"].iter().find_map(|key| time(&text(fix, key)));
        let new = NewFix {
            tool: Some(tool.clone()),
            skill: None,
            step: None,
            error: ErrorText::Pattern(pattern),
            only_for: Map::new(),
            change: Change::default(),
            about: Some(about.join(": ")),
            from: Origin {
                kind: OriginKind::Skill,
                by: format!("{}, imported", how.by),
                run: None,
                at: at.unwrap_or(how.now),
                other: Map::new(),
            },
            keep: Keep::Auto,
        };
        let known: Vec<String> = memory.fixes().into_iter().map(|fix| fix.value.id).collect();
        match memory.remember_fix(new, how.mask) {
            Ok(id) if known.contains(&id) => {
                report.add(entry, ImportOutcome::Known, format!("{tool}: {error}"));
            }
            Ok(id) => {
                let short = memory.short_id(&id);
                let more = not_kept(fix, &KEPT);
                report.add(
                    entry,
                    ImportOutcome::Kept,
                    format!(
                        "{tool}: {error}; kept as {short}{what}, in words: it is only shown{more}"
                    ),
                );
            }
            Err(error) => report.pass_over(entry, error.to_string()),
        }
    }
    for key in map.keys().filter(|key| *key != "tool_fixes") {
        match key.as_str() {
            "stats" => report.pass_over("stats", "Aye counts for itself"),
            "common_mistakes" => report.pass_over(
                "common_mistakes",
                "it is text for people; write what matters with `aye memory learn`",
            ),
            other => report.pass_over(other, "Aye does not know this key"),
        }
    }
}
