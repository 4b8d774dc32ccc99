//! Imports memory files of redhat-ai-workflow, the system that comments here call
//! the original one: a line for each entry, and the reason if one is skipped.
//!
//! Touches nothing: it reads text and returns entries, and `memory` writes them.

mod confirmations;
mod failures;
mod fixes;
mod patterns;
mod usage;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Mask, Memory, MemoryError, looks_like_regex, read_mapping};

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// It is in memory now.
    Kept,
    /// It was there already.
    Known,
    /// It was passed over; the words say why.
    PassedOver,
}

/// An entry of a file, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Where it stands: `tool_fixes[0]`.
    pub entry: String,
    /// What became of it.
    #[serde(rename = "became")]
    pub outcome: ImportOutcome,
    /// In words.
    pub about: String,
}

/// Who imports, and when.
#[derive(Clone, Copy)]
pub struct Importing<'a> {
    /// The person.
    pub by: &'a str,
    /// Now.
    pub now: Timestamp,
    /// Hides secrets.
    pub mask: Mask<'a>,
}

/// What is read, and what became of it.
struct Report {
    lines: Vec<Imported>,
}

impl Report {
    fn add(&mut self, entry: impl Into<String>, outcome: ImportOutcome, about: impl Into<String>) {
        self.lines.push(Imported { entry: entry.into(), outcome, about: about.into() });
    }

    fn pass_over(&mut self, entry: impl Into<String>, why: impl Into<String>) {
        self.add(entry, ImportOutcome::PassedOver, why);
    }

    /// What trying to keep something came to.
    fn tried(&mut self, entry: String, tried: Result<String, MemoryError>) {
        match tried {
            Ok(about) => self.add(entry, ImportOutcome::Kept, about),
            Err(error) => self.pass_over(entry, error.to_string()),
        }
    }
}

impl Memory {
    /// Takes a file of the original system in; which one it is, its keys say.
    ///
    /// # Errors
    /// When it is not YAML, or not one of these files.
    pub fn import(&self, text: &str, how: Importing<'_>) -> Result<Vec<Imported>, MemoryError> {
        let value = read_mapping(text).map_err(|error| {
            MemoryError::refused(format!("it cannot be read: {error}"), "give a YAML file")
        })?;
        let Value::Object(map) = value else { return Err(unknown()) };
        let mut report = Report { lines: Vec::new() };
        let has = |key: &str| map.contains_key(key);
        if has("usage_patterns") {
            usage::import(self, &map, how, &mut report);
        } else if has("tool_fixes") || has("common_mistakes") {
            fixes::import(self, &map, how, &mut report);
        } else if has("failures") || has("tool_failures") || has("auto_fixes") {
            failures::import(self, &map, how, &mut report);
        } else if map.iter().any(|(key, entry)| confirmations::is_one(key, entry)) {
            confirmations::import(self, &map, &mut report);
        } else if patterns::is_one(&map) {
            patterns::import(self, &map, how, &mut report);
        } else {
            return Err(unknown());
        }
        Ok(report.lines)
    }
}

fn unknown() -> MemoryError {
    MemoryError::refused(
        "it is not a memory file of redhat-ai-workflow",
        "it takes `tool_fixes.yaml`, `tool_failures.yaml`, `usage_patterns.yaml`, `patterns.yaml` \
         and `confirmations.yaml`",
    )
}

/// A text of an entry; empty if there is none.
fn text(entry: &Value, key: &str) -> String {
    match entry.get(key) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_)) | None => {
            String::new()
        }
    }
}

/// What an entry has and memory has no place for, in words; empty if that is nothing.
fn not_kept(entry: &Value, kept: &[&str]) -> String {
    let fields = entry.as_object().into_iter().flat_map(Map::keys);
    let other = fields.filter(|name| !kept.contains(&name.as_str()));
    let other: Vec<String> = other.map(|name| format!("`{name}`")).collect();
    match other.is_empty() {
        true => String::new(),
        false => format!("; not kept: {}", other.join(", ")),
    }
}

/// A pattern of the original system as memory writes it, and what is said about that.
fn as_pattern(written: &str) -> (String, &'static str) {
    // A full stop may end any sentence.
    let has_signs = written.contains(|c: char| "\\^$|?*+()[]{}".contains(c));
    match (looks_like_regex(written), has_signs) {
        (true, _) => (format!("/{written}/"), " as a regular expression"),
        (false, true) => (written.to_owned(), ", and looked for as it stands, signs and all"),
        (false, false) => (written.to_owned(), ""),
    }
}

/// The entries of a list, with where they stand; what is not a list is passed over.
fn entries<'a>(
    map: &'a Map<String, Value>,
    key: &str,
    report: &mut Report,
) -> Vec<(String, &'a Value)> {
    match map.get(key) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => {
            list.iter().enumerate().map(|(at, entry)| (format!("{key}[{at}]"), entry)).collect()
        }
        Some(_) => {
            report.pass_over(key, "it is not a list");
            Vec::new()
        }
    }
}

/// A time of the original system, which has no zone: it is taken for UTC.
fn time(written: &str) -> Option<Timestamp> {
    let whole = written.trim();
    let plain = || whole.parse::<jiff::civil::DateTime>().ok();
    let day = || whole.parse::<jiff::civil::Date>().ok().map(|day| day.at(0, 0, 0, 0));
    let local = || plain().or_else(day)?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    whole.parse().ok().or_else(|| local().map(|zoned| zoned.timestamp()))
}
