//! The table of runs.

use aye_core::event::{Driver, StartedBy};
use aye_core::id::RunId;
use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

use super::SqliteStore;
use crate::store::index::CANDIDATES;
use crate::store::{Found, NameClaim, RunFilter, RunRow, RunStatus, Runs, StoreError};

const COLUMNS: &str = "n, id, skill, file, source, workspace, environment, user, host, pid, \
     steps, status, why, message, step, waiting, started, updated, ended, last_seq, head, parent, \
     concurrency, claim, waits_for, started_by, starter";

/// Whether a text stands in what people read of a run.
const TEXT: &str = "(id LIKE ? ESCAPE '\\' OR skill LIKE ? ESCAPE '\\' OR step LIKE ? ESCAPE '\\' \
     OR message LIKE ? ESCAPE '\\' OR environment LIKE ? ESCAPE '\\' OR starter LIKE ? ESCAPE '\\')";

/// A pattern that finds this text and nothing else.
fn like(text: &str) -> String {
    let plain = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{plain}%")
}

impl Runs for SqliteStore {
    fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        load(&self.db, run.as_str()).map_err(|error| self.failed(&error))
    }

    fn find_run(&self, name: &str) -> Result<Found<RunRow>, StoreError> {
        let found = if name == "last" {
            select(&self.db, "WHERE parent IS NULL ORDER BY n DESC LIMIT 1", &[])
        } else {
            self.runs_by_name(name)
        };
        found.map(Found::from_candidates).map_err(|error| self.failed(&error))
    }

    fn runs_inside(&self, run: &RunId) -> Result<Vec<RunRow>, StoreError> {
        let mut rows = select(&self.db, "WHERE parent = ?1 ORDER BY n", &[&run.as_str()])
            .map_err(|error| self.failed(&error))?;
        // The row of another run may have been changed.
        rows.retain(|row| row.id.is_inside(run));
        Ok(rows)
    }

    fn claimants(&self, name: &str) -> Result<Vec<RunRow>, StoreError> {
        claimants(&self.db, Some(name)).map_err(|error| self.failed(&error))
    }

    fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let (sql, values) = listing(filter);
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        select(&self.db, &sql, &values).map_err(|error| self.failed(&error))
    }

    fn count_runs(&self, status: RunStatus) -> Result<u64, StoreError> {
        self.db
            .prepare_cached("SELECT count(*) FROM runs WHERE parent IS NULL AND status = ?1")
            .and_then(|mut query| query.query_row([status.word()], |row| row.get(0)))
            .map_err(|error| self.failed(&error))
    }
}

/// The part of a query that lists the runs of a filter, and its values.
fn listing(filter: &RunFilter) -> (String, Vec<Box<dyn ToSql>>) {
    let mut wanted: Vec<(&str, Box<dyn ToSql>)> = Vec::new();
    if let Some(status) = filter.status {
        wanted.push(("status = ?", Box::new(status.word())));
    }
    if let Some(skill) = &filter.skill {
        wanted.push(("skill = ?", Box::new(skill.clone())));
    }
    if let Some(by) = &filter.by {
        wanted.push(("? IN (starter, started_by)", Box::new(by.clone())));
    }
    if let Some(text) = &filter.text {
        wanted.push((TEXT, Box::new(like(text))));
    }
    if let Some(before) = filter.before {
        wanted.push(("n < ?", Box::new(before)));
    }
    let mut sql = "WHERE parent IS NULL ".to_owned();
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    for (condition, value) in wanted {
        values.push(value);
        sql += &format!("AND {} ", condition.replace('?', &format!("?{}", values.len())));
    }
    values.push(Box::new(filter.limit));
    sql += &format!("ORDER BY n DESC LIMIT ?{}", values.len());
    (sql, values)
}

impl SqliteStore {
    fn runs_by_name(&self, name: &str) -> Result<Vec<RunRow>, rusqlite::Error> {
        if name.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(row) = load(&self.db, name)? {
            return Ok(vec![row]);
        }
        select(
            &self.db,
            "WHERE id >= ?1 AND id < ?2 AND parent IS NULL ORDER BY n DESC LIMIT ?3",
            &[&name, &after(name), &CANDIDATES],
        )
    }
}

/// The text that comes after everything that begins with `prefix`: names are
/// made of ASCII.
pub(super) fn after(prefix: &str) -> String {
    format!("{prefix}\u{7f}")
}

pub(super) fn load(db: &Connection, id: &str) -> Result<Option<RunRow>, rusqlite::Error> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"))?
        .query_row([id], read)
        .optional()
}

fn select(
    db: &Connection,
    rest: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<RunRow>, rusqlite::Error> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM runs {rest}"))?
        .query_map(values, read)?
        .collect()
}

/// The runs that have or wait for a name, or for any.
pub(super) fn claimants(
    db: &Connection,
    name: Option<&str>,
) -> Result<Vec<RunRow>, rusqlite::Error> {
    match name {
        Some(name) => {
            select(db, "WHERE concurrency = ?1 AND claim IS NOT NULL ORDER BY claim", &[&name])
        }
        None => select(db, "WHERE claim IS NOT NULL", &[]),
    }
}

pub(super) fn insert(db: &Connection, row: &RunRow, epoch: u64) -> Result<(), rusqlite::Error> {
    db.prepare_cached(&format!(
        "INSERT INTO runs ({COLUMNS}, epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
         ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)"
    ))?
    .execute(params![
        row.n,
        row.id.as_str(),
        row.skill,
        row.file,
        row.source,
        row.workspace,
        row.environment,
        row.driver.user,
        row.driver.host,
        row.driver.pid,
        row.steps,
        row.status.word(),
        row.why,
        row.message,
        row.step,
        row.waiting,
        row.started.as_millisecond(),
        row.updated.as_millisecond(),
        row.ended.map(Timestamp::as_millisecond),
        row.last_seq,
        row.head,
        row.parent.as_ref().map(RunId::as_str),
        row.concurrency,
        claim_number(row),
        row.waits_for_name().map(|(_, holder)| holder.as_str()),
        row.started_by.map(StartedBy::word),
        row.starter,
        epoch,
    ])?;
    Ok(())
}

/// Writes what an append can change. Naming an indexed column rewrites its
/// index even if the value stays, so the usual case names none.
pub(super) fn update(
    db: &Connection,
    before: &RunRow,
    after: &RunRow,
) -> Result<(), rusqlite::Error> {
    db.prepare_cached(
        "UPDATE runs SET step = ?2, waiting = ?3, updated = ?4, last_seq = ?5, head = ?6
         WHERE n = ?1",
    )?
    .execute(params![
        after.n,
        after.step,
        after.waiting,
        after.updated.as_millisecond(),
        after.last_seq,
        after.head,
    ])?;
    if before.claim != after.claim {
        db.prepare_cached("UPDATE runs SET claim = ?2, waits_for = ?3 WHERE n = ?1")?.execute(
            params![
                after.n,
                claim_number(after),
                after.waits_for_name().map(|(_, holder)| holder.as_str()),
            ],
        )?;
    }
    let same = before.status == after.status
        && before.ended == after.ended
        && before.why == after.why
        && before.message == after.message
        && before.driver == after.driver;
    if !same {
        db.prepare_cached(
            "UPDATE runs SET status = ?2, why = ?3, message = ?4, ended = ?5,
             user = ?6, host = ?7, pid = ?8 WHERE n = ?1",
        )?
        .execute(params![
            after.n,
            after.status.word(),
            after.why,
            after.message,
            after.ended.map(Timestamp::as_millisecond),
            after.driver.user,
            after.driver.host,
            after.driver.pid,
        ])?;
    }
    Ok(())
}

/// What the table says of a claim.
fn claim_number(row: &RunRow) -> Option<u64> {
    row.claim.as_ref().map(|claim| match claim {
        NameClaim::Held => 0,
        NameClaim::Waits { since, .. } => *since,
    })
}

fn read_claim(row: &Row<'_>) -> Result<Option<NameClaim>, rusqlite::Error> {
    Ok(match row.get::<_, Option<u64>>(23)? {
        None => None,
        Some(0) => Some(NameClaim::Held),
        Some(since) => {
            let holder = RunId::new(row.get::<_, String>(24)?);
            Some(NameClaim::Waits { since, holder: holder.map_err(|error| unexpected(24, error))? })
        }
    })
}

fn read_started_by(row: &Row<'_>) -> Result<Option<StartedBy>, rusqlite::Error> {
    let word: Option<String> = row.get(25)?;
    let known = |word: String| {
        StartedBy::from_word(&word).ok_or_else(|| unexpected(25, format!("unknown `{word}`")))
    };
    word.map(known).transpose()
}

fn read(row: &Row<'_>) -> Result<RunRow, rusqlite::Error> {
    let status: String = row.get(11)?;
    Ok(RunRow {
        n: row.get(0)?,
        id: RunId::new(row.get::<_, String>(1)?).map_err(|error| unexpected(1, error))?,
        skill: row.get(2)?,
        file: row.get(3)?,
        source: row.get(4)?,
        workspace: row.get(5)?,
        environment: row.get(6)?,
        driver: Driver {
            user: row.get(7)?,
            host: row.get(8)?,
            pid: row.get(9)?,
            attended: false,
            detached: false,
            taken_up: false,
            namespaces: None,
        },
        steps: row.get(10)?,
        status: RunStatus::from_word(&status)
            .ok_or_else(|| unexpected(11, format!("unknown status `{status}`")))?,
        why: row.get(12)?,
        message: row.get(13)?,
        step: row.get(14)?,
        waiting: row.get(15)?,
        started: time(row, 16)?,
        updated: time(row, 17)?,
        ended: row.get::<_, Option<i64>>(18)?.map(|_| time(row, 18)).transpose()?,
        last_seq: row.get(19)?,
        head: row.get(20)?,
        parent: row
            .get::<_, Option<String>>(21)?
            .map(RunId::new)
            .transpose()
            .map_err(|error| unexpected(21, error))?,
        concurrency: row.get(22)?,
        claim: read_claim(row)?,
        started_by: read_started_by(row)?,
        starter: row.get(26)?,
    })
}

/// A column of milliseconds.
pub(super) fn time(row: &Row<'_>, column: usize) -> Result<Timestamp, rusqlite::Error> {
    Timestamp::from_millisecond(row.get(column)?).map_err(|error| unexpected(column, error))
}

/// A value that this program did not write.
pub(super) fn unexpected(
    column: usize,
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

/// How SQLite would answer a query.
#[cfg(test)]
pub(super) fn plan(db: &Connection, sql: &str) -> Vec<String> {
    let mut query = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("a query");
    let mut rows = query.raw_query();
    let mut plan = Vec::new();
    while let Some(row) = rows.next().expect("a row") {
        plan.push(row.get(3).expect("words"));
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Durability;

    /// However many runs there are, a page of them is read in the order of an index: nothing
    /// is sorted, and nothing else is read first.
    #[test]
    fn a_page_of_runs_is_read_in_order() {
        let home = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open(home.path(), Durability::default()).expect("a store");
        let filter = |status, skill: Option<&str>, before| {
            let skill = skill.map(str::to_owned);
            RunFilter { status, skill, before, ..RunFilter::default() }
        };
        for (filter, way) in [
            (filter(None, None, None), "SCAN runs"),
            (filter(None, None, Some(7)), "SEARCH runs USING INTEGER PRIMARY KEY (rowid<?)"),
            (
                filter(Some(RunStatus::Failed), None, None),
                "SEARCH runs USING INDEX runs_status (status=?)",
            ),
            (
                filter(Some(RunStatus::Failed), None, Some(7)),
                "SEARCH runs USING INDEX runs_status (status=? AND rowid<?)",
            ),
            (filter(None, Some("go"), None), "SEARCH runs USING INDEX runs_skill (skill=?)"),
        ] {
            let sql = format!("SELECT {COLUMNS} FROM runs {}", listing(&filter).0);
            let plan = plan(&store.db, &sql);
            assert_eq!(plan, [way], "{filter:?}");
        }
    }
}
