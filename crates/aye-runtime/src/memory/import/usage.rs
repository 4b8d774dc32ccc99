//! `usage_patterns.yaml`: calls that keep failing in the same way.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::memory::usage::{UsagePattern, shapes};
use crate::memory::{Memory, Mistake, fingerprint, looks_like_regex};

use super::{Became, Importing, Report, entries, text, time};

pub(super) fn import(
    memory: &Memory,
    map: &Map<String, Value>,
    how: Importing<'_>,
    report: &mut Report,
) {
    for (entry, written) in entries(map, "usage_patterns", report) {
        match read(written, how) {
            Err(why) => report.pass_over(entry, why),
            Ok(pattern) => {
                let about = format!(
                    "{}: {}, seen {} times",
                    pattern.tool,
                    pattern.mistake.because(),
                    pattern.sightings
                );
                let more = remarks(&pattern, written);
                match memory.keep_usage(pattern) {
                    Ok(Some(id)) => {
                        report.add(entry, Became::Kept, format!("{about}; kept as {id}{more}"));
                    }
                    Ok(None) => report.add(entry, Became::Known, about),
                    Err(error) => report.pass_over(entry, error.to_string()),
                }
            }
        }
    }
    for key in map.keys().filter(|key| *key != "usage_patterns") {
        let why = match key.as_str() {
            "stats" => "Aye counts for itself",
            _ => "it is not known what this is",
        };
        report.pass_over(key.clone(), why);
    }
}

fn read(entry: &Value, how: Importing<'_>) -> Result<UsagePattern, String> {
    let tool = text(entry, "tool");
    let category = text(entry, "error_category").to_uppercase();
    let mistake = match category.as_str() {
        "INCORRECT_PARAMETER" => Mistake::WrongParameter,
        "PARAMETER_FORMAT" => Mistake::Format,
        "MISSING_PREREQUISITE" => Mistake::MissingPrerequisite,
        "WORKFLOW_SEQUENCE" => Mistake::Sequence,
        "WRONG_TOOL_SELECTION" => Mistake::WrongTool,
        "MISSING_PARAMETER" => {
            return Err("a missing parameter is found before the call".to_owned());
        }
        other => return Err(format!("its `error_category` is `{other}`, which is not known")),
    };
    let seen = entry.get("mistake_pattern").cloned().unwrap_or_default();
    let error = text(&seen, "error_regex");
    if tool.is_empty() || error.is_empty() {
        return Err("it needs `tool` and `mistake_pattern.error_regex`".to_owned());
    }
    let error = (how.mask)(&in_words(&error));
    let parameter = Some(text(&seen, "parameter")).filter(|name| !name.is_empty());
    let wrong = seen.get("common_mistakes").and_then(Value::as_array);
    let calls: Vec<BTreeMap<String, String>> = match &parameter {
        Some(name) => wrong
            .into_iter()
            .flatten()
            .map(|value| shapes(&json!({ name.as_str(): value }), how.mask))
            .collect(),
        None => Vec::new(),
    };
    let steps = entry.get("prevention_steps").and_then(Value::as_array);
    let steps = || steps.into_iter().flatten();
    let after = steps().map(|step| text(step, "tool")).find(|tool| !tool.is_empty());
    let after = after.or_else(|| Some(text(&seen, "missing_step")).filter(|step| !step.is_empty()));
    let steps: Vec<String> = steps().map(step).filter(|s| !s.is_empty()).collect();
    let when = |key: &str| time(&text(entry, key)).unwrap_or(how.now);
    let count = |key: &str| entry.get(key).and_then(Value::as_u64);
    let parts = ["imported", &tool, mistake.word(), parameter.as_deref().unwrap_or(""), &error];
    let id = format!("use-{}", &aye_core::digest::digest(&parts.map(str::as_bytes))[..8]);
    let line = |text: String| (how.mask)(&text);
    Ok(UsagePattern {
        id,
        mistake,
        error: fingerprint(&error),
        calls,
        advice: Some(text(entry, "root_cause")).filter(|cause| !cause.is_empty()).map(line),
        prevention: (!steps.is_empty()).then(|| line(steps.join(", then "))),
        after: after.filter(|_| parameter.is_none()),
        parameter,
        sightings: count("observations").unwrap_or(1).max(1),
        successes: count("success_after_prevention").unwrap_or(0),
        wrong: 0,
        first_seen: when("first_seen"),
        last_seen: when("last_seen"),
        other: Map::new(),
        tool,
    })
}

/// The error in words: a pattern of use is compared by its words.
fn in_words(expression: &str) -> String {
    expression.split('|').map(str::trim).collect::<Vec<_>>().join(" or ")
}

/// What became of an entry otherwise than its file says.
fn remarks(pattern: &UsagePattern, written: &Value) -> String {
    let mut said = String::new();
    let expression = written.get("mistake_pattern").map(|seen| text(seen, "error_regex"));
    let expression = expression.unwrap_or_default();
    if in_words(&expression) != expression || looks_like_regex(&expression) {
        said.push_str(&format!(
            "; `{expression}` is an expression: errors are compared with the words `{}`",
            pattern.error
        ));
    }
    match (&pattern.parameter, &pattern.after, pattern.calls.is_empty()) {
        (None, Some(tool), _) => {
            said.push_str(&format!("; it warns where `{tool}` was not called before in the run"));
        }
        (None, None, _) => said.push_str("; it names no parameter, so it warns before every call"),
        (Some(parameter), _, true) => said.push_str(&format!(
            "; it does not say which values of `{parameter}` are wrong, so it warns before no call"
        )),
        (Some(_), _, false) => {}
    }
    said
}

/// A step that prevents it, in words.
fn step(step: &Value) -> String {
    let (action, tool) = (text(step, "action"), text(step, "tool"));
    let (parameter, reason) = (text(step, "parameter"), text(step, "reason"));
    let validation = text(step, "validation");
    let mut said = match (tool.is_empty(), parameter.is_empty()) {
        (false, _) => format!("call `{tool}` first"),
        (true, false) if !validation.is_empty() => format!("give `{parameter}` as {validation}"),
        (true, false) => format!("look at `{parameter}`"),
        (true, true) => action.replace('_', " "),
    };
    if !reason.is_empty() {
        said.push_str(&format!(" ({reason})"));
    }
    said
}
