//! The outbox: a table of messages, and one of rights to answer.

use std::sync::Arc;

use aye_core::event::Event;
use aye_core::id::{QuestionId, RunId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::SqliteStore;
use super::runs::{time, unexpected};
use crate::store::{
    Announcer, AnswerToken, Job, MessageRow, MessageState, NewMessage, Occasion, Outbox, Settled,
    StoreError,
};

const COLUMNS: &str = "outbox.id, outbox.run, seq, channel, agreed, occasion, question, due, \
     outbox.state, attempts, claimed, result, tried, receipt";

impl Outbox for SqliteStore {
    fn announce_with(&mut self, announcer: Option<Arc<dyn Announcer>>) {
        self.announcer = announcer;
    }

    fn claim_message(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        busy: &[String],
    ) -> Result<Option<(Job, MessageRow)>, StoreError> {
        let now = now.as_millisecond();
        // Most of the time there is nothing, and then nothing is locked.
        let none = candidate(&self.db, now, busy).map_err(|error| self.failed(&error))?.is_none();
        if none {
            return Ok(None);
        }
        self.commit(|change| {
            let Some((job, id)) = candidate(change, now, busy)? else { return Ok(None) };
            change
                .prepare_cached(
                    "UPDATE outbox SET claimed = ?2, attempts = attempts + 1 WHERE id = ?1",
                )?
                .execute((id, until.as_millisecond()))?;
            let row = select(change, "WHERE outbox.id = ?1", [id])?.pop();
            Ok(row.map(|row| (job, row)))
        })
    }

    fn settle_message(
        &mut self,
        id: i64,
        settled: &Settled,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.commit(|change| {
            change
                .prepare_cached(
                    "UPDATE outbox SET state = ?2, due = ?3, result = coalesce(?4, result),
                     receipt = ?5, claimed = NULL,
                     tried = CASE WHEN ?6 THEN ?7 ELSE tried END,
                     attempts = CASE WHEN ?6 THEN attempts ELSE max(attempts - 1, 0) END
                     WHERE id = ?1",
                )?
                .execute(params![
                    id,
                    settled.state.word(),
                    settled.due.as_millisecond(),
                    settled.result,
                    settled.receipt,
                    settled.tried,
                    now.as_millisecond(),
                ])?;
            Ok(())
        })
    }

    fn next_message(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.db
            .prepare_cached(
                "SELECT min(max(due, coalesce(claimed, 0))) FROM outbox WHERE state = 'waiting'",
            )
            .and_then(|mut query| query.query_row([], |row| row.get::<_, Option<i64>>(0)))
            .map_err(|error| self.failed(&error))
            .map(|due| due.map(|due| Timestamp::from_millisecond(due).unwrap_or(now)))
    }

    fn has_due_message(&self, run: &RunId, now: Timestamp) -> Result<bool, StoreError> {
        let inside = run.inside();
        self.db
            .prepare_cached(&format!(
                "SELECT EXISTS (SELECT 1 FROM outbox
                 WHERE (run = ?1 OR (run >= ?2 AND run < ?3))
                 AND due <= ?4 AND (state = 'waiting' OR {DECIDED}))"
            ))
            .and_then(|mut query| {
                query.query_row(
                    params![run.as_str(), inside.start, inside.end, now.as_millisecond()],
                    |row| row.get(0),
                )
            })
            .map_err(|error| self.failed(&error))
    }

    fn messages(&self, run: &RunId) -> Result<Vec<MessageRow>, StoreError> {
        let inside = run.inside();
        let which = "WHERE run = ?1 OR (run >= ?2 AND run < ?3) ORDER BY id";
        select(&self.db, which, (run.as_str(), inside.start, inside.end))
            .map_err(|error| self.failed(&error))
    }

    fn newest_messages(&self, limit: u32) -> Result<Vec<MessageRow>, StoreError> {
        select(&self.db, "ORDER BY id DESC LIMIT ?1", [limit]).map_err(|error| self.failed(&error))
    }

    fn keep_token(&mut self, token: &AnswerToken) -> Result<(), StoreError> {
        self.commit(|change| {
            change
                .prepare_cached(
                    "INSERT INTO answer_tokens (digest, question, shown, choice, person, used)
                     VALUES (?1, ?2, ?3, ?4, ?5, NULL)",
                )?
                .execute(params![
                    token.digest,
                    token.question.as_str(),
                    token.shown,
                    token.choice,
                    token.person,
                ])?;
            Ok(())
        })
    }

    fn token(&self, digest: &str) -> Result<Option<AnswerToken>, StoreError> {
        self.db
            .prepare_cached(
                "SELECT digest, question, shown, choice, person, used FROM answer_tokens
                 WHERE digest = ?1",
            )
            .and_then(|mut query| {
                query
                    .query_row([digest], |row| {
                        Ok(AnswerToken {
                            digest: row.get(0)?,
                            question: QuestionId::from_text(row.get::<_, String>(1)?),
                            shown: row.get(2)?,
                            choice: row.get(3)?,
                            person: row.get(4)?,
                            used: optional_time(row, 5)?,
                        })
                    })
                    .optional()
            })
            .map_err(|error| self.failed(&error))
    }

    fn use_token(&mut self, digest: &str, now: Timestamp) -> Result<bool, StoreError> {
        self.commit(|change| {
            let used = change
                .prepare_cached(
                    "UPDATE answer_tokens SET used = ?2 WHERE digest = ?1 AND used IS NULL",
                )?
                .execute((digest, now.as_millisecond()))?;
            Ok(used == 1)
        })
    }
}

/// A message that was sent, can be taken back, and is about a question that is
/// decided.
const DECIDED: &str = "state = 'sent' AND receipt IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM questions
         WHERE questions.id = outbox.question AND questions.state = 'open')";

/// What is to be done next, if anything.
fn candidate(
    db: &Connection,
    now: i64,
    busy: &[String],
) -> Result<Option<(Job, i64)>, rusqlite::Error> {
    let find = |what: &str| -> Result<Option<i64>, rusqlite::Error> {
        let mut query = db.prepare_cached(&format!(
            "SELECT id, channel FROM outbox WHERE {what}
             AND due <= ?1 AND (claimed IS NULL OR claimed <= ?1) ORDER BY due, id"
        ))?;
        let mut rows = query.query([now])?;
        while let Some(row) = rows.next()? {
            let channel: String = row.get(1)?;
            if !busy.contains(&channel) {
                return row.get(0).map(Some);
            }
        }
        Ok(None)
    };
    if let Some(id) = find("state = 'waiting'")? {
        return Ok(Some((Job::Send, id)));
    }
    Ok(find(DECIDED)?.map(|id| (Job::Retract, id)))
}

/// Adds the messages that an event causes.
pub(super) fn insert(
    change: &Connection,
    event: &Event,
    messages: &[NewMessage],
) -> Result<(), rusqlite::Error> {
    for message in messages {
        change
            .prepare_cached(
                "INSERT INTO outbox (run, seq, channel, agreed, occasion, question, due, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'waiting')",
            )?
            .execute(params![
                event.run.as_str(),
                event.seq,
                message.channel,
                message.agreed,
                message.occasion.word(),
                message.question.as_ref().map(QuestionId::as_str),
                message.due.as_millisecond(),
            ])?;
    }
    Ok(())
}

fn select(
    db: &Connection,
    which: &str,
    params: impl Params,
) -> Result<Vec<MessageRow>, rusqlite::Error> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM outbox {which}"))?
        .query_map(params, read)?
        .collect()
}

fn read(row: &Row<'_>) -> Result<MessageRow, rusqlite::Error> {
    let (occasion, state): (String, String) = (row.get(5)?, row.get(8)?);
    let strange = |column, word: &str| {
        let message = format!("`{word}` is not known");
        unexpected(column, std::io::Error::other(message))
    };
    Ok(MessageRow {
        id: row.get(0)?,
        run: RunId::new(row.get::<_, String>(1)?).map_err(|error| unexpected(1, error))?,
        seq: row.get(2)?,
        channel: row.get(3)?,
        agreed: row.get(4)?,
        occasion: Occasion::from_word(&occasion).ok_or_else(|| strange(5, &occasion))?,
        question: row.get::<_, Option<String>>(6)?.map(QuestionId::from_text),
        due: time(row, 7)?,
        state: MessageState::from_word(&state).ok_or_else(|| strange(8, &state))?,
        attempts: row.get(9)?,
        claimed: optional_time(row, 10)?,
        result: row.get(11)?,
        tried: optional_time(row, 12)?,
        receipt: row.get(13)?,
    })
}

fn optional_time(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>, rusqlite::Error> {
    match row.get::<_, Option<i64>>(column)? {
        Some(_) => time(row, column).map(Some),
        None => Ok(None),
    }
}
