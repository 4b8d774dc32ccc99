//! `usage_patterns.yaml`: calls that keep failing in the same way.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::memory::pattern::form as form_of;
use crate::memory::usage::{UsagePattern, shapes};
use crate::memory::{Memory, Mistake, fingerprint, looks_like_regex};

use super::{ImportOutcome, Importing, Report, entries, not_kept, text, time};

/// What is kept of an entry, and what Aye names for itself.
const KEPT: [&str; 11] = [
    "id",
    "tool",
    "error_category",
    "mistake_pattern",
    "validation",
    "root_cause",
    "prevention_steps",
    "observations",
    "success_after_prevention",
    "first_seen",
    "last_seen",
];

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
                        report.add(
                            entry,
                            ImportOutcome::Kept,
                            format!("{about}; kept as {id}{more}"),
                        );
                    }
                    Ok(None) => report.add(entry, ImportOutcome::Known, about),
                    Err(error) => report.pass_over(entry, error.to_string()),
                }
            }
        }
    }
    for key in map.keys().filter(|key| *key != "usage_patterns") {
        let why = match key.as_str() {
            "stats" => "Aye counts for itself",
            _ => "Aye does not know this key",
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
    let mut errors: Vec<String> =
        alternatives(&error).into_iter().map(|error| (how.mask)(error)).collect();
    let parameter = Some(text(&seen, "parameter")).filter(|name| !name.is_empty());
    let calls: Vec<BTreeMap<String, String>> = match &parameter {
        Some(name) => values(&seen)
            .into_iter()
            .map(|value| shapes(&json!({ name.as_str(): value }), how.mask))
            .collect(),
        None => Vec::new(),
    };
    let form =
        parameter.as_ref().and_then(|_| expression(entry)).filter(|form| form_of(form).is_some());
    let prevention_steps = steps(entry);
    let after = prevention_steps.iter().map(|step| text(step, "tool"));
    let after = after.into_iter().find(|tool| !tool.is_empty());
    let after = after.or_else(|| Some(text(&seen, "missing_step")).filter(|step| !step.is_empty()));
    let steps: Vec<String> =
        prevention_steps.iter().map(|one| step(one, parameter.as_deref())).collect();
    let steps: Vec<String> = steps.into_iter().filter(|step| !step.is_empty()).collect();
    let when = |key: &str| time(&text(entry, key)).unwrap_or(how.now);
    let count = |key: &str| entry.get(key).and_then(Value::as_u64);
    // As before there were alternatives: importing twice is importing once.
    let id_error = (how.mask)(&error.split('|').map(str::trim).collect::<Vec<_>>().join(" or "));
    let parts = ["imported", &tool, mistake.word(), parameter.as_deref().unwrap_or(""), &id_error];
    let id = format!("use-{}", &aye_core::digest::digest(&parts.map(str::as_bytes))[..8]);
    let line = |text: String| (how.mask)(&text);
    let error = errors.remove(0);
    Ok(UsagePattern {
        id,
        mistake,
        error: fingerprint(&error),
        errors: errors.iter().map(|error| fingerprint(error)).collect(),
        cause: Some(text(entry, "root_cause")).filter(|cause| !cause.is_empty()).map(line),
        advice: None,
        prevention: (!steps.is_empty()).then(|| line(steps.join(", then "))),
        after: after.filter(|_| parameter.is_none() || form.is_none() && calls.is_empty()),
        calls,
        parameter,
        form,
        sightings: count("observations").unwrap_or(1).max(1),
        successes: count("success_after_prevention").unwrap_or(0),
        wrong: 0,
        first_seen: when("first_seen"),
        last_seen: when("last_seen"),
        other: Map::new(),
        tool,
    })
}

fn steps(entry: &Value) -> Vec<&Value> {
    let steps = entry.get("prevention_steps").and_then(Value::as_array);
    steps.into_iter().flatten().collect()
}

/// The wrong values that an entry names. Its list has sentences too, which no call gives.
fn values(seen: &Value) -> Vec<&Value> {
    let wrong = seen.get("common_mistakes").and_then(Value::as_array).into_iter().flatten();
    wrong.filter(|value| !is_prose(value)).collect()
}

fn is_prose(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().contains(char::is_whitespace))
}

/// The expression that the argument has to match, wherever the entry says so.
fn expression(entry: &Value) -> Option<String> {
    let places = [Some(entry), entry.get("mistake_pattern")].into_iter().flatten();
    let mut validations = places.chain(steps(entry)).filter_map(|place| place.get("validation"));
    validations.find_map(|validation| {
        Some(text(validation, "regex")).filter(|expression| !expression.is_empty())
    })
}

/// The errors that an expression is about: its alternatives, where they are words.
fn alternatives(expression: &str) -> Vec<&str> {
    let parts: Vec<&str> = expression.split('|').map(str::trim).collect();
    let plain = |part: &&str| !part.is_empty() && !part.contains(['(', ')', '[', ']', '\\']);
    match parts.iter().all(plain) {
        true => parts,
        false => vec![expression],
    }
}

/// What became of an entry otherwise than its file says.
fn remarks(pattern: &UsagePattern, written: &Value) -> String {
    let mut said = String::new();
    let seen = written.get("mistake_pattern").cloned().unwrap_or_default();
    let errors = text(&seen, "error_regex");
    if alternatives(&errors).into_iter().any(looks_like_regex) {
        said.push_str(&format!(
            "; `{errors}` is an expression: errors are compared with the words `{}`",
            pattern.error
        ));
    }
    if let (None, Some(form)) = (&pattern.form, expression(written)) {
        said.push_str(&match &pattern.parameter {
            Some(_) => format!("; `{form}` is not a regular expression, and is not checked"),
            None => format!("; it names no parameter for `{form}`, which is not checked"),
        });
    }
    let listed = seen.get("common_mistakes").and_then(Value::as_array);
    let prose = listed.into_iter().flatten().filter(|value| is_prose(value)).count();
    if prose > 0 {
        said.push_str(&format!("; {prose} of `common_mistakes` are sentences, and are not kept"));
    }
    match (&pattern.parameter, &pattern.after, &pattern.form) {
        (Some(parameter), _, Some(form)) => said.push_str(&format!(
            "; it warns where `{parameter}` does not match `{}`",
            crate::fmt::cut(form, 80)
        )),
        (_, Some(tool), None) => {
            said.push_str(&format!("; it warns where `{tool}` was not called before in the run"));
        }
        (None, _, _) => said.push_str("; it names no parameter, so it warns before every call"),
        (Some(parameter), None, None) if pattern.calls.is_empty() => said.push_str(&format!(
            "; it does not say which values of `{parameter}` are wrong, so it warns before no call"
        )),
        (Some(_), None, None) => {}
    }
    said + &not_kept(written, &KEPT)
}

/// A step that prevents it, in words.
fn step(step: &Value, about: Option<&str>) -> String {
    let (action, tool) = (text(step, "action"), text(step, "tool"));
    let (mut parameter, reason) = (text(step, "parameter"), text(step, "reason"));
    let given = step.get("validation").cloned().unwrap_or_default();
    let validation = [text(step, "validation"), text(&given, "expected"), text(&given, "regex")];
    let validation = validation.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    if parameter.is_empty() && !validation.is_empty() {
        parameter = about.unwrap_or_default().to_owned();
    }
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
