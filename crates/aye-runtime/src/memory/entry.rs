//! Entries as data, for programs.

use aye_core::word_enum;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::state::StateKey;
use super::{
    Fix, Issue, Layer, Memory, MemoryError, OriginalEntry, Placed, Preference, Proposal,
    UsagePattern,
};

word_enum! {
    /// The kinds of entries.
    pub enum EntryKind {
        /// What to do about errors.
        Fixes = "fixes",
        /// What people wrote down about errors.
        Issues = "issues",
        /// Answers that are given again.
        Preferences = "preferences",
        /// Calls that keep failing in the same way.
        Usage = "usage",
        /// The last failures.
        Failures = "failures",
        /// What skills propose beside fixes.
        Proposals = "proposals",
    }
}

impl Memory {
    /// The entries of a kind.
    pub fn entries(&self, kind: EntryKind, now: Timestamp) -> Vec<Value> {
        match kind {
            EntryKind::Fixes => self.fixes().iter().map(fix_json).collect(),
            EntryKind::Issues => self.issues().iter().map(issue_json).collect(),
            EntryKind::Preferences => {
                let said = self.preferences();
                let original = self.original_entries();
                let said = said.iter().map(|one| preference_json(one, now));
                said.chain(original.iter().map(original_json)).collect()
            }
            EntryKind::Usage => self.usage().iter().map(|one| usage_json(one, now)).collect(),
            EntryKind::Failures => {
                self.failures().iter().map(|one| placed(one, &one.value)).collect()
            }
            EntryKind::Proposals => self.proposals_of_skills().iter().map(proposal_json).collect(),
        }
    }

    /// The entry of this name, as [`Memory::find_id`] finds it.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn entry(&self, name: &str, now: Timestamp) -> Result<Value, MemoryError> {
        let id = self.find_id(name)?;
        if let Some(key) = self.find_state(&id) {
            return self.state_entry(&key);
        }
        let kinds = [
            EntryKind::Fixes,
            EntryKind::Issues,
            EntryKind::Preferences,
            EntryKind::Usage,
            EntryKind::Proposals,
        ];
        let mut all = kinds.into_iter().flat_map(|kind| self.entries(kind, now));
        all.find(|entry| entry["id"] == id.as_str()).ok_or(MemoryError::NotFound(id))
    }

    /// The id of the entry of this name: a full id, the beginning of one that no other id has,
    /// or what older versions called a fix.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn find_id(&self, name: &str) -> Result<String, MemoryError> {
        let not_found = || MemoryError::NotFound(name.to_owned());
        if name.is_empty() {
            return Err(not_found());
        }
        let fixes = self.fixes();
        let mut ids: Vec<String> = fixes.iter().map(|one| one.value.id.clone()).collect();
        ids.extend(self.issues().into_iter().map(|one| one.value.id));
        ids.extend(self.preferences().into_iter().map(|one| one.value.id));
        ids.extend(self.original_entries().into_iter().map(|one| one.value.id));
        ids.extend(self.usage().into_iter().map(|one| one.value.id));
        ids.extend(self.all_proposals().into_iter().map(|one| one.value.id));
        ids.extend(self.state_keys().iter().map(ToString::to_string));
        if ids.iter().any(|id| id == name) {
            return Ok(name.to_owned());
        }
        ids.retain(|id| id.starts_with(name));
        if ids.is_empty() {
            let older = fixes.iter().filter(|one| one.value.written_id.as_deref() == Some(name));
            ids.extend(older.map(|one| one.value.id.clone()));
        }
        ids.sort();
        ids.dedup();
        match ids.as_slice() {
            [] => Err(not_found()),
            [one] => Ok(one.clone()),
            several => {
                let shown = |id: &String| match Fix::is_full_id(id) {
                    true => self.short_id(id),
                    false => id.clone(),
                };
                let names = several.iter().map(shown).collect();
                Err(MemoryError::Ambiguous { name: name.to_owned(), names })
            }
        }
    }
}

impl Memory {
    /// The file of work memory that is called so: `state/KEY`.
    pub(super) fn find_state(&self, id: &str) -> Option<StateKey> {
        let keys = self.state_keys().into_iter();
        keys.filter(|_| id.starts_with("state/")).find(|key| key.to_string() == id)
    }

    fn state_entry(&self, key: &StateKey) -> Result<Value, MemoryError> {
        let file = self.state_place(key);
        let data = self.state(key)?;
        Ok(json!({
            "layer": Layer::Project, "file": file, "line": 1, "id": key.to_string(), "data": data,
        }))
    }
}

/// A fix.
pub fn fix_json(fix: &Placed<Fix>) -> Value {
    let mut shown = placed(fix, &fix.value);
    shown["standing"] = fix.value.standing().word().into();
    if let Some(written) = &fix.value.written_id {
        shown["written_id"] = written.as_str().into();
    }
    shown
}

/// A known issue.
pub fn issue_json(issue: &Placed<Issue>) -> Value {
    let value = &issue.value;
    json!({
        "layer": issue.layer, "file": issue.file, "line": issue.line,
        "id": value.id, "pattern": value.pattern.as_str(), "tools": value.tools,
        "meaning": value.meaning, "fix": value.fix, "commands": value.commands,
        "tags": value.tags,
    })
}

fn preference_json(one: &Placed<Preference>, now: Timestamp) -> Value {
    let mut shown = placed(one, &one.value);
    shown["expired"] = one.value.is_expired(now).into();
    shown
}

/// An answer that the original system was told.
fn original_json(one: &Placed<OriginalEntry>) -> Value {
    let mut shown = placed(one, &one.value);
    shown["original"] = true.into();
    shown["standing"] = one.value.choice.standing().into();
    shown
}

/// What a skill proposes.
pub fn proposal_json(one: &Placed<Proposal>) -> Value {
    let mut shown = placed(one, &one.value);
    shown["agreeing"] = one.value.what.summary().into();
    shown
}

/// A pattern of use.
pub fn usage_json(one: &Placed<UsagePattern>, now: Timestamp) -> Value {
    let mut shown = placed(one, &one.value);
    shown["confidence"] = one.value.confidence(now).into();
    shown["level"] = json!(one.value.warning(now).map(|warning| warning.level));
    shown
}

fn placed<T>(place: &Placed<T>, value: &impl Serialize) -> Value {
    let mut shown = json!({ "layer": place.layer, "file": place.file, "line": place.line });
    if let (Some(shown), Ok(Value::Object(value))) =
        (shown.as_object_mut(), serde_json::to_value(value))
    {
        shown.extend(value);
    }
    shown
}
