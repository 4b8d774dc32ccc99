//! The layout of the database and how older layouts become the current one.
//!
//! Rowid tables throughout: `WITHOUT ROWID` makes appends from many runs slow.
//! `n` in a derived table is the number of the event that made the row, so a
//! rebuilt table is the same to the last byte, and newest-first is the key's
//! own order.

use rusqlite::{Connection, Row, TransactionBehavior};

use super::Home;
use crate::store::StoreError;

/// Marks a database as Aye's ("aye1").
pub(super) const APPLICATION_ID: i64 = 0x6179_6531;

/// The layout written by this program.
pub(super) const LAYOUT: i64 = MIGRATIONS.len() as i64;

/// Each takes the layout of its position to the next. Published ones are
/// never edited.
const MIGRATIONS: &[&str] =
    &[FIRST, INSIDE, EPOCH, PRUNED, LESSONS, NAMES, PRESENCE, OUTBOX, STARTER];

/// Runs inside other runs.
const INSIDE: &str = "
ALTER TABLE runs ADD COLUMN parent TEXT;
CREATE INDEX runs_parent ON runs (parent) WHERE parent IS NOT NULL;
";

/// How often the lease of an outermost run has changed hands. It is not
/// derived: a process that only applies a request takes an epoch and writes no event.
const EPOCH: &str = "
ALTER TABLE runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
";

/// What was pruned: an entry for each run, in a chain of its own. `floor` says
/// where that ends, and how many events were pruned before there were entries.
const PRUNED: &str = "
CREATE TABLE pruned (
    n        INTEGER PRIMARY KEY,
    run      TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    who      TEXT    NOT NULL,
    events   INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    head     BLOB    NOT NULL,
    hash     BLOB    NOT NULL
) STRICT;
ALTER TABLE floor ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE floor ADD COLUMN head BLOB;
ALTER TABLE floor ADD COLUMN unlisted INTEGER NOT NULL DEFAULT 0;
UPDATE floor SET unlisted = max(id, coalesce((SELECT max(events.id) FROM events), 0))
    - (SELECT count(*) FROM events);
";

/// What was learned and memory has not taken in. It is not derived: memory's
/// files are elsewhere.
const LESSONS: &str = "
CREATE TABLE lessons (
    run TEXT    NOT NULL,
    seq INTEGER NOT NULL,
    UNIQUE (run, seq)
) STRICT;
";

/// The name that one run at a time has: `claim` is 0 for the run that has it,
/// and for one that waits the number of the event since which it does. Twice
/// the same name is refused by the index itself.
const NAMES: &str = "
ALTER TABLE runs ADD COLUMN concurrency TEXT;
ALTER TABLE runs ADD COLUMN claim INTEGER;
ALTER TABLE runs ADD COLUMN waits_for TEXT;
CREATE UNIQUE INDEX runs_holds ON runs (concurrency) WHERE claim = 0;
CREATE INDEX runs_claims ON runs (concurrency, claim) WHERE claim IS NOT NULL;
";

/// Where questions are shown right now. It is not derived, and nobody misses it.
const PRESENCE: &str = "
CREATE TABLE presence (
    question TEXT    NOT NULL,
    process  TEXT    NOT NULL,
    kind     TEXT    NOT NULL,
    client   TEXT    NOT NULL,
    pid      INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    UNIQUE (question, process, kind, client)
) STRICT;
";

/// Messages to people, and the rights to answer that they carry. Neither is
/// derived: what became of a message is not in the events.
const OUTBOX: &str = "
CREATE TABLE outbox (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    run      TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    channel  TEXT    NOT NULL,
    agreed   TEXT    NOT NULL,
    occasion TEXT    NOT NULL,
    question TEXT,
    due      INTEGER NOT NULL,
    state    TEXT    NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    claimed  INTEGER,
    result   TEXT,
    tried    INTEGER,
    receipt  TEXT
) STRICT;
CREATE INDEX outbox_waiting ON outbox (due) WHERE state = 'waiting';
CREATE INDEX outbox_receipt ON outbox (due) WHERE state = 'sent' AND receipt IS NOT NULL;
CREATE INDEX outbox_run ON outbox (run);
CREATE TABLE answer_tokens (
    digest   TEXT    NOT NULL UNIQUE,
    question TEXT    NOT NULL,
    shown    TEXT    NOT NULL,
    choice   TEXT,
    person   TEXT    NOT NULL,
    used     INTEGER
) STRICT;
CREATE INDEX answer_tokens_question ON answer_tokens (question);
";

/// Who or what started a run; and the open questions in their order, however many there are.
const STARTER: &str = "
ALTER TABLE runs ADD COLUMN started_by TEXT;
ALTER TABLE runs ADD COLUMN starter TEXT NOT NULL DEFAULT '';
UPDATE runs SET
    started_by = (SELECT json_extract(body, '$.started_by') FROM events
        WHERE events.id = runs.n AND json_valid(body)),
    starter = coalesce((SELECT coalesce(json_extract(body, '$.starter'), json_extract(body, '$.driver.user'))
        FROM events WHERE events.id = runs.n AND json_valid(body)), '');
CREATE INDEX questions_oldest ON questions (n) WHERE state = 'open';
";

const FIRST: &str = "
CREATE TABLE events (
    id   INTEGER PRIMARY KEY,
    run  TEXT    NOT NULL,
    seq  INTEGER NOT NULL,
    at   INTEGER NOT NULL,
    type TEXT    NOT NULL,
    body TEXT    NOT NULL,
    hash BLOB    NOT NULL,
    UNIQUE (run, seq)
) STRICT;

CREATE TABLE floor (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  INTEGER NOT NULL
) STRICT;
INSERT INTO floor VALUES (1, 0);

CREATE TABLE runs (
    n           INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    skill       TEXT    NOT NULL,
    file        TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    workspace   TEXT    NOT NULL,
    environment TEXT,
    user        TEXT    NOT NULL,
    host        TEXT    NOT NULL,
    pid         INTEGER NOT NULL,
    steps       INTEGER NOT NULL,
    status      TEXT    NOT NULL,
    why         TEXT,
    message     TEXT,
    step        TEXT,
    waiting     INTEGER NOT NULL,
    started     INTEGER NOT NULL,
    updated     INTEGER NOT NULL,
    ended       INTEGER,
    last_seq    INTEGER NOT NULL,
    head        BLOB    NOT NULL
) STRICT;
CREATE INDEX runs_status ON runs (status);
CREATE INDEX runs_skill  ON runs (skill);
CREATE INDEX runs_ended  ON runs (ended) WHERE ended IS NOT NULL;

CREATE TABLE questions (
    n           INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    run         TEXT    NOT NULL,
    skill       TEXT    NOT NULL,
    step        TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    purpose     TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    message     TEXT    NOT NULL,
    asked       INTEGER NOT NULL,
    deadline    INTEGER,
    state       TEXT    NOT NULL,
    closed      INTEGER,
    answered_by TEXT,
    prompter    TEXT,
    missing     INTEGER NOT NULL,
    declines    TEXT
) STRICT;
CREATE INDEX questions_open ON questions (run) WHERE state = 'open';

CREATE TABLE requests (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    run     TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    sender  TEXT    NOT NULL,
    body    TEXT    NOT NULL,
    verdict TEXT
) STRICT;
CREATE INDEX requests_run ON requests (run, verdict);

CREATE TABLE sources (
    digest TEXT NOT NULL UNIQUE,
    file   TEXT NOT NULL,
    text   TEXT NOT NULL
) STRICT;
";

/// What the header of a database says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The current one: nothing to do.
    Current,
    /// Empty, or an older one of ours.
    Behind(usize),
}

/// Reads the two numbers of the header: the whole check on the hot path.
pub(super) fn layout(db: &Connection, home: &Home) -> Result<Layout, StoreError> {
    let path = home.journal();
    let number = |pragma: &str| {
        db.query_row(pragma, [], |row| row.get::<_, i64>(0))
            .map_err(|error| StoreError::sqlite(&path, &error))
    };
    let application = number("PRAGMA application_id")?;
    let found = number("PRAGMA user_version")?;
    if application == APPLICATION_ID {
        return match usize::try_from(found) {
            Ok(behind) if found < LAYOUT => Ok(Layout::Behind(behind)),
            _ if found == LAYOUT => Ok(Layout::Current),
            _ => Err(StoreError::Newer { path, found, known: LAYOUT }),
        };
    }
    let objects = number("SELECT count(*) FROM sqlite_schema")?;
    if application == 0 && found == 0 && objects == 0 {
        Ok(Layout::Behind(0))
    } else {
        Err(StoreError::Foreign { path })
    }
}

/// Brings an empty or older database to the current layout, all or nothing.
///
/// The header is read again once the write lock is held: another process may
/// have done the same in the meantime.
pub(super) fn migrate(db: &mut Connection, home: &Home) -> Result<(), StoreError> {
    let path = home.journal();
    let failed = |error: rusqlite::Error| StoreError::sqlite(&path, &error);
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let Layout::Behind(behind) = layout(&change, home)? else {
        return Ok(());
    };
    for step in &MIGRATIONS[behind..] {
        change.execute_batch(step).map_err(failed)?;
    }
    change
        .execute_batch(&format!(
            "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {LAYOUT};"
        ))
        .map_err(failed)?;
    change.commit().map_err(failed)
}

/// A table, index, trigger or view, and how it was made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Object {
    pub(super) kind: String,
    pub(super) name: String,
    table: String,
    sql: String,
}

/// What is in a database, with what SQLite itself makes: others can use names
/// of that kind too.
pub(super) fn objects(db: &Connection) -> Result<Vec<Object>, rusqlite::Error> {
    let text = |row: &Row<'_>, column| {
        let value = row.get_ref(column)?;
        Ok::<_, rusqlite::Error>(
            String::from_utf8_lossy(value.as_bytes().unwrap_or_default()).into_owned(),
        )
    };
    db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")?
        .query_map([], |row| {
            let (kind, name, table) = (text(row, 0)?, text(row, 1)?, text(row, 2)?);
            Ok(Object { kind, name, table, sql: text(row, 3)? })
        })?
        .collect()
}

/// What has to be in a journal of the current layout.
pub(super) fn expected() -> Result<Vec<Object>, rusqlite::Error> {
    let db = Connection::open_in_memory()?;
    for step in MIGRATIONS {
        db.execute_batch(step)?;
    }
    objects(&db)
}
