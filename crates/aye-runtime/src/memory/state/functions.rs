//! What the functions of `memory` do.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::memory::{Change, Query, Standing, read_mapping};

use super::key::StateKey;
use super::operation::{Operation, as_text};
use super::path;
use super::signature::{Function as F, Given, bind};
use super::view::{LearnedFix, View};

pub use super::signature::{is_builtin_tool, is_function, no_function};

/// What people work on.
const CURRENT_WORK: &str = "current_work";
const SHARED_CONTEXT: &str = "shared_context";
const FAILURES: &str = "learned/tool_failures";
/// How long a shared context counts.
const TTL_HOURS: i64 = 1;
/// How many failures are kept, and how much of each.
const KEPT: usize = 100;
const SNIPPET: usize = 200;

pub(super) fn call(
    view: &mut View,
    name: &str,
    args: &[Value],
    named: &Map<String, Value>,
) -> Result<Value, String> {
    let (function, given) = bind(name, args, named)?;
    // As tools they are given YAML as text, as the original ones are.
    let as_tool = name.starts_with("memory_");
    let data = |name: &str| match given.value(name) {
        Value::String(text) if as_tool => from_yaml(&text),
        value => Ok(value),
    };
    let key = |given: &Given| StateKey::parse(&given.text("key")?);
    match function {
        F::Read => read(view, &key(&given)?),
        F::Query => {
            let found = path::query(view.value(&key(&given)?)?, &given.text("query")?)?;
            Ok(Value::Array(found))
        }
        F::Write => {
            let value = data("data")?;
            view.change(key(&given)?, Operation::Write { value })?;
            Ok(json!(true))
        }
        F::Append => {
            let list = given.text("list_path")?;
            let match_key = Some(given.text("match_key")?).filter(|name| !name.is_empty());
            let item = data("item")?;
            view.change(key(&given)?, Operation::Append { list, item, match_key, keep: None })?;
            Ok(json!(true))
        }
        F::Update => {
            let (path, value) = (given.text("field_path")?, data("value")?);
            view.change(key(&given)?, Operation::Update { path, value })?;
            Ok(json!(true))
        }
        F::Remove => {
            let (list, match_key) = (given.text("list_path")?, given.text("match_key")?);
            let value = as_text(Some(&given.value("match_value")));
            let removed =
                view.change(key(&given)?, Operation::Remove { list, match_key, value })?;
            Ok(json!(removed))
        }
        F::Timestamp => Ok(json!(view.now.to_string())),
        F::ActiveIssues => work(view, "active_issues"),
        F::OpenMrs => work(view, "open_mrs"),
        F::FollowUps => work(view, "follow_ups"),
        F::AddActiveIssue => {
            let item = json!({
                "key": given.text("issue_key")?,
                "summary": given.text("summary")?,
                "status": given.text_or("status", "In Progress")?,
                "branch": given.text("branch")?,
                "repo": given.text("repo")?,
                "started": view.now.to_string(),
                "notes": given.text("notes")?,
            });
            add_work(view, "active_issues", item, Some("key"))
        }
        F::AddOpenMr => {
            let needs_review = given.value("needs_review");
            let item = json!({
                "id": given.value("mr_id"),
                "project": given.text("project")?,
                "title": given.text("title")?,
                "url": given.text("url")?,
                "pipeline_status": given.text_or("pipeline_status", "pending")?,
                "needs_review": if needs_review.is_null() { json!(true) } else { needs_review },
                "created": view.now.to_string(),
            });
            add_work(view, "open_mrs", item, Some("id"))
        }
        F::AddFollowUp => {
            let mut item = json!({
                "task": given.text("task")?,
                "priority": given.text_or("priority", "normal")?,
                "created": view.now.to_string(),
            });
            for name in ["issue_key", "mr_id"] {
                let value = given.value(name);
                let is_given =
                    !matches!(&value, Value::Null) && value != json!("") && value != json!(0);
                if is_given {
                    item[name] = value;
                }
            }
            add_work(view, "follow_ups", item, None)
        }
        F::RemoveActiveIssue => {
            remove_work(view, "active_issues", "key", &given.value("issue_key"))
        }
        F::RemoveOpenMr => remove_work(view, "open_mrs", "id", &given.value("mr_id")),
        F::SaveSharedContext => {
            let hours = given.value("ttl_hours").as_i64().unwrap_or(TTL_HOURS).clamp(0, 24 * 365);
            let until = view.now.checked_add(SignedDuration::from_hours(hours)).unwrap_or(view.now);
            let value = json!({
                "context": given.value("context"),
                "saved_at": view.now.to_string(),
                "expires_at": until.to_string(),
            });
            view.change(StateKey::parse(SHARED_CONTEXT)?, Operation::Write { value })?;
            Ok(json!(true))
        }
        F::LoadSharedContext => {
            let now = view.now;
            let saved = view.value(&StateKey::parse(SHARED_CONTEXT)?)?;
            let until = saved.get("expires_at").and_then(Value::as_str);
            let until = until.and_then(|until| until.parse::<Timestamp>().ok());
            let counts = until.is_none_or(|until| now < until);
            Ok(saved.get("context").filter(|_| counts).cloned().unwrap_or_default())
        }
        F::SessionLog => session_log(view, &given),
        F::KnowledgeQuery => knowledge(view, &given),
        F::KnownIssues => {
            let (tool, error) = (given.text("tool_name")?, given.text("error_text")?);
            Ok(known_issues(view, &tool, &error))
        }
        F::LearnFix => {
            view.fixes.push(learned_fix(&given)?);
            Ok(json!(true))
        }
        F::RecordFailure => {
            let error = given.text("error_text")?;
            let item = json!({
                "tool": given.text("tool_name")?,
                "error_snippet": error.chars().take(SNIPPET).collect::<String>(),
                "context": given.value("context"),
                "timestamp": view.now.to_string(),
            });
            let list = "failures".to_owned();
            let keep = Some(KEPT);
            let add = Operation::Append { list, item, match_key: None, keep };
            view.change(StateKey::parse(FAILURES)?, add)?;
            Ok(json!(true))
        }
    }
}

fn learned_fix(given: &Given) -> Result<LearnedFix, String> {
    let some = |name: &str| -> Result<Option<String>, String> {
        Ok(Some(given.text(name)?).filter(|text| !text.is_empty()))
    };
    let told = LearnedFix {
        tool: given.text("tool_name")?,
        error: given.text("error_pattern")?,
        cause: given.text("root_cause")?,
        fix: given.text("fix_description")?,
        change: Change {
            args: given.data("args")?,
            first: given.data("first")?,
            replace: given.data("replace")?,
            ..Change::default()
        },
        skill: some("skill")?,
        step: some("step")?,
    };
    if told.cause.is_empty() && told.fix.is_empty() && told.change.is_empty() {
        return Err("`memory.learn_tool_fix` has nothing to do: give `fix_description`, or \
                    `args`, `first` or `replace`"
            .to_owned());
    }
    Ok(told)
}

/// What a file holds; a file that is not there holds nothing.
fn read(view: &mut View, key: &StateKey) -> Result<Value, String> {
    Ok(match view.value(key)? {
        Value::Null => json!({}),
        value => value.clone(),
    })
}

fn work(view: &mut View, list: &str) -> Result<Value, String> {
    let value = view.value(&StateKey::parse(CURRENT_WORK)?)?;
    Ok(value.get(list).filter(|list| list.is_array()).cloned().unwrap_or_else(|| json!([])))
}

fn add_work(
    view: &mut View,
    list: &str,
    item: Value,
    match_key: Option<&str>,
) -> Result<Value, String> {
    let (list, match_key) = (list.to_owned(), match_key.map(str::to_owned));
    let add = Operation::Append { list, item, match_key, keep: None };
    view.change(StateKey::parse(CURRENT_WORK)?, add)?;
    Ok(json!(true))
}

fn remove_work(view: &mut View, list: &str, key: &str, value: &Value) -> Result<Value, String> {
    let (list, match_key) = (list.to_owned(), key.to_owned());
    let remove = Operation::Remove { list, match_key, value: as_text(Some(value)) };
    Ok(json!(view.change(StateKey::parse(CURRENT_WORK)?, remove)? > 0))
}

fn session_log(view: &mut View, given: &Given) -> Result<Value, String> {
    let now = view.now.to_string();
    let (date, time) = now.split_once('T').unwrap_or((&now, ""));
    let key = StateKey::parse(&format!("sessions/{date}"))?;
    if view.value(&key)?.get("date").is_none() {
        let (path, value) = ("date".to_owned(), json!(date));
        view.change(key.clone(), Operation::Update { path, value })?;
    }
    let time = time.split('.').next().unwrap_or(time).trim_end_matches('Z');
    let item = json!({
        "time": time,
        "action": words(&given.value("action")),
        "details": words(&given.value("details")),
    });
    let list = "entries".to_owned();
    view.change(key, Operation::Append { list, item, match_key: None, keep: None })?;
    Ok(json!(true))
}

/// What is logged is text, whatever a template gave.
fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// What was written down about a project: `state/knowledge/PERSONA/PROJECT`.
fn knowledge(view: &mut View, given: &Given) -> Result<Value, String> {
    let persona = given.text_or("persona", "developer")?;
    let key = StateKey::parse(&format!("knowledge/{persona}/{}", given.text("project")?))?;
    let section = given.text("section")?;
    let value = view.value(&key)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    match section.is_empty() {
        true => Ok(value.clone()),
        false => Ok(path::query(value, &section)?.into_iter().next().unwrap_or_default()),
    }
}

/// Known issues, then fixes; not those that wait for a person to agree.
fn known_issues(view: &View, tool: &str, error: &str) -> Value {
    let query = Query { tool, error, ..Query::default() };
    let issues = view.memory.known_issues(&query);
    let issues = issues.iter().map(|(_, issue)| {
        let issue = &issue.value;
        json!({
            "pattern": issue.pattern.to_string(),
            "meaning": issue.meaning.as_deref().unwrap_or_default(),
            "fix": issue.fix.as_deref().unwrap_or_default(),
            "commands": issue.commands,
            "tags": issue.tags,
        })
    });
    let fixes = view.memory.fixes_wherever(&query);
    let fixes = fixes.iter().filter(|fix| fix.value.standing() != Standing::Proposed).map(|fix| {
        let fix = &fix.value;
        json!({
            "pattern": fix.matches.error,
            "meaning": "",
            "fix": fix.about.clone().unwrap_or_else(|| fix.summary()),
            "commands": [],
            "tags": [],
            "tool": fix.matches.tool,
            "id": fix.id,
        })
    });
    let matches: Vec<Value> = issues.chain(fixes).collect();
    json!({ "has_known_issues": !matches.is_empty(), "matches": matches })
}

/// Data that is written as text; text that is not YAML is text.
fn from_yaml(text: &str) -> Result<Value, String> {
    let is_nested = text.contains('\n') || text.trim_start().starts_with(['{', '[', '-']);
    let mapping = text.split_once(": ").is_some() || text.trim_end().ends_with(':');
    match is_nested || mapping {
        true => read_mapping(text).or_else(|error| {
            // One line with a colon in it may be a sentence.
            if text.contains('\n') {
                Err(format!("this is not YAML: {error}"))
            } else {
                Ok(json!(text))
            }
        }),
        false => Ok(scalar(text)),
    }
}

fn scalar(text: &str) -> Value {
    let plain = serde_json::from_str::<Value>(text).ok();
    plain.filter(|value| !value.is_string()).unwrap_or_else(|| json!(text))
}
