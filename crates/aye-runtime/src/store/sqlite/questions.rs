//! The table of questions: the inbox.

use aye_core::event::EventKind;
use aye_core::id::{QuestionId, RunId};
use aye_core::question::{Purpose, Question};
use aye_core::skill::AskKind;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::runs::{after, time, unexpected};
use super::{SqliteStore, journal};
use crate::store::index::CANDIDATES;
use crate::store::{Found, QuestionRow, QuestionState, Questions, StoreError};

const COLUMNS: &str = "n, id, run, skill, step, kind, purpose, title, message, asked, deadline, \
     state, closed, answered_by, prompter, missing, declines";

/// Two counts and not one with `OR`: SQLite would look at every open question for that.
const WAITING_WITHIN: &str = "SELECT
    (SELECT count(*) FROM questions WHERE state = 'open' AND run = ?1) +
    (SELECT count(*) FROM questions WHERE state = 'open' AND run >= ?2 AND run < ?3)";

impl Questions for SqliteStore {
    fn open_questions(&self) -> Result<Vec<QuestionRow>, StoreError> {
        select(&self.db, "WHERE state = 'open' ORDER BY n", []).map_err(|error| self.failed(&error))
    }

    fn open_questions_after(&self, after: u64, limit: u32) -> Result<Vec<QuestionRow>, StoreError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        // The index has them in order: however many there are, only these are read.
        let which = "INDEXED BY questions_oldest
             WHERE state = 'open' AND n > ?1 ORDER BY n LIMIT ?2";
        select(&self.db, which, (after, limit)).map_err(|error| self.failed(&error))
    }

    fn count_open(&self) -> Result<u64, StoreError> {
        self.db
            .prepare_cached("SELECT count(*) FROM questions WHERE state = 'open'")
            .and_then(|mut query| query.query_row([], |row| row.get(0)))
            .map_err(|error| self.failed(&error))
    }

    fn waiting_within(&self, run: &RunId) -> Result<u32, StoreError> {
        self.db
            .prepare_cached(WAITING_WITHIN)
            .and_then(|mut query| {
                let inside = run.inside();
                query.query_row((run.as_str(), inside.start, inside.end), |row| row.get(0))
            })
            .map_err(|error| self.failed(&error))
    }

    fn questions(&self, run: &RunId) -> Result<Vec<QuestionRow>, StoreError> {
        load_all(&self.db, run.as_str()).map_err(|error| self.failed(&error))
    }

    fn question(&self, name: &str) -> Result<Found<QuestionRow>, StoreError> {
        self.questions_by_name(name)
            .map(Found::from_candidates)
            .map_err(|error| self.failed(&error))
    }

    fn asked(&self, question: &QuestionId) -> Result<Option<Question>, StoreError> {
        let found = self
            .db
            .prepare_cached(
                "SELECT events.run, events.seq, events.body
                 FROM questions JOIN events ON events.id = questions.n WHERE questions.id = ?1",
            )
            .and_then(|mut query| {
                query
                    .query_row([question.as_str()], |row| {
                        Ok((
                            row.get::<_, String>(0)?,
                            row.get::<_, u64>(1)?,
                            row.get::<_, String>(2)?,
                        ))
                    })
                    .optional()
            })
            .map_err(|error| self.failed(&error))?;
        let Some((run, seq, body)) = found else {
            return Ok(None);
        };
        match journal::parse(&run, seq, &body)?.kind {
            EventKind::ConfirmationRequired(question) => Ok(Some(*question)),
            other => Err(StoreError::Unreadable {
                run,
                seq,
                message: format!("it asks nothing: `{}`", other.name()),
            }),
        }
    }
}

impl SqliteStore {
    fn questions_by_name(&self, name: &str) -> Result<Vec<QuestionRow>, rusqlite::Error> {
        if name.is_empty() {
            return Ok(Vec::new());
        }
        let exact = select(&self.db, "WHERE id = ?1", [name])?;
        if !exact.is_empty() {
            return Ok(exact);
        }
        let range = (name, after(name), CANDIDATES);
        let open = select(
            &self.db,
            "WHERE id >= ?1 AND id < ?2 AND state = 'open' ORDER BY n DESC LIMIT ?3",
            range.clone(),
        )?;
        if !open.is_empty() {
            return Ok(open);
        }
        select(&self.db, "WHERE id >= ?1 AND id < ?2 ORDER BY n DESC LIMIT ?3", range)
    }
}

/// The open questions of a run.
pub(super) fn load_open(db: &Connection, run: &str) -> Result<Vec<QuestionRow>, rusqlite::Error> {
    select(db, "WHERE run = ?1 AND state = 'open' ORDER BY n", [run])
}

/// Every question of a run. Their names begin with the run's, so the index on
/// names finds them; `.` follows `-`.
pub(super) fn load_all(db: &Connection, run: &str) -> Result<Vec<QuestionRow>, rusqlite::Error> {
    select(db, "WHERE id > ?1 || '-' AND id < ?1 || '.' AND run = ?1 ORDER BY n", [run])
}

fn select(
    db: &Connection,
    rest: &str,
    values: impl Params,
) -> Result<Vec<QuestionRow>, rusqlite::Error> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM questions {rest}"))?
        .query_map(values, read_row)?
        .collect()
}

pub(super) fn insert(db: &Connection, row: &QuestionRow) -> Result<(), rusqlite::Error> {
    db.prepare_cached(&format!(
        "INSERT INTO questions ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
         ?11, ?12, ?13, ?14, ?15, ?16, ?17)"
    ))?
    .execute(params![
        row.n,
        row.id.as_str(),
        row.run.as_str(),
        row.skill,
        row.step,
        row.kind.word(),
        row.purpose.word(),
        row.title,
        row.message,
        row.asked.as_millisecond(),
        row.deadline.map(Timestamp::as_millisecond),
        row.state.word(),
        row.closed.map(Timestamp::as_millisecond),
        row.answered_by,
        row.prompter,
        row.missing,
        declines_text(row),
    ])?;
    Ok(())
}

/// Writes what an append can change.
pub(super) fn update(db: &Connection, row: &QuestionRow) -> Result<(), rusqlite::Error> {
    db.prepare_cached(
        "UPDATE questions SET deadline = ?2, state = ?3, closed = ?4, answered_by = ?5,
         prompter = ?6, missing = ?7 WHERE n = ?1",
    )?
    .execute(params![
        row.n,
        row.deadline.map(Timestamp::as_millisecond),
        row.state.word(),
        row.closed.map(Timestamp::as_millisecond),
        row.answered_by,
        row.prompter,
        row.missing,
    ])?;
    Ok(())
}

fn declines_text(row: &QuestionRow) -> Option<String> {
    if row.declines.is_empty() {
        return None;
    }
    serde_json::to_string(&row.declines).ok()
}

fn read_row(row: &Row<'_>) -> Result<QuestionRow, rusqlite::Error> {
    let (kind, purpose): (String, String) = (row.get(5)?, row.get(6)?);
    let state: String = row.get(11)?;
    let moment = |column| row.get::<_, Option<i64>>(column)?.map(|_| time(row, column)).transpose();
    let declines = match row.get::<_, Option<String>>(16)? {
        Some(text) => serde_json::from_str(&text).map_err(|error| unexpected(16, error))?,
        None => Vec::new(),
    };
    Ok(QuestionRow {
        n: row.get(0)?,
        id: QuestionId::from_text(row.get::<_, String>(1)?),
        run: RunId::new(row.get::<_, String>(2)?).map_err(|error| unexpected(2, error))?,
        skill: row.get(3)?,
        step: row.get(4)?,
        kind: AskKind::from_word(&kind)
            .ok_or_else(|| unexpected(5, format!("unknown kind `{kind}`")))?,
        purpose: Purpose::from_word(&purpose)
            .ok_or_else(|| unexpected(6, format!("unknown purpose `{purpose}`")))?,
        title: row.get(7)?,
        message: row.get(8)?,
        asked: time(row, 9)?,
        deadline: moment(10)?,
        state: QuestionState::from_word(&state)
            .ok_or_else(|| unexpected(11, format!("unknown state `{state}`")))?,
        closed: moment(12)?,
        answered_by: row.get(13)?,
        prompter: row.get(14)?,
        missing: row.get(15)?,
        declines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Durability;

    /// However many questions are open, those of one run are counted with its index.
    #[test]
    fn what_a_run_waits_for_is_counted_without_a_look_at_other_runs() {
        let home = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open(home.path(), Durability::default()).expect("a store");
        let plan = super::super::runs::plan(&store.db, WAITING_WITHIN);
        assert!(plan.iter().any(|way| way.contains("questions_open (run=?)")), "{plan:?}");
        assert!(plan.iter().any(|way| way.contains("(run>? AND run<?)")), "{plan:?}");
        assert!(!plan.iter().any(|way| way.starts_with("SCAN questions")), "{plan:?}");
    }
}
