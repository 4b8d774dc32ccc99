//! What a [`JournalReader`](super::JournalReader) gives back: runs, questions, where a run stands.

use std::collections::HashSet;

use aye_core::event::{Event, PauseReason};
use aye_core::id::RunId;
use aye_core::journal::{State, StepRecord};
use aye_core::nested::Parent;
use aye_core::question::{Agreement, Question};

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::{Found, QuestionRow, RunFilter, RunRow, Store};

/// A run in a list.
pub struct ListedRun {
    /// The run; questions inside it are counted as its own.
    pub row: RunRow,
    /// Whether a process drives it.
    pub driven: bool,
    /// Whether its step waits for a slot.
    pub queued: bool,
}

/// A question that nobody has answered.
pub struct OpenQuestion {
    /// As listed.
    pub row: QuestionRow,
    /// As asked; `None` if the journal does not have it.
    pub question: Option<Question>,
    /// Whether a process drives its run.
    pub driven: bool,
    /// The run rests: its answer takes it up.
    pub rests: bool,
    /// The runs around it, from the outside in.
    pub around: Vec<Parent>,
    /// Who has agreed so far, and who started the run, where that decides who may agree.
    pub agreement: Agreement,
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

/// A run as it went, with the runs inside it.
#[derive(Debug)]
pub struct RunHistory {
    /// Where it stands.
    pub state: State,
    /// Its events.
    pub events: Vec<Event>,
    /// The runs inside it, the first begun first.
    pub inside: Vec<Self>,
}

/// All that is known of a run.
pub struct RunDetails {
    /// How it went.
    pub history: RunHistory,
    /// The outermost run that it is inside of.
    pub outer: RunId,
    /// Whether a process drives it.
    pub driven: bool,
    /// How many questions are open in it.
    pub waiting: u32,
}

impl Runtime {
    /// The runs that fit a filter, the newest first.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<ListedRun>, Error> {
        let Some(store) = self.store_to_read()? else { return Ok(Vec::new()) };
        store.runs(filter)?.into_iter().map(|row| listed(&*store, row)).collect()
    }

    /// A run as it stands now.
    pub fn run(&self, name: &str) -> Result<ListedRun, Error> {
        let store = self.store_to_read()?.ok_or_else(Self::no_journal)?;
        listed(&*store, find_run(&*store, name)?)
    }
}

/// A run with what its row does not have.
pub(super) fn listed(store: &dyn Store, mut row: RunRow) -> Result<ListedRun, Error> {
    if row.status.is_ended() {
        return Ok(ListedRun { row, driven: false, queued: false });
    }
    // Who is asked inside it is waited for all the same.
    row.waiting = store.waiting_within(&row.id)?;
    let driven = store.is_driven(&row.id)?;
    // A slot is only ever taken by another item of the same run: a run that is inside none has
    // its own. So a list reads no journals.
    let queued = driven && row.parent.is_some() && state_of(store, &row.id)?.is_queued();
    Ok(ListedRun { row, driven, queued })
}

/// The state of a run: the fold of its events.
pub(super) fn state_of(store: &dyn Store, run: &RunId) -> Result<State, Error> {
    State::fold(&store.events(run, 0)?)
        .map_err(|error| Error::Journal { run: run.to_string(), error })
}

/// The questions that nobody has answered, the oldest first.
pub(super) fn open_questions(store: &dyn Store) -> Result<Vec<OpenQuestion>, Error> {
    store.open_questions()?.into_iter().map(|row| open_question(store, row)).collect()
}

/// At most `limit` of them that were asked after the event of this number.
pub(super) fn open_questions_after(
    store: &dyn Store,
    after: u64,
    limit: u32,
) -> Result<Vec<OpenQuestion>, Error> {
    let rows = store.open_questions_after(after, limit)?;
    rows.into_iter().map(|row| open_question(store, row)).collect()
}

/// A question with what its row does not have.
pub(super) fn open_question(store: &dyn Store, row: QuestionRow) -> Result<OpenQuestion, Error> {
    let driven = store.is_driven(&row.run)?;
    let question = store.asked(&row.id)?;
    let is_for_several = |question: &Question| question.approvals > 1 || question.not_starter;
    Ok(OpenQuestion {
        agreement: match question.as_ref().is_some_and(is_for_several) {
            true => agreement(store, &row)?,
            false => Agreement::default(),
        },
        question,
        driven,
        rests: !driven && rests(store, &row.run)?,
        around: store.place_of(&row.run)?,
        row,
    })
}

/// Who has agreed to a question so far.
fn agreement(store: &dyn Store, row: &QuestionRow) -> Result<Agreement, Error> {
    // A journal that cannot be read is told where the run is.
    let state = State::fold(&store.events(&row.run, 0)?).ok();
    let asks = |state: &State| state.asking().is_some_and(|question| question.id == row.id);
    Ok(state.filter(asks).map(|state| state.agreement()).unwrap_or_default())
}

/// Whether a run, or the run around it, rests: its answer takes it up.
fn rests(store: &dyn Store, run: &RunId) -> Result<bool, Error> {
    let outermost = store.outermost(run)?.map_or_else(|| run.clone(), |outer| outer.id);
    let state = State::fold(&store.events(&outermost, 0)?);
    // A journal that cannot be read is told where the run is.
    Ok(state.is_ok_and(|state| state.paused == Some(PauseReason::Resting)))
}

/// The run that a name, the beginning of one, or `last` stands for.
pub(super) fn find_run(store: &dyn Store, name: &str) -> Result<RunRow, Error> {
    match store.find_run(name)? {
        Found::One(row) => Ok(row),
        Found::None if name == "last" => Err(Runtime::no_journal()),
        Found::None => {
            let message = format!("there is no run `{name}`");
            Err(Error::not_found(message, "`aye runs` lists them"))
        }
        Found::Several(rows) => {
            let names: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
            let message = format!("`{name}` stands for several runs: {}", names.join(", "));
            Err(Error::usage(message, "write more letters of the id"))
        }
    }
}

impl RunHistory {
    pub(super) fn read(store: &dyn Store, run: &RunId) -> Result<Self, Error> {
        let events = store.events(run, 0)?;
        let state =
            State::fold(&events).map_err(|error| Error::Journal { run: run.to_string(), error })?;
        let inside = store.runs_inside(run)?;
        let inside =
            inside.iter().map(|row| Self::read(store, &row.id)).collect::<Result<_, _>>()?;
        Ok(Self { state, events, inside })
    }

    /// The step that a name or a path means, with the run it is in:
    /// `deploy`, `roll[web3]/restart`, `roll[2]/restart`.
    pub fn find<'a>(&'a self, wanted: &'a str) -> Option<(&'a Self, &'a str)> {
        let known = |name: &str| self.state.steps.contains_key(name);
        if known(wanted) || self.unreached().contains(&wanted) {
            return Some((self, wanted));
        }
        self.inside.iter().rev().find_map(|inside| {
            let rest = inside.rest_of(wanted)?.strip_prefix('/')?;
            inside.find(rest)
        })
    }

    /// The steps that a run came to: those of `finally` last, also if a retry came to others
    /// after them.
    pub fn steps(&self) -> impl Iterator<Item = (&String, &StepRecord)> {
        let list = self.state.started.step_list.iter().filter(|step| step.finally);
        let finally: HashSet<&str> = list.map(|step| step.name.as_str()).collect();
        let (last, first): (Vec<_>, Vec<_>) =
            self.state.steps.iter().partition(|(name, _)| finally.contains(name.as_str()));
        first.into_iter().chain(last)
    }

    /// The run that a path means: `roll[web3]`, `roll[2]`.
    pub fn find_inside(&self, wanted: &str) -> Option<&Self> {
        self.inside.iter().rev().find_map(|inside| match inside.rest_of(wanted)? {
            "" => Some(inside),
            rest => inside.find_inside(rest.strip_prefix('/')?),
        })
    }

    /// What follows the name of this run in a path, if the path begins with it.
    fn rest_of<'a>(&self, path: &'a str) -> Option<&'a str> {
        let parent = self.state.started.parent.as_ref()?;
        let own = [parent.label(), parent.numbered()];
        own.iter().find_map(|own| path.strip_prefix(own.as_str()))
    }

    /// The steps of the file that the run has not come to.
    pub fn unreached(&self) -> Vec<&str> {
        let planned = self.state.started.step_list.iter().map(|step| step.name.as_str());
        planned.filter(|name| !self.state.steps.contains_key(*name)).collect()
    }

    /// The runs inside a step, of its last attempt.
    pub fn inside_of(&self, step: &str, record: &StepRecord) -> impl Iterator<Item = &Self> {
        let execution = if record.runs > 0 { record.runs } else { record.execution };
        self.inside.iter().filter(move |history| {
            let parent = history.state.started.parent.as_ref();
            parent.is_some_and(|parent| parent.step == step && parent.execution == execution)
        })
    }
}

impl Overview {
    /// Looks at a run that someone started.
    pub(super) fn of(store: &dyn Store, run: &RunId) -> Result<Self, Error> {
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
