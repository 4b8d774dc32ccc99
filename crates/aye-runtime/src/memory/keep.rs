//! Writing: where, and how a list is changed without losing what is in it.

use std::path::PathBuf;

use aye_core::diagnostic::visible;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::documents::Documents;
use super::error::{MemoryError, Problem};
use super::lesson::Once;
use super::memory::{CONFIRMATIONS, FIXES, Memory, USAGE};
use super::memory_file;
use super::query::Layer;

/// Hides secrets in a text.
pub type Mask<'a> = &'a dyn Fn(&str) -> String;

/// Where something new is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// In the project's memory if it has one, else in the user's.
    #[default]
    Auto,
    /// In the project's memory, for everyone who works on it.
    Shared,
    /// In the user's memory, for every project.
    Everywhere,
}

impl Memory {
    /// Forgets a fix, a preference, a pattern of use, or what skills wrote under a key; its
    /// id. The name is one that [`Memory::find_id`] finds, or the whole id of an entry that
    /// cannot be read.
    ///
    /// # Errors
    /// When there is none of that name, or several, when people wrote it, or when the file
    /// cannot be written.
    pub fn forget(&self, name: &str) -> Result<String, MemoryError> {
        let id = match self.find_id(name) {
            Ok(id) => id,
            Err(MemoryError::NotFound(name)) => name,
            Err(error) => return Err(error),
        };
        self.forget_id(&id)?;
        Ok(id)
    }

    fn forget_id(&self, id: &str) -> Result<(), MemoryError> {
        if let Some(issue) = self.issues().iter().find(|issue| issue.value.id == id) {
            return Err(MemoryError::refused(
                format!("`{id}` is written by people, and Aye does not change it"),
                format!("remove it from {}:{}", issue.file.display(), issue.line),
            ));
        }
        if self.forget_original(id)? || self.forget_proposal(id)? {
            return Ok(());
        }
        if let Some(key) = self.find_state(id)
            && self.forget_state(&key)?
        {
            return Ok(());
        }
        match self.find_fix(id) {
            Ok(fix) => return self.forget_fix(&fix),
            Err(MemoryError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
        let lists = [(FIXES, "fixes"), (CONFIRMATIONS, "preferences"), (USAGE, "patterns")];
        for layer in [Layer::Project, Layer::User] {
            let Some(documents) = self.documents(layer) else { continue };
            let there = lists.into_iter().filter(|(file, _)| documents.version(file).is_some());
            for (file, key) in there {
                let gone = change_list(documents, file, key, |all: &mut Vec<Value>| {
                    let before = all.len();
                    all.retain(|entry| entry.get("id").and_then(Value::as_str) != Some(id));
                    let gone = all.len() < before;
                    (gone, gone)
                })?;
                if gone {
                    return Ok(());
                }
            }
        }
        Err(MemoryError::NotFound(id.to_owned()))
    }

    /// The memory it is written to, and the project it is for where that
    /// does not say so.
    pub(super) fn place(&self, keep: Keep) -> Result<(Layer, Option<String>), MemoryError> {
        let shared = self.documents(Layer::Project);
        match (shared, keep) {
            (_, Keep::Everywhere) => Ok((Layer::User, None)),
            (Some(_), Keep::Shared) => Ok((Layer::Project, None)),
            (Some(shared), Keep::Auto) if has_memory(shared) => Ok((Layer::Project, None)),
            (None, Keep::Shared) => Err(MemoryError::refused(
                "there is no project to share it with",
                "leave it to your own memory, or work below a directory with `aye.toml`",
            )),
            (_, Keep::Auto) => {
                let name = self.project.as_ref().map(|project| project.name.clone());
                Ok((Layer::User, name))
            }
        }
    }
}

/// Whether a project has a memory for what is learned; what its skills write
/// down is not one.
fn has_memory(shared: &dyn Documents) -> bool {
    let names = shared.names();
    let is_state = |name: &String| name.starts_with("state/");
    shared.exists() && (!names.iter().any(is_state) || !names.iter().all(is_state))
}

/// Changes the list at `key`. Entries that make no sense stay as they are.
pub(super) fn change_list<T: Serialize + DeserializeOwned, R>(
    documents: &dyn Documents,
    file: &str,
    key: &str,
    change: impl FnOnce(&mut Vec<T>) -> (R, bool),
) -> Result<R, MemoryError> {
    let path = documents.place(file);
    memory_file::change(documents, file, |map| change_entries(path, map, key, change))
}

/// The same for a lesson; nothing if the file has taken it in before.
pub(super) fn change_list_once<T: Serialize + DeserializeOwned, R>(
    documents: &dyn Documents,
    file: &str,
    key: &str,
    once: Option<Once<'_>>,
    change: impl FnOnce(&mut Vec<T>) -> (R, bool),
) -> Result<Option<R>, MemoryError> {
    let path = documents.place(file);
    memory_file::change(documents, file, |map| {
        if once.is_some_and(|once| !once.is_missing(map)) {
            return Ok((None, false));
        }
        let (result, changed) = change_entries(path, map, key, change)?;
        if let (Some(once), true) = (once, changed) {
            once.mark(map);
        }
        Ok((Some(result), changed))
    })
}

fn change_entries<T: Serialize + DeserializeOwned, R>(
    path: PathBuf,
    map: &mut Map<String, Value>,
    key: &str,
    change: impl FnOnce(&mut Vec<T>) -> (R, bool),
) -> Result<(R, bool), MemoryError> {
    let list = match map.remove(key) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(_) => {
            let message = format!("`{key}` should be a list");
            return Err(MemoryError::Unreadable(Problem { file: path, line: 1, message }));
        }
    };
    let mut entries = Vec::with_capacity(list.len());
    let mut written = Vec::new();
    for value in list {
        match serde_json::from_value(value.clone()) {
            Ok(entry) => entries.push(entry),
            Err(_) => written.push(value),
        }
    }
    let (result, changed) = change(&mut entries);
    let sound = entries.iter().filter_map(|entry| serde_json::to_value(entry).ok());
    written.extend(sound);
    map.insert(key.to_owned(), Value::Array(written));
    Ok((result, changed))
}

/// A text on one line: secrets hidden, nothing in it that hides or steers.
pub(super) fn line(text: &str, mask: Mask<'_>) -> String {
    let text = mask(text);
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// The lines of a text, nothing in them that hides or steers.
pub(super) fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// The value with secrets hidden, everywhere in it.
pub(super) fn masked(value: &Value, mask: Mask<'_>) -> Value {
    match value {
        Value::String(text) => mask(text).into(),
        Value::Array(list) => list.iter().map(|value| masked(value, mask)).collect(),
        Value::Object(map) => Value::Object(
            map.iter().map(|(key, value)| (key.clone(), masked(value, mask))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
