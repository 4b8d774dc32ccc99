//! Names of runs and questions: safe as file names, arguments and addresses.

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a run id: 8 to 160 letters, digits, `-` or `_`")]
pub struct BadId(pub String);

/// Identifies a run: 8 to 160 of `[A-Za-z0-9_-]`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// What stands between the id of a run and what makes it that of a run inside.
pub const CHILD_SEPARATOR: char = '_';

impl RunId {
    /// Takes a text that has the form of an id.
    pub fn new(text: impl Into<String>) -> Result<Self, BadId> {
        let text = text.into();
        let fits = (8..=160).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if fits { Ok(Self(text)) } else { Err(BadId(text)) }
    }

    /// An id made of 50 random bits, in letters that are hard to confuse.
    pub fn from_random(bits: u64) -> Self {
        const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        Self((0..10).map(|i| char::from(LETTERS[(bits >> (5 * i)) as usize & 31])).collect())
    }

    /// The id of a run inside this one: of which execution of a step, and
    /// which of its runs if it has several.
    pub fn child(&self, execution: u32, index: Option<u32>) -> Result<Self, BadId> {
        match index {
            Some(index) => Self::new(format!("{self}_{execution}_{index}")),
            None => Self::new(format!("{self}_{execution}")),
        }
    }

    /// The bounds of the ids of all runs inside this one, in the order of
    /// their bytes. A backquote follows `_`.
    pub fn inside(&self) -> Range<String> {
        format!("{self}_")..format!("{self}`")
    }

    /// The run that holds this one and is inside no other; itself if it is that.
    pub fn outermost(&self) -> Self {
        Self(self.0.split(CHILD_SEPARATOR).next().unwrap_or_default().to_owned())
    }

    /// Which of several runs of a step of the outermost run this is, as far as the
    /// id says.
    pub fn index(&self) -> Option<&str> {
        let mut parts = self.0.split(CHILD_SEPARATOR).skip(1);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(_execution), index, None) => index,
            _ => None,
        }
    }

    /// Whether this run is inside `outer`.
    pub fn is_inside(&self, outer: &Self) -> bool {
        self.0.strip_prefix(outer.as_str()).is_some_and(|rest| rest.starts_with(CHILD_SEPARATOR))
    }

    /// Whether this run is `outer`, or inside it.
    pub fn is_within(&self, outer: &Self) -> bool {
        self == outer || self.is_inside(outer)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RunId {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        Self::new(text)
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Identifies a question: the run's id and the question's number in it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct QuestionId(String);

impl QuestionId {
    /// The `number`th question of `run`.
    pub fn new(run: &RunId, number: u32) -> Self {
        Self(format!("{run}-{number}"))
    }

    /// A question id as someone wrote it; it need not exist.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The run part, if the text has the form of a question id.
    pub fn run(&self) -> Option<RunId> {
        let (run, number) = self.0.rsplit_once('-')?;
        number.parse::<u32>().ok()?;
        RunId::new(run).ok()
    }

    /// The number part, if the text has the form of a question id.
    pub fn number(&self) -> Option<u32> {
        self.0.rsplit_once('-')?.1.parse().ok()
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
