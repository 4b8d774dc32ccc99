//! Reading what is there: runs, questions, where a run stands.

use aye_core::id::RunId;
use aye_core::journal::State;
use aye_core::nested::Parent;
use aye_core::question::Question;

use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::runtime::Runtime;
use crate::store::{Found, QuestionRow, RunFilter, RunRow, Store};

/// A run in a list.
pub struct ListedRun {
    /// The run; questions inside it are counted as its own.
    pub row: RunRow,
    /// Whether a process drives it.
    pub driven: bool,
}

/// A question that nobody has answered.
pub struct OpenQuestion {
    /// As listed.
    pub row: QuestionRow,
    /// As asked; `None` if the journal does not have it.
    pub question: Option<Question>,
    /// Whether a process drives its run.
    pub driven: bool,
    /// The runs around it, from the outside in.
    pub around: Vec<Parent>,
}

/// Where a run stands, with the oldest question in it that nobody has answered.
pub struct Overview {
    /// The run.
    pub row: RunRow,
    /// What is known of it.
    pub state: State,
    /// Whether a process drives it.
    pub driven: bool,
    /// What it asks, or a run inside it.
    pub asks: Option<AskingRun>,
    /// How many questions are open in it.
    pub waiting: usize,
}

/// A run that waits for an answer.
pub struct AskingRun {
    /// The run.
    pub run: RunRow,
    /// What is known of it.
    pub state: State,
    /// The question, as listed.
    pub row: QuestionRow,
    /// The question, as asked.
    pub question: Question,
}

impl Runtime {
    /// The runs that fit a filter, the newest first.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<ListedRun>, Error> {
        let Some(store) = self.store_to_read()? else { return Ok(Vec::new()) };
        store.runs(filter)?.into_iter().map(|row| listed(&*store, row)).collect()
    }

    /// A run as it stands now.
    pub fn run(&self, name: &str) -> Result<ListedRun, Error> {
        let store = self.journal()?;
        let row = self.find_run(&*store, name)?;
        listed(&*store, row)
    }
}

/// A run with what its row does not have.
fn listed(store: &dyn Store, mut row: RunRow) -> Result<ListedRun, Error> {
    if row.status.is_ended() {
        return Ok(ListedRun { row, driven: false });
    }
    // Who is asked inside it is waited for all the same.
    row.waiting = store.waiting_within(&row.id)?;
    Ok(ListedRun { driven: store.is_driven(&row.id)?, row })
}

/// The state of a run: the fold of its events.
pub fn state_of(store: &dyn Store, run: &RunId) -> Result<State, Error> {
    State::fold(&store.events(run, 0)?)
        .map_err(|error| Error::Journal { run: run.to_string(), error })
}

/// The questions that nobody has answered, the oldest first.
pub fn open_questions(store: &dyn Store) -> Result<Vec<OpenQuestion>, Error> {
    let mut open = Vec::new();
    for row in store.open_questions()? {
        open.push(OpenQuestion {
            question: store.asked(&row.id)?,
            driven: store.is_driven(&row.run)?,
            around: store.place_of(&row.run)?,
            row,
        });
    }
    Ok(open)
}

/// The question that an id, or the beginning of one, stands for.
pub fn find_question(store: &dyn Store, name: &str) -> Result<QuestionRow, Error> {
    match store.question(name)? {
        Found::One(question) => Ok(question),
        Found::None => {
            let message = format!("there is no question `{}`", escape_control_line(name));
            Err(Error::not_found(message, "`aye inbox` lists the open ones"))
        }
        Found::Several(rows) => {
            let names: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
            let message = format!("`{name}` stands for several questions: {}", names.join(", "));
            Err(Error::usage(message, "write more letters of the id"))
        }
    }
}

impl Overview {
    /// Looks at a run that somebody started.
    pub fn of(store: &dyn Store, run: &RunId) -> Result<Self, Error> {
        let row = store.run(run)?.ok_or_else(|| gone(run))?;
        let mut open = store.open_questions()?;
        open.retain(|one| one.run == *run || one.run.is_inside(run));
        let waiting = open.len();
        let asks = match open.into_iter().next() {
            None => None,
            Some(row) => {
                let question = store.asked(&row.id)?.ok_or_else(|| gone(run))?;
                let run = store.run(&row.run)?.ok_or_else(|| gone(run))?;
                let state = state_of(store, &run.id)?;
                Some(AskingRun { run, state, row, question })
            }
        };
        let state = state_of(store, run)?;
        Ok(Self { driven: store.is_driven(run)?, row, state, asks, waiting })
    }
}

fn gone(run: &RunId) -> Error {
    let message = format!("run `{run}` is not in the journal any more");
    Error::not_found(message, "`inbox` lists what waits")
}
