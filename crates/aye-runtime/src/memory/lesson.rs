//! Lessons: what memory takes in, as data, each of them once.
//!
//! What a run learns is an event in its journal first. The files follow: each
//! file names the lessons it has taken in, for as long as the journal's store
//! counts them as pending, in the same write. So a crash anywhere between the
//! two neither loses a lesson nor takes it in twice.

use std::collections::BTreeMap;
use std::fmt;

use aye_core::id::RunId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::MemoryError;
use super::failure::Failure;
use super::fix::Fix;
use super::memory::Memory;
use super::preference::Preference;
use super::proposal::Proposal;
use super::state::StateChange;
use super::usage::Sighting;

/// The key of a file that names the lessons it has taken in.
const TAKEN_IN: &str = "taken_in";

/// Something to be taken in: checked, and without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "lesson", rename_all = "snake_case")]
pub enum Lesson {
    /// What to do about an error.
    Fix {
        /// The entry.
        fix: Box<Fix>,
        /// It is kept in the project's memory.
        shared: bool,
    },
    /// Whether a fix that was tried helped.
    #[serde(rename = "tried")]
    FixOutcome {
        /// Its full id.
        fix: String,
        /// Whether it helped.
        worked: bool,
        /// When.
        at: Timestamp,
    },
    /// An answer to give again.
    Preference {
        /// The entry.
        preference: Box<Preference>,
    },
    /// A failure, and what it says about how a tool is used.
    Failure {
        /// The entry.
        failure: Box<Failure>,
        /// The mistake in the call, if it was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sighting: Option<Box<Sighting>>,
    },
    /// A call went well that such calls have failed before.
    Success {
        /// The tool or program.
        tool: String,
        /// What its arguments looked like.
        call: BTreeMap<String, String>,
    },
    /// What a step wrote down.
    State {
        /// The changes of one file.
        change: Box<StateChange>,
    },
    /// What a skill proposes beside a fix.
    Proposal {
        /// The entry.
        proposal: Box<Proposal>,
    },
    /// A warning was wrong.
    WrongWarning {
        /// The pattern of use that it came from.
        pattern: String,
    },
}

/// Which lesson it is: the event that says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonId {
    /// The run.
    pub run: RunId,
    /// The event's number in it.
    pub seq: u64,
}

impl fmt::Display for LessonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.run, self.seq)
    }
}

impl LessonId {
    fn parse(text: &str) -> Option<Self> {
        let (run, seq) = text.split_once('/')?;
        Some(Self { run: run.to_owned().try_into().ok()?, seq: seq.parse().ok()? })
    }
}

/// Sees to it that a lesson is taken in once.
#[derive(Clone, Copy)]
pub struct Once<'a> {
    /// The lesson.
    pub id: &'a LessonId,
    /// Whether the store still counts a lesson as pending; nothing if it cannot
    /// say. Asked while the memory is locked.
    pub is_pending: &'a dyn Fn(&LessonId) -> Option<bool>,
}

impl Once<'_> {
    /// Whether a file has yet to take it in.
    pub(super) fn is_missing(&self, file: &Map<String, Value>) -> bool {
        self.is_pending() && !taken_in(file).contains(self.id)
    }

    /// Whether the store waits for memory to take it in.
    pub(super) fn is_pending(&self) -> bool {
        (self.is_pending)(self.id) == Some(true)
    }

    /// Names the lesson in a file that has taken it in. A name is needed until
    /// the store has noted the same.
    pub(super) fn mark(&self, file: &mut Map<String, Value>) {
        let mut names = taken_in(file);
        names.retain(|name| (self.is_pending)(name) != Some(false));
        names.push(self.id.clone());
        let names = names.iter().map(|name| Value::from(name.to_string())).collect();
        file.insert(TAKEN_IN.to_owned(), Value::Array(names));
    }
}

fn taken_in(file: &Map<String, Value>) -> Vec<LessonId> {
    let names = file.get(TAKEN_IN).and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.filter_map(LessonId::parse).collect()
}

impl Lesson {
    /// What a fix that is learned does, in words.
    pub fn summary(&self) -> Option<String> {
        match self {
            Self::Fix { fix, .. } => Some(fix.summary()),
            Self::FixOutcome { .. }
            | Self::Preference { .. }
            | Self::Failure { .. }
            | Self::Success { .. }
            | Self::State { .. }
            | Self::Proposal { .. }
            | Self::WrongWarning { .. } => None,
        }
    }

    /// As an event has it.
    pub fn to_value(&self) -> Option<Box<Value>> {
        serde_json::to_value(self).ok().map(Box::new)
    }
}

impl Memory {
    /// Takes in a lesson; says what people should know about that.
    ///
    /// # Errors
    /// When what it is about is not there any more, or a file cannot be read or
    /// written.
    pub fn take_in(&self, lesson: Lesson, once: Once<'_>) -> Result<Option<String>, MemoryError> {
        if let Lesson::State { change } = &lesson {
            return self.change_state(change, once);
        }
        let once = Some(once);
        match lesson {
            Lesson::Fix { fix, shared } => self.keep_fix(*fix, shared, once)?,
            Lesson::FixOutcome { fix, worked, at } => {
                let suspended = self.count_fix(&fix, worked, at, once)?;
                return Ok(suspended.then(|| {
                    let short = self.short_id(&fix);
                    format!("`{short}` failed twice in a row and is not used any more; `aye memory agree {short}` lets it be used again")
                }));
            }
            Lesson::Preference { preference } => {
                self.keep_preference(*preference, once)?;
            }
            Lesson::Failure { failure, sighting } => {
                self.keep_failure(*failure, sighting.map(|seen| *seen), once)?;
            }
            Lesson::Success { tool, call } => self.count_success(&tool, &call, once)?,
            Lesson::Proposal { proposal } => self.keep_proposal(*proposal, once)?,
            Lesson::WrongWarning { pattern } => self.count_wrong(&pattern, once)?,
            Lesson::State { .. } => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(name: &str) -> LessonId {
        LessonId::parse(name).expect("a lesson's id")
    }

    #[test]
    fn a_file_names_what_it_took_in_while_that_is_pending() {
        let (one, two) = (id("abcdefgh12/3"), id("abcdefgh12/4"));
        let mut file = Map::new();
        let both = |_: &LessonId| Some(true);
        assert!(Once { id: &one, is_pending: &both }.is_missing(&file));
        Once { id: &one, is_pending: &both }.mark(&mut file);
        assert!(!Once { id: &one, is_pending: &both }.is_missing(&file));
        assert!(Once { id: &two, is_pending: &both }.is_missing(&file));
        let second = |asked: &LessonId| Some(*asked == two);
        Once { id: &two, is_pending: &second }.mark(&mut file);
        assert_eq!(Value::Object(file.clone()), json!({ "taken_in": ["abcdefgh12/4"] }));
        assert!(!Once { id: &one, is_pending: &second }.is_missing(&file), "it is done with");
    }
}
