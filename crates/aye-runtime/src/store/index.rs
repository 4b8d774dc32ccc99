//! The port of the index: runs and questions as rows, derived from the events.

use aye_core::id::{QuestionId, RunId};
use aye_core::question::Question;

use super::{QuestionRow, RunRow, RunStatus, StoreError};

/// The runs.
pub trait Runs {
    /// The run with this id.
    fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError>;

    /// The run that an id, the beginning of one, or `last` stands for.
    fn find_run(&self, name: &str) -> Result<Found<RunRow>, StoreError>;

    /// The runs inside this one, the first begun first.
    fn runs_inside(&self, run: &RunId) -> Result<Vec<RunRow>, StoreError>;

    /// Runs that are not inside another, the newest first.
    fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError>;

    /// The runs that have this name or wait for it (`concurrency`): the one that
    /// has it first, then the others in the order in which they came.
    fn claimants(&self, name: &str) -> Result<Vec<RunRow>, StoreError>;

    /// How many runs have this status, those inside others not counted.
    fn count_runs(&self, status: RunStatus) -> Result<u64, StoreError>;

    /// The outermost run that a run is inside of; itself, if it is inside none.
    /// Its id has to say so too: a row may have been changed.
    fn outermost(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        let mut row = self.run(run)?;
        let parent = |row: &RunRow| row.parent.clone().filter(|parent| row.id.is_inside(parent));
        while let Some(parent) = row.as_ref().and_then(parent) {
            row = self.run(&parent)?;
        }
        Ok(row)
    }
}

/// The questions: the inbox.
pub trait Questions {
    /// The open questions of every run, the oldest first.
    fn open_questions(&self) -> Result<Vec<QuestionRow>, StoreError>;

    /// At most `limit` open questions that were asked after number `after`
    /// ([`QuestionRow::n`]; 0 for the first), the oldest first: a page of them.
    fn open_questions_after(&self, after: u64, limit: u32) -> Result<Vec<QuestionRow>, StoreError>;

    /// How many questions are open.
    fn count_open(&self) -> Result<u64, StoreError>;

    /// How many questions are open in a run and in the runs inside it.
    fn waiting_within(&self, run: &RunId) -> Result<u32, StoreError>;

    /// Every question of a run, in order.
    fn questions(&self, run: &RunId) -> Result<Vec<QuestionRow>, StoreError>;

    /// The question that an id or the beginning of one stands for; open
    /// questions go before closed ones.
    fn question(&self, name: &str) -> Result<Found<QuestionRow>, StoreError>;

    /// A question with everything a prompter shows, from the event that asked it.
    fn asked(&self, question: &QuestionId) -> Result<Option<Question>, StoreError>;
}

/// How many candidates an ambiguous name shows.
pub(super) const CANDIDATES: u32 = 10;

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    /// Only these.
    pub status: Option<RunStatus>,
    /// Only runs of this skill.
    pub skill: Option<String>,
    /// Only runs that this person or account started, or that were started like this:
    /// `terminal`, `script`, `assistant`, `schedule`, `web`, `editor` or `api`.
    pub by: Option<String>,
    /// Only runs with this text in their id, skill, step, message, environment or starter;
    /// capital letters are the same as others.
    pub text: Option<String>,
    /// Only runs older than this one, for a next page: [`RunRow::n`].
    pub before: Option<u64>,
    /// At most so many.
    pub limit: u32,
}

impl Default for RunFilter {
    fn default() -> Self {
        Self { status: None, skill: None, by: None, text: None, before: None, limit: 50 }
    }
}

/// What a name or the beginning of one stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<T> {
    /// Nothing.
    None,
    /// One thing.
    One(T),
    /// Several; the newest first, not necessarily all.
    Several(Vec<T>),
}

impl<T> Found<T> {
    /// From the newest candidates.
    pub(super) fn from_candidates(mut candidates: Vec<T>) -> Self {
        match candidates.len() {
            0 | 1 => candidates.pop().map_or(Self::None, Self::One),
            _ => Self::Several(candidates),
        }
    }
}
