//! Messages to people.

use std::sync::Arc;

use aye_core::id::RunId;
use jiff::Timestamp;

use super::MemoryStore;
use super::state::State;
use crate::store::{
    Announcer, AnswerToken, Job, MessageRow, MessageState, Outbox, QuestionState, Settled,
    StoreError,
};

impl Outbox for MemoryStore {
    fn announce_with(&mut self, announcer: Option<Arc<dyn Announcer>>) {
        self.announcer = announcer;
    }

    fn claim_message(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        busy: &[String],
    ) -> Result<Option<(Job, MessageRow)>, StoreError> {
        let mut state = self.state();
        let free = |row: &&MessageRow| {
            row.due <= now
                && row.claimed.is_none_or(|until| until <= now)
                && !busy.contains(&row.channel)
        };
        let waiting = |row: &&MessageRow| row.state == MessageState::Waiting;
        let first = |rows: &mut dyn Iterator<Item = &MessageRow>| {
            rows.min_by_key(|row| (row.due, row.id)).map(|row| row.id)
        };
        let rows = &state.messages;
        let to_send = first(&mut rows.iter().filter(free).filter(waiting));
        let to_retract =
            || first(&mut rows.iter().filter(free).filter(|row| is_decided(&state, row)));
        let found = to_send.map(|id| (Job::Send, id));
        let Some((job, id)) = found.or_else(|| Some((Job::Retract, to_retract()?))) else {
            return Ok(None);
        };
        let claimed = state.messages.iter_mut().find(|row| row.id == id).map(|row| {
            row.claimed = Some(until);
            row.attempts += 1;
            row.clone()
        });
        Ok(claimed.map(|row| (job, row)))
    }

    fn settle_message(
        &mut self,
        id: i64,
        settled: &Settled,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        if let Some(row) = state.messages.iter_mut().find(|row| row.id == id) {
            row.state = settled.state;
            row.due = settled.due;
            row.receipt.clone_from(&settled.receipt);
            row.claimed = None;
            row.result = settled.result.clone().or(row.result.take());
            match settled.tried {
                true => row.tried = Some(now),
                false => row.attempts = row.attempts.saturating_sub(1),
            }
        }
        Ok(())
    }

    fn next_message(&self, _: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let state = self.state();
        let waiting = state.messages.iter().filter(|row| row.state == MessageState::Waiting);
        Ok(waiting.map(|row| row.due.max(row.claimed.unwrap_or(row.due))).min())
    }

    fn has_due_message(&self, run: &RunId, now: Timestamp) -> Result<bool, StoreError> {
        let state = self.state();
        let due = |row: &MessageRow| {
            row.due <= now && (row.state == MessageState::Waiting || is_decided(&state, row))
        };
        Ok(state.messages.iter().any(|row| row.run.is_within(run) && due(row)))
    }

    fn messages(&self, run: &RunId) -> Result<Vec<MessageRow>, StoreError> {
        Ok(self.state().messages.iter().filter(|row| row.run.is_within(run)).cloned().collect())
    }

    fn newest_messages(&self, limit: u32) -> Result<Vec<MessageRow>, StoreError> {
        Ok(self.state().messages.iter().rev().take(limit as usize).cloned().collect())
    }

    fn keep_token(&mut self, token: &AnswerToken) -> Result<(), StoreError> {
        self.state()
            .tokens
            .insert(token.digest.clone(), AnswerToken { used: None, ..token.clone() });
        Ok(())
    }

    fn token(&self, digest: &str) -> Result<Option<AnswerToken>, StoreError> {
        Ok(self.state().tokens.get(digest).cloned())
    }

    fn use_token(&mut self, digest: &str, now: Timestamp) -> Result<bool, StoreError> {
        let mut state = self.state();
        let unused = state.tokens.get_mut(digest).filter(|token| token.used.is_none());
        Ok(unused.is_some_and(|token| token.used.replace(now).is_none()))
    }
}

/// Whether it was sent, can be taken back, and is about a question that is
/// decided.
fn is_decided(state: &State, row: &MessageRow) -> bool {
    row.state == MessageState::Sent
        && row.receipt.is_some()
        && !state.questions().iter().any(|question| {
            Some(&question.id) == row.question.as_ref() && question.state == QuestionState::Open
        })
}
