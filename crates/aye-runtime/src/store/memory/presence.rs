//! Where questions are shown.

use aye_core::id::QuestionId;
use jiff::Timestamp;

use super::MemoryStore;
use crate::store::presence::LIFETIME;
use crate::store::{Presence, Showing, ShowingProcess, Shown, StoreError};

/// A question that a process shows.
#[derive(Debug)]
pub(super) struct Row {
    question: QuestionId,
    process: String,
    shown: Shown,
}

impl Presence for MemoryStore {
    fn shows(
        &mut self,
        process: &ShowingProcess,
        shown: &[Showing],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        let until = now.saturating_add(LIFETIME).unwrap_or(Timestamp::MAX);
        let mut before = std::mem::take(&mut state.presence);
        before.retain(|row| row.shown.until >= now);
        let (own, mut rows): (Vec<Row>, Vec<Row>) =
            before.into_iter().partition(|row| row.process == process.name);
        let mut is_new = false;
        for one in shown {
            let Showing { question, kind, client } = one.clone();
            let known = own.iter().find(|row| {
                (&row.question, row.shown.kind, &row.shown.client) == (&question, kind, &client)
            });
            is_new |= known.is_none();
            let since = known.map_or(now, |row| row.shown.since);
            let shown = Shown { kind, client, pid: process.pid, since, until };
            rows.push(Row { question, process: process.name.clone(), shown });
        }
        state.presence = rows;
        if is_new {
            let runs: Vec<_> = shown.iter().filter_map(|one| one.question.run()).collect();
            state.listeners.notify_of_requests(|to| runs.iter().any(|run| run.outermost() == *to));
        }
        Ok(())
    }

    fn shown(&self, question: &QuestionId, now: Timestamp) -> Result<Vec<Shown>, StoreError> {
        let state = self.state();
        let rows = state.presence.iter().filter(|row| row.question == *question);
        let mut shown: Vec<Shown> =
            rows.map(|row| row.shown.clone()).filter(|shown| shown.until >= now).collect();
        shown.sort_by(|a, b| {
            (a.since, a.kind.word(), &a.client).cmp(&(b.since, b.kind.word(), &b.client))
        });
        Ok(shown)
    }
}
