//! The index of runs and questions.

use aye_core::event::EventKind;
use aye_core::id::{QuestionId, RunId};
use aye_core::question::Question;

use super::{MemoryStore, journal};
use crate::store::index::CANDIDATES;
use crate::store::{
    Found, QuestionRow, QuestionState, Questions, RunFilter, RunRow, RunStatus, Runs, StoreError,
    concurrency,
};

impl Runs for MemoryStore {
    fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        Ok(self.state().run(run).cloned())
    }

    fn find_run(&self, name: &str) -> Result<Found<RunRow>, StoreError> {
        let state = self.state();
        let rows = state.newest();
        if let Some(exact) = rows.iter().find(|row| row.id.as_str() == name) {
            return Ok(Found::One((*exact).clone()));
        }
        let outermost = rows.iter().filter(|row| row.parent.is_none());
        let found: Vec<RunRow> = match name {
            "" => Vec::new(),
            "last" => outermost.take(1).map(|row| (*row).clone()).collect(),
            _ => outermost
                .filter(|row| row.id.as_str().starts_with(name))
                .take(CANDIDATES as usize)
                .map(|row| (*row).clone())
                .collect(),
        };
        Ok(Found::from_candidates(found))
    }

    fn runs_inside(&self, run: &RunId) -> Result<Vec<RunRow>, StoreError> {
        let state = self.state();
        let inside =
            state.newest().into_iter().rev().filter(|row| row.parent.as_ref() == Some(run));
        Ok(inside.cloned().collect())
    }

    fn claimants(&self, name: &str) -> Result<Vec<RunRow>, StoreError> {
        concurrency::Claims::claimants(&*self.state(), Some(name))
    }

    fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let state = self.state();
        let wanted = |row: &&RunRow| {
            row.parent.is_none()
                && filter.status.is_none_or(|status| row.status == status)
                && filter.skill.as_ref().is_none_or(|skill| row.skill == *skill)
                && filter.by.as_ref().is_none_or(|by| {
                    row.starter == *by || row.started_by.is_some_and(|one| one.word() == by)
                })
                && filter.text.as_ref().is_none_or(|text| has_text(row, text))
                && filter.before.is_none_or(|before| row.n < before)
        };
        let rows = state.newest().into_iter().filter(wanted);
        Ok(rows.take(filter.limit as usize).cloned().collect())
    }

    fn count_runs(&self, status: RunStatus) -> Result<u64, StoreError> {
        let filter = RunFilter { status: Some(status), limit: u32::MAX, ..RunFilter::default() };
        Ok(self.runs(&filter)?.len() as u64)
    }
}

/// Whether a text stands in what people read of a run.
fn has_text(row: &RunRow, text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let optional = [&row.step, &row.message, &row.environment].into_iter().flatten();
    let read = [row.id.as_str(), &row.skill, &row.starter].into_iter();
    read.chain(optional.map(String::as_str)).any(|one| one.to_ascii_lowercase().contains(&text))
}

impl Questions for MemoryStore {
    fn open_questions(&self) -> Result<Vec<QuestionRow>, StoreError> {
        Ok(self.state().questions().into_iter().filter(|row| is_open(row)).cloned().collect())
    }

    fn open_questions_after(&self, after: u64, limit: u32) -> Result<Vec<QuestionRow>, StoreError> {
        let state = self.state();
        let rows = state.questions().into_iter().filter(|row| is_open(row) && row.n > after);
        Ok(rows.take(limit as usize).cloned().collect())
    }

    fn count_open(&self) -> Result<u64, StoreError> {
        Ok(self.state().questions().into_iter().filter(|row| is_open(row)).count() as u64)
    }

    fn waiting_within(&self, run: &RunId) -> Result<u32, StoreError> {
        let within = |row: &&QuestionRow| is_open(row) && row.run.is_within(run);
        let count = self.state().questions().into_iter().filter(within).count();
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    fn questions(&self, run: &RunId) -> Result<Vec<QuestionRow>, StoreError> {
        Ok(self.state().questions().into_iter().filter(|row| row.run == *run).cloned().collect())
    }

    fn question(&self, name: &str) -> Result<Found<QuestionRow>, StoreError> {
        let state = self.state();
        let rows = state.questions();
        if let Some(exact) = rows.iter().find(|row| row.id.as_str() == name) {
            return Ok(Found::One((*exact).clone()));
        }
        let begins = |row: &&&QuestionRow| !name.is_empty() && row.id.as_str().starts_with(name);
        let found = |open: bool| -> Vec<QuestionRow> {
            let rows = rows.iter().rev().filter(begins).filter(|row| is_open(row) || !open);
            rows.take(CANDIDATES as usize).map(|row| (*row).clone()).collect()
        };
        let open = found(true);
        Ok(Found::from_candidates(if open.is_empty() { found(false) } else { open }))
    }

    fn asked(&self, question: &QuestionId) -> Result<Option<Question>, StoreError> {
        let state = self.state();
        let row = state.questions().into_iter().find(|row| row.id == *question);
        Ok(row.and_then(|row| match journal::asking(&state, row.n) {
            Some(EventKind::ConfirmationRequired(question)) => Some((**question).clone()),
            _ => None,
        }))
    }
}

fn is_open(row: &QuestionRow) -> bool {
    row.state == QuestionState::Open
}
