//! The files: what is written is there once, with who wrote it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::memory::documents::Documents;
use crate::memory::error::MemoryError;
use crate::memory::lesson::Once;
use crate::memory::memory::Memory;
use crate::memory::memory_file::{self, MemoryFile};
use crate::memory::query::Layer;

use super::key::StateKey;
use super::operation::Operation;

/// What Aye itself notes in a file.
const OWN: &str = "_aye";
/// The file does not hold a mapping: what it holds is here.
const WHOLE: &str = "value";

/// Who wanted a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The run.
    pub run: String,
    /// The skill.
    pub skill: String,
    /// The step.
    pub step: String,
    /// Which start of the step it was.
    pub execution: u32,
    /// Who drove the run.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// What a step wants changed in one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateChange {
    /// The file.
    pub key: StateKey,
    /// The changes, in order.
    pub operations: Vec<Operation>,
    /// Who wants them.
    pub from: Provenance,
}

impl StateChange {
    /// In one line, for people.
    pub fn summary(&self) -> String {
        const SHOWN: usize = 3;
        let mut parts: Vec<String> = Vec::new();
        for operation in &self.operations {
            let said = operation.summary();
            if !parts.contains(&said) {
                parts.push(said);
            }
        }
        let more = parts.len().saturating_sub(SHOWN);
        parts.truncate(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("`{}`: {}{more}", self.key, parts.join(", "))
    }
}

impl Memory {
    /// What a file of work memory holds; `null` if it is not there.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn state(&self, key: &StateKey) -> Result<Value, MemoryError> {
        let file = MemoryFile::read(self.of_state(), &key.file())?;
        if let Some(problem) = file.faults().into_iter().next() {
            return Err(MemoryError::Unreadable(problem));
        }
        Ok(match file.value() {
            Value::Object(map) => unwrapped(map),
            value => value,
        })
    }

    /// Where people find a file of work memory.
    pub(in crate::memory) fn state_place(&self, key: &StateKey) -> std::path::PathBuf {
        self.of_state().place(&key.file())
    }

    /// Every file of work memory.
    pub fn state_keys(&self) -> Vec<StateKey> {
        let names = self.of_state().names().into_iter();
        let keys = names.filter(|name| name.starts_with("state/"));
        keys.filter_map(|name| StateKey::parse(&name).ok()).collect()
    }

    /// Empties a file of work memory; whether there was anything in it. Which lessons it has
    /// taken in stays: a crash must not write them once more.
    pub(in crate::memory) fn forget_state(&self, key: &StateKey) -> Result<bool, MemoryError> {
        if self.of_state().version(&key.file()).is_none() {
            return Ok(false);
        }
        memory_file::change(self.of_state(), &key.file(), |map| {
            let own = map.remove(OWN);
            let whole = own.as_ref().is_some_and(|own| own.get(WHOLE).is_some());
            let had = !map.is_empty() || whole;
            map.clear();
            if let Some(Value::Object(mut own)) = own {
                own.remove(WHOLE);
                map.insert(OWN.to_owned(), Value::Object(own));
            }
            Ok((had, had))
        })
    }

    fn of_state(&self) -> &dyn Documents {
        self.writable(Layer::Project)
    }

    /// Changes a file as a step wanted it; says what people should know.
    pub(in crate::memory) fn change_state(
        &self,
        change: &StateChange,
        once: Once<'_>,
    ) -> Result<Option<String>, MemoryError> {
        memory_file::change(self.of_state(), &change.key.file(), |map| {
            let mut own = match map.get(OWN) {
                Some(Value::Object(own)) => own.clone(),
                _ => Map::new(),
            };
            if !once.is_missing(&own) {
                return Ok((None, false));
            }
            let mut value = unwrapped(std::mem::take(map));
            let mut told = None;
            for operation in &change.operations {
                // Someone else put something else there meanwhile.
                if let Err(error) = operation.apply(&mut value) {
                    told = Some(format!("memory: `{}` was not changed: {error}", change.key));
                }
            }
            own.insert("last".to_owned(), json!(change.from));
            once.mark(&mut own);
            let data = match value {
                Value::Object(mut data) => {
                    data.remove(OWN);
                    own.remove(WHOLE);
                    data
                }
                Value::Null => Map::new(),
                other => {
                    own.insert(WHOLE.to_owned(), json!(true));
                    Map::from_iter([(WHOLE.to_owned(), other)])
                }
            };
            map.extend(data);
            map.insert(OWN.to_owned(), Value::Object(own));
            Ok((told, true))
        })
    }
}

/// What was written, without what Aye notes.
fn unwrapped(mut map: Map<String, Value>) -> Value {
    let own = map.remove(OWN);
    let is_whole = own.as_ref().and_then(|own| own.get(WHOLE)) == Some(&json!(true));
    if is_whole {
        return map.remove(WHOLE).unwrap_or_default();
    }
    match map.is_empty() && own.is_none() {
        true => Value::Null,
        false => Value::Object(map),
    }
}
