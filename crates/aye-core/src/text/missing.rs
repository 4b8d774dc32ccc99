//! Which name or key of a template has no value, and why.

use serde_json::Value;

use crate::diagnostic::did_you_mean;
use crate::journal::StepStatus;

use super::keys;
use super::render::TextError;
use super::scope::{BUILT_IN, Scope};

/// The most keys that a message lists.
const MOST_KEYS: usize = 20;

/// Says what is missing of the names that a template uses, dotted.
pub(super) fn undefined(scope: &Scope, used: &[String]) -> TextError {
    if let Some(name) = scope.lost_secret(used) {
        return with_hint(format!("the secret `{name}` is not known"), scope.lost_hint(name));
    }
    if let Some(name) = used.iter().filter(|name| !scope.knows(name)).min() {
        return name_missing(scope, name);
    }
    // A mapping without the key says more than a text that has no keys: that
    // may be a method.
    let missing: Vec<Missing<'_>> = used.iter().filter_map(|name| key_of(scope, name)).collect();
    let telling = missing.iter().find(|missing| missing.keys.is_some()).or(missing.first());
    match telling {
        Some(missing) => missing.error(scope),
        None => with_hint(
            "the value is not defined".to_owned(),
            "a key is missing; write `x.key | default('')` or ask `x.key is defined`".to_owned(),
        ),
    }
}

fn with_hint(message: String, hint: String) -> TextError {
    TextError { hint: Some(hint), ..TextError::new(message) }
}

fn name_missing(scope: &Scope, dotted: &str) -> TextError {
    let first = dotted.split('.').next().unwrap_or(dotted);
    if BUILT_IN.contains(&first) && !matches!(first, "inputs" | "env") {
        let reason = match first {
            "branch" | "worktree" => "there is no git repository around the working directory",
            _ => "it is not known here",
        };
        let hint = format!("write `{first} | default('')` if it may be missing");
        return with_hint(format!("`{first}` has no value: {reason}"), hint);
    }
    if let Some(reason) = scope.steps.get(first).and_then(|step| why_nothing(step.status)) {
        let hint = format!("write `{first} | default('')`, or ask `steps.{first}.status`");
        return with_hint(format!("`{first}` has no value: step `{first}` {reason}"), hint);
    }
    let hint = match dotted.split_once('.') {
        Some(("env", _)) => format!("write `{dotted} | default('')` if it may be missing"),
        Some(("inputs", input)) => input_missing(scope, input),
        _ => {
            let known: Vec<String> =
                scope.names().into_iter().chain(scope.inputs_named()).collect();
            match did_you_mean(dotted, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known names: {}", known.join(", ")),
            }
        }
    };
    with_hint(format!("`{dotted}` is not defined"), hint)
}

fn input_missing(scope: &Scope, dotted: &str) -> String {
    let input = dotted.split('.').next().unwrap_or(dotted);
    match did_you_mean(input, scope.inputs.keys().map(String::as_str)) {
        Some(near) => format!("did you mean `inputs.{near}`?"),
        None if scope.inputs.is_empty() => "the skill has no inputs".to_owned(),
        None => format!("the inputs are {}", scope.inputs_named().join(", ")),
    }
}

/// Why a step that was there has no result.
fn why_nothing(status: StepStatus) -> Option<&'static str> {
    match status {
        StepStatus::Skipped => Some("was left out"),
        StepStatus::Failed => Some("failed"),
        StepStatus::TimedOut => Some("timed out"),
        StepStatus::Cancelled => Some("was cancelled"),
        StepStatus::Waiting
        | StepStatus::Running
        | StepStatus::Completed
        | StepStatus::Interrupted
        | StepStatus::Unknown => None,
    }
}

/// A key that is not there.
struct Missing<'a> {
    /// What it is missing in.
    parent: String,
    key: &'a str,
    /// The keys there are; none if it is not a mapping.
    keys: Option<Vec<String>>,
    /// What the parent is.
    kind: &'static str,
}

/// The first part of a dotted name that is not there.
fn key_of<'a>(scope: &Scope, dotted: &'a str) -> Option<Missing<'a>> {
    let (first, rest) = dotted.split_once('.')?;
    let mut value = scope.value(first)?;
    let mut parent = first.to_owned();
    for key in rest.split('.') {
        let next = match &mut value {
            Value::Object(map) => map.get_mut(key).map(Value::take),
            Value::Array(items) => {
                key.parse().ok().and_then(|at: usize| items.get_mut(at)).map(Value::take)
            }
            _ => None,
        };
        let Some(next) = next else {
            let keys = value.as_object().map(|map| map.keys().cloned().collect());
            return Some(Missing { parent, key, keys, kind: kind(&value) });
        };
        value = next;
        parent = format!("{parent}.{key}");
    }
    None
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

impl Missing<'_> {
    fn error(&self, scope: &Scope) -> TextError {
        let Self { parent, key, keys, kind } = self;
        let elsewhere = match parent.strip_prefix("steps.") {
            Some(step) => keys::of_step(step, key),
            None if keys.is_none() && scope.steps.contains_key(parent) => {
                keys::of_text(parent, parent, key)
            }
            None => None,
        };
        let optional = elsewhere.unwrap_or_else(|| {
            format!("write `{parent}.{key} | default('')` if it may be missing")
        });
        let Some(keys) = keys else {
            let message =
                format!("`{parent}.{key}` is not defined: `{parent}` is {kind} and has no keys");
            return with_hint(message, optional);
        };
        let near = did_you_mean(key, keys.iter().map(String::as_str));
        let listed = keys.iter().take(MOST_KEYS).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if keys.len() > MOST_KEYS { ", …" } else { "" };
        if parent == "steps" {
            let hint = match near {
                Some(near) => format!("did you mean `steps.{near}`?"),
                None => format!("those that have: {listed}{more}"),
            };
            let message = format!("`steps.{key}` is not defined: no step `{key}` has begun");
            return with_hint(message, hint);
        }
        let has = if keys.is_empty() {
            "it has none".to_owned()
        } else {
            format!("it has {listed}{more}")
        };
        let message =
            format!("`{parent}.{key}` is not defined: `{parent}` has no key `{key}`; {has}");
        let hint = near.map_or(optional, |near| format!("did you mean `{parent}.{near}`?"));
        with_hint(message, hint)
    }
}
