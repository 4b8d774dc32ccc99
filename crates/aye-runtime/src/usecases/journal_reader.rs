//! The journal, opened to read: where every front end looks things up.

use std::collections::VecDeque;

use aye_core::event::Event;
use aye_core::id::{QuestionId, RunId};
use aye_core::journal::State;
use aye_core::nested::Parent;
use aye_core::question::Question;
use aye_process::LogReader;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::runtime::Runtime;
use crate::store::{Found, QuestionRow, RunFilter, RunRow, RunStatus, Source, Store};

use super::loaded_run::{LoadedRun, TextArguments};
use super::logs::{
    LogItem, LogRequest, LogTails, TailsRequest, read_logs, tail_of_log, tails_of_logs,
};
use super::run_views::{
    ListedRun, OpenQuestion, Overview, RunDetails, RunHistory, find_run, listed, open_question,
    open_questions, open_questions_after, state_of,
};
use super::step_place::StepPlace;
use super::subscribe::Subscription;

/// Runs, questions and events, as they are at the moment of each call.
pub struct JournalReader {
    pub(super) store: Box<dyn Store>,
}

impl Runtime {
    /// Opens the journal to read; an error if nothing was ever run.
    pub fn journal(&self) -> Result<JournalReader, Error> {
        self.journal_if_any()?.ok_or_else(Self::no_journal)
    }

    /// Opens the journal to read; `None` if nothing was ever run.
    pub fn journal_if_any(&self) -> Result<Option<JournalReader>, Error> {
        Ok(self.store_to_read()?.map(JournalReader::new))
    }

    /// Opens the journal to wait for runs; makes it if nothing was ever run.
    pub fn journal_to_watch(&self) -> Result<JournalReader, Error> {
        Ok(JournalReader::new(self.store()?))
    }
}

impl JournalReader {
    pub(super) fn new(store: Box<dyn Store>) -> Self {
        Self { store }
    }

    /// The run that a name, the beginning of one, or `last` stands for.
    pub fn find_run(&self, name: &str) -> Result<RunRow, Error> {
        find_run(&*self.store, name)
    }

    /// The steps that a run is inside of, from the outside in.
    pub fn around(&self, run: &RunId) -> Result<Vec<Parent>, Error> {
        Ok(self.store.place_of(run)?)
    }

    /// The run with this id.
    pub fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        Ok(self.store.run(run)?)
    }

    /// The runs that fit a filter, the newest first.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, Error> {
        Ok(self.store.runs(filter)?)
    }

    /// The run that has this name of a `concurrency`, or waits first for it.
    pub fn holder_of_name(&self, name: &str) -> Result<Option<RunId>, Error> {
        Ok(self.store.claimants(name)?.into_iter().next().map(|row| row.id))
    }

    /// The outermost run that a run is inside of; itself, if it is inside none.
    pub fn outermost(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        Ok(self.store.outermost(run)?)
    }

    /// The runs inside a run, each with the step it belongs to, the first begun first.
    pub fn runs_inside(&self, run: &RunId) -> Result<Vec<(String, RunId)>, Error> {
        let mut inside = Vec::new();
        for row in self.store.runs_inside(run)? {
            if let Some(parent) = self.store.place_of(&row.id)?.pop() {
                inside.push((parent.step, row.id));
            }
        }
        Ok(inside)
    }

    /// A run as it stands now, with whether a process drives it.
    pub fn listed(&self, row: RunRow) -> Result<ListedRun, Error> {
        listed(&*self.store, row)
    }

    /// A question of any state, with what its row does not have.
    pub fn whole_question(&self, row: QuestionRow) -> Result<OpenQuestion, Error> {
        open_question(&*self.store, row)
    }

    /// Whether a process drives a run.
    pub fn is_driven(&self, run: &RunId) -> Result<bool, Error> {
        Ok(self.store.is_driven(run)?)
    }

    /// A run with its skill.
    pub fn load(&self, row: &RunRow, runtime: &Runtime) -> Result<LoadedRun, Error> {
        LoadedRun::read(&*self.store, row, runtime)
    }

    /// What a step of a run is given as it stands, secrets masked; nothing where that needs
    /// what only the driver of the run knows.
    pub fn arguments(
        &self,
        row: &RunRow,
        step: &str,
        runtime: &Runtime,
    ) -> Option<Map<String, Value>> {
        let outermost = self.outermost(&row.id).ok()?;
        let run = self.load(outermost.as_ref().unwrap_or(row), runtime).ok()?;
        run.arguments(&*self.store, (&row.id, step), runtime)
    }

    /// Which arguments of a step of a run are text; nothing is known where the
    /// skill cannot be read.
    pub fn text_arguments(&self, row: &RunRow, step: &str, runtime: &Runtime) -> TextArguments {
        match self.load(row, runtime) {
            Ok(run) => run.text_arguments(step, || self.arguments(row, step, runtime)),
            Err(_) => TextArguments::Some(Vec::new()),
        }
    }

    /// Where a run stands.
    pub fn state(&self, run: &RunId) -> Result<State, Error> {
        state_of(&*self.store, run)
    }

    /// Where a run stands, with the oldest question in it.
    pub fn overview(&self, run: &RunId) -> Result<Overview, Error> {
        Overview::of(&*self.store, run)
    }

    /// All that is known of a run.
    pub fn details(&self, name: &str) -> Result<RunDetails, Error> {
        let row = self.find_run(name)?;
        Ok(RunDetails {
            history: RunHistory::read(&*self.store, &row.id)?,
            outer: self.store.outermost(&row.id)?.map_or_else(|| row.id.clone(), |outer| outer.id),
            driven: self.store.is_driven(&row.id)?,
            waiting: self.store.waiting_within(&row.id)?,
        })
    }

    /// The text that a run was started with, by its digest.
    pub fn source(&self, digest: &str) -> Result<Option<Source>, Error> {
        Ok(self.store.source(digest)?)
    }

    /// Where a step of a run is written; `None` if it is not in the text.
    pub fn step_place(&self, run: &RunRow, step: &str) -> Result<Option<StepPlace>, Error> {
        StepPlace::find(self, run, step)
    }

    /// The events of a run.
    pub fn events(&self, run: &RunId) -> Result<Vec<Event>, Error> {
        Ok(self.store.events(run, 0)?)
    }

    /// The events of a run and those inside it, in the order of their commits.
    pub fn events_within(&self, run: &RunId) -> Result<Vec<(u64, Event)>, Error> {
        Ok(self.store.events_within(run, 0)?)
    }

    /// The number of the newest event; 0 if there is none.
    pub fn position(&self) -> Result<u64, Error> {
        Ok(self.store.position()?)
    }

    /// The questions that nobody has answered, the oldest first.
    pub fn open_questions(&self) -> Result<Vec<OpenQuestion>, Error> {
        open_questions(&*self.store)
    }

    /// At most `limit` of them that were asked after the event of this number.
    pub fn open_questions_after(&self, after: u64, limit: u32) -> Result<Vec<OpenQuestion>, Error> {
        open_questions_after(&*self.store, after, limit)
    }

    /// How many runs have this status.
    pub fn count_runs(&self, status: RunStatus) -> Result<u64, Error> {
        Ok(self.store.count_runs(status)?)
    }

    /// How many questions nobody has answered.
    pub fn count_open(&self) -> Result<u64, Error> {
        Ok(self.store.count_open()?)
    }

    /// Events of every run after the event of this number, at most `limit`.
    pub fn events_after(&self, after: u64, limit: u32) -> Result<Vec<(u64, Event)>, Error> {
        Ok(self.store.events_after(after, limit)?)
    }

    /// The question that an id, or the beginning of one, stands for.
    pub fn find_question(&self, name: &str) -> Result<QuestionRow, Error> {
        match self.store.question(name)? {
            Found::One(question) => Ok(question),
            Found::None => {
                let message = format!("there is no question `{}`", escape_control_line(name));
                Err(Error::not_found(message, "`aye inbox` lists the open ones"))
            }
            Found::Several(rows) => {
                let names: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
                let names = names.join(", ");
                let message = format!("`{name}` stands for several questions: {names}");
                Err(Error::usage(message, "write more letters of the id"))
            }
        }
    }

    /// The question with this id.
    pub fn question(&self, question: &QuestionId) -> Result<Option<QuestionRow>, Error> {
        Ok(match self.store.question(question.as_str())? {
            Found::One(row) if row.id == *question => Some(row),
            Found::One(_) | Found::None | Found::Several(_) => None,
        })
    }

    /// A question as it was asked.
    pub fn asked(&self, question: &QuestionId) -> Result<Option<Question>, Error> {
        Ok(self.store.asked(question)?)
    }

    /// Tells what the steps of a run wrote, in order; says how many steps that were.
    pub fn logs(
        &self,
        request: &LogRequest<'_>,
        tell: &mut dyn FnMut(LogItem<'_>) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        read_logs(&*self.store, request, tell)
    }

    /// The ends of what the steps of a run wrote.
    pub fn tails_of_logs(&self, request: &TailsRequest<'_>) -> Result<LogTails, Error> {
        tails_of_logs(&*self.store, request)
    }

    /// What one execution of a step wrote.
    pub fn log(&self, run: &RunId, execution: u32, step: &str) -> LogReader {
        LogReader::new(self.store.log(run, execution, step))
    }

    /// The last lines of that, and how many came before.
    pub fn tail_of_log(
        &self,
        run: &RunId,
        (execution, step): (u32, &str),
        most: usize,
    ) -> Result<(VecDeque<String>, usize), Error> {
        tail_of_log(self.log(run, execution, step), most)
    }

    /// Follows a run and those inside it, after the event of this number.
    pub fn subscribe_to_run(&self, run: &RunId, after: u64) -> Result<Subscription<'_>, Error> {
        Subscription::to_run(&*self.store, run, after)
    }

    /// Follows the whole journal, after the event of this number.
    pub fn subscribe(&self, after: u64) -> Result<Subscription<'_>, Error> {
        Subscription::to_all(&*self.store, after)
    }
}
