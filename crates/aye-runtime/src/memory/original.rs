//! `confirmations.yaml` as the original system writes it: `skill:step` and what
//! someone said there. What makes it stricter counts at once. A yes counts
//! only once it was given again: it names nothing that it was for.

use std::collections::BTreeMap;

use aye_core::digest::digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::memory_file::MemoryFile;
use super::preference::EnvironmentRule;
use super::query::{Layer, Placed};
use super::{MemoryError, Problem};

/// What was said at a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a mapping")]
pub struct OriginalChoice {
    /// Whether the step was to continue without being asked about.
    #[serde(default)]
    pub auto_proceed: Option<bool>,
    /// What was to be answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_choice: Option<String>,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned_at: Option<String>,
    /// What was answered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_choice: Option<String>,
    /// What was answered before, with what it was about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choice_history: Vec<Value>,
    /// What is done where.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment_rules: BTreeMap<String, EnvironmentRule>,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl OriginalChoice {
    /// Whether nothing that is remembered is used here.
    pub fn always_asks(&self, environment: Option<&str>) -> bool {
        let rule = environment.and_then(|name| self.environment_rules.get(name));
        match rule {
            Some(EnvironmentRule::AlwaysAsk) => true,
            Some(EnvironmentRule::AutoProceed) => false,
            None => self.auto_proceed == Some(false),
        }
    }

    /// Whether somewhere memory may answer where the other one says that a person is asked.
    fn is_looser_than(&self, other: &Self) -> bool {
        let named = self.environment_rules.keys().chain(other.environment_rules.keys());
        let places = named.map(|name| Some(name.as_str())).chain([None]);
        places.into_iter().any(|place| other.always_asks(place) && !self.always_asks(place))
    }

    /// What was answered last, when, and what it was about: in words.
    pub fn last_answer(&self) -> Option<String> {
        let last = self.choice_history.last();
        let text = |key: &str| last.and_then(|last| last.get(key)?.as_str()).unwrap_or_default();
        let choice = match (text("choice"), &self.last_choice) {
            ("", Some(choice)) => choice.as_str(),
            ("", None) => return None,
            (choice, _) => choice,
        };
        let when = text("timestamp");
        let mut said = format!("`{choice}`");
        if !when.is_empty() {
            said.push_str(&format!(" on {}", when.get(..10).unwrap_or(when)));
        }
        if !text("context").is_empty() {
            said.push_str(&format!(" ({})", text("context")));
        }
        Some(said)
    }

    /// What becomes of it, in a few words.
    pub fn standing(&self) -> &'static str {
        match self.auto_proceed {
            Some(true) => "asked once more",
            Some(false) => "always asked",
            None => "not used",
        }
    }

    /// What was to be answered without being asked, and since when.
    pub fn wanted(&self) -> Option<(&str, &str)> {
        let choice = self.default_choice.as_deref().unwrap_or("proceed");
        let since = self.learned_at.as_deref().unwrap_or_default();
        (self.auto_proceed == Some(true)).then(|| (choice, since.get(..10).unwrap_or(since)))
    }
}

/// An entry of the original system, as listings have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OriginalEntry {
    /// Its name.
    pub id: String,
    /// The skill whose question it was.
    pub skill: String,
    /// The step whose question it was.
    pub step: String,
    /// What was said there.
    #[serde(flatten)]
    pub choice: OriginalChoice,
}

/// Whether a key of the file is one of the original system.
pub(super) fn is_original(key: &str) -> bool {
    key.split_once(':').is_some_and(|(skill, step)| !skill.is_empty() && !step.is_empty())
}

/// What an entry is called in listings.
pub(super) fn original_id(key: &str) -> String {
    format!("orig-{}", &digest(&[b"original", key.as_bytes()])[..8])
}

/// The entries of a file, and what is wrong with others.
pub(super) fn read(
    file: &MemoryFile,
    problems: &mut Vec<Problem>,
) -> Vec<(usize, (String, OriginalChoice))> {
    let Value::Object(map) = file.value() else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in map.into_iter().filter(|(key, _)| is_original(key)) {
        if let Err(error) = serde_json::from_value::<OriginalChoice>(value.clone()) {
            let message = format!("`{key}` is not valid ({error}); Aye always asks");
            problems.push(file.problem(1, message));
        }
        found.push((1, (key, understood(&value))));
    }
    found
}

/// What an entry says; what is not understood must not mean "do not ask".
fn understood(entry: &Value) -> OriginalChoice {
    serde_json::from_value(entry.clone()).unwrap_or_else(|_| OriginalChoice {
        auto_proceed: Some(false),
        default_choice: None,
        learned_at: None,
        last_choice: None,
        choice_history: Vec::new(),
        environment_rules: BTreeMap::new(),
        other: Map::new(),
    })
}

fn refuse_looser(key: &str, entry: &Value, known: &OriginalChoice) -> Result<(), MemoryError> {
    match understood(entry).is_looser_than(known) {
        true => Err(MemoryError::refused(
            format!("Aye always asks at `{key}`, and this would lift that"),
            format!("if memory may answer it, `aye memory forget {}` first", original_id(key)),
        )),
        false => Ok(()),
    }
}

impl super::Memory {
    /// What the original system was told, with its name in listings.
    pub fn original_entries(&self) -> Vec<Placed<OriginalEntry>> {
        let named = |one: Placed<(String, OriginalChoice)>| {
            let (key, choice) = one.value;
            let (skill, step) = key.split_once(':').unwrap_or((&key, ""));
            let (skill, step) = (skill.to_owned(), step.to_owned());
            let value = OriginalEntry { id: original_id(&key), skill, step, choice };
            Placed { value, layer: one.layer, file: one.file, line: one.line }
        };
        self.all_original().into_iter().map(named).collect()
    }

    /// Forgets what the original system was told about a step; whether it was there.
    pub(super) fn forget_original(&self, id: &str) -> Result<bool, MemoryError> {
        let entries = self.original_entries();
        let Some(entry) = entries.iter().find(|one| one.value.id == id) else { return Ok(false) };
        if entry.layer == Layer::Project {
            return Err(MemoryError::refused(
                format!("`{id}` is shared by the project, and Aye does not change it"),
                format!("remove it from {}:{}", entry.file.display(), entry.line),
            ));
        }
        let key = format!("{}:{}", entry.value.skill, entry.value.step);
        super::memory_file::change(self.own(), super::memory::CONFIRMATIONS, |map| {
            let gone = map.shift_remove(&key).is_some();
            Ok((gone, gone))
        })
    }

    /// Refuses an entry that would have memory answer where a person is always asked: only
    /// forgetting the entry that says so lifts it.
    pub(super) fn may_keep_original(&self, key: &str, entry: &Value) -> Result<(), MemoryError> {
        let known = self.all_original().into_iter().map(|one| one.value);
        let mut known = known.filter(|(there, _)| there == key);
        known.try_for_each(|(_, choice)| refuse_looser(key, entry, &choice))
    }

    /// Keeps an entry of the original system in the user's own file.
    ///
    /// # Errors
    /// When it is looser than what is there, or the file cannot be written.
    pub(super) fn keep_original(&self, key: &str, entry: &Value) -> Result<bool, MemoryError> {
        self.may_keep_original(key, entry)?;
        super::memory_file::change(self.own(), super::memory::CONFIRMATIONS, |map| {
            let known = map.get(key) == Some(entry);
            if !known {
                // Another process may have written it since.
                map.get(key)
                    .map_or(Ok(()), |there| refuse_looser(key, entry, &understood(there)))?;
                map.insert(key.to_owned(), entry.clone());
            }
            Ok((!known, !known))
        })
    }
}
