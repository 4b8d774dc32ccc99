//! Writes below `learned/` that look like what Aye itself learns. The data is work memory as any
//! other; what it says about errors and answers becomes a proposal at most.

use serde_json::{Map, Value};

use super::super::issue::{KEY, category};
use super::file::StateChange;
use super::operation::Operation;
use super::view::LearnedFix;

/// What a write below `learned/` says.
#[derive(Debug, Clone, PartialEq)]
pub enum LearnedClaim {
    /// What helps against an error of a tool.
    Fix(LearnedFix),
    /// What an error means, whatever the tool.
    Issue {
        /// What is said about it.
        issue: LearnedFix,
        /// The family of tools it is about: the list it is in.
        family: Option<String>,
    },
    /// That a question is answered by itself.
    Preference {
        /// The question, as its file calls it: `skill:step`.
        question: String,
        /// What is said about it.
        entry: Map<String, Value>,
    },
}

impl StateChange {
    /// What it says that looks like a fix, a known issue or a preference.
    pub fn claims(&self) -> Vec<LearnedClaim> {
        let mut found = Vec::new();
        if !self.key.to_string().starts_with("state/learned/") {
            return found;
        }
        for operation in &self.operations {
            match operation {
                Operation::Write { value } => look("", value, &mut found),
                Operation::Update { path, value } => look(path, value, &mut found),
                Operation::Append { list, item, .. } => look(list, item, &mut found),
                Operation::Remove { .. } => {}
            }
        }
        found
    }
}

fn look(name: &str, value: &Value, found: &mut Vec<LearnedClaim>) {
    match value {
        Value::Array(list) => list.iter().for_each(|one| look(name, one, found)),
        Value::Object(map) => match read(name, map) {
            Some(told) if found.contains(&told) => {}
            Some(told) => found.push(told),
            None => map.iter().for_each(|(name, one)| look(name, one, found)),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn read(name: &str, entry: &Map<String, Value>) -> Option<LearnedClaim> {
    let text = |names: &[&str]| {
        let text = names.iter().find_map(|name| entry.get(*name)?.as_str());
        text.map(str::trim).unwrap_or_default().to_owned()
    };
    if entry.get("auto_proceed").is_some_and(Value::is_boolean) {
        return Some(LearnedClaim::Preference { question: name.to_owned(), entry: entry.clone() });
    }
    let told = LearnedFix {
        tool: text(&["tool_name", "tool"]),
        error: text(&["error_pattern", "pattern"]),
        cause: text(&["root_cause", "meaning"]),
        fix: text(&["fix_applied", "fix_description", "fix"]),
        ..LearnedFix::default()
    };
    if told.error.is_empty() || told.cause.is_empty() && told.fix.is_empty() {
        return None;
    }
    Some(match told.tool.is_empty() {
        true => LearnedClaim::Issue { issue: told, family: family(name) },
        false => LearnedClaim::Fix(told),
    })
}

/// The family of tools that a list of known issues is about, if its name says so.
fn family(list: &str) -> Option<String> {
    let name = category(list.rsplit('.').next().unwrap_or(list));
    let says = !["", KEY, "patterns", "learned_patterns", "known_issues"].contains(&name);
    says.then(|| name.to_owned())
}
