//! Work memory as one step sees it: the files, with what the step itself has
//! written on top. Nothing reaches a file from here.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::memory::{Change, ErrorText, Keep, Memory, NewFix, Origin};

use super::file::{Provenance, StateChange};
use super::key::StateKey;
use super::operation::Operation;

/// What a step sees, and what it wants changed.
#[derive(Debug)]
pub struct View {
    pub(super) memory: Arc<Memory>,
    pub(super) now: Timestamp,
    values: BTreeMap<StateKey, Value>,
    operations: BTreeMap<StateKey, Vec<Operation>>,
    /// What a step says about an error: a fix in words, which people may keep.
    pub(super) fixes: Vec<LearnedFix>,
}

/// What `learn_tool_fix` is told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LearnedFix {
    /// The tool.
    pub tool: String,
    /// What the error is recognised by.
    pub error: String,
    /// Why it happens.
    pub cause: String,
    /// What to do, in words.
    pub fix: String,
    /// What to do, as data; nothing where the words are all.
    pub change: Change,
    /// The skill, where it is only for it.
    pub skill: Option<String>,
    /// The step.
    pub step: Option<String>,
}

impl LearnedFix {
    /// The fix that it makes.
    pub fn into_fix(self, from: Origin) -> NewFix {
        let Self { tool, error, cause, fix, change, skill, step } = self;
        let words: Vec<String> =
            [cause, fix].into_iter().filter(|words| !words.is_empty()).collect();
        NewFix {
            tool: Some(tool).filter(|tool| !tool.is_empty()),
            skill,
            step,
            // What varies is replaced; a regular expression says itself what does.
            error: match error.trim().starts_with('/') {
                true => ErrorText::Pattern(error),
                false => ErrorText::Seen(error),
            },
            only_for: Map::new(),
            change,
            about: Some(words.join(": ")).filter(|words| !words.is_empty()),
            from,
            keep: Keep::Auto,
        }
    }
}

impl View {
    /// Memory as it is now.
    pub fn new(memory: Arc<Memory>, now: Timestamp) -> Self {
        let (values, operations) = (BTreeMap::new(), BTreeMap::new());
        Self { memory, now, values, operations, fixes: Vec::new() }
    }

    /// Calls a function of `memory`.
    ///
    /// # Errors
    /// When there is no such function, when it is given something else than it
    /// takes, or when a file cannot be read.
    pub fn call(
        &mut self,
        function: &str,
        args: &[Value],
        named: &Map<String, Value>,
    ) -> Result<Value, String> {
        super::functions::call(self, function, args, named)
    }

    /// What a file holds, as this step sees it; `null` if there is none.
    pub(super) fn value(&mut self, key: &StateKey) -> Result<&mut Value, String> {
        if !self.values.contains_key(key) {
            let value = self.memory.state(key).map_err(|error| error.to_string())?;
            self.values.insert(key.clone(), value);
        }
        Ok(self.values.entry(key.clone()).or_default())
    }

    /// Wants a change, which this step sees from here on; how many items it
    /// removed.
    pub(super) fn change(&mut self, key: StateKey, operation: Operation) -> Result<usize, String> {
        let mut value = self.value(&key)?.clone();
        let removed = operation.apply(&mut value).map_err(|error| format!("`{key}`: {error}"))?;
        self.values.insert(key.clone(), value);
        let all = self.operations.entry(key).or_default();
        if matches!(operation, Operation::Write { .. }) {
            all.clear();
        }
        all.push(operation);
        Ok(removed)
    }

    /// What the step wants changed, a file each, and what it says about errors.
    pub fn into_changes(self, from: &Provenance) -> (Vec<StateChange>, Vec<LearnedFix>) {
        let changes = self.operations.into_iter().map(|(key, operations)| StateChange {
            key,
            operations,
            from: from.clone(),
        });
        (changes.collect(), self.fixes)
    }
}
