//! Appending: events, derived rows and verdicts in one transaction.

use aye_core::event::{Event, Fact};
use rusqlite::{Transaction, TransactionBehavior, params};

use super::chain::Link;
use super::derive::{self, Derived, Placed};
use super::sources::Source;
use super::{RequestId, Store, StoreError, Verdict, mailbox, questions, runs};

impl Store {
    /// Appends `events` and settles the requests they come from, all or
    /// nothing, and rings. Only the holder of a run's lock may append to it;
    /// an event that does not follow the last one is refused as a conflict.
    pub fn append(
        &mut self,
        events: &[Event],
        handled: &[(RequestId, Verdict)],
    ) -> Result<(), StoreError> {
        self.commit(|change| {
            // Before the events: one that ends the run refuses what is left.
            mailbox::settle(change, handled)?;
            append_all(change, events)
        })
    }

    /// The first append of a run, with the text of its skill.
    pub fn start(&mut self, events: &[Event], source: &Source) -> Result<(), StoreError> {
        source.check()?;
        if let Some(Fact::SkillStarted(started)) = events.first().map(|event| &event.fact)
            && started.source != source.digest
        {
            return Err(StoreError::Source {
                file: source.file.clone(),
                digest: started.source.clone(),
            });
        }
        self.commit(|change| {
            source.keep(change)?;
            append_all(change, events)
        })
    }

    /// Runs `work` in a transaction of its own and rings once it is committed.
    pub(super) fn commit<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let path = self.home.journal();
        let done = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(Failure::from)
            .and_then(|change| {
                // Dropped without a commit, the transaction is rolled back.
                let result = work(&change)?;
                change.commit()?;
                Ok(result)
            })
            .map_err(|failure| match failure {
                Failure::Sqlite(error) => StoreError::sqlite(&path, &error),
                Failure::Store(error) => error,
            })?;
        self.bell.ring();
        Ok(done)
    }
}

/// Why a transaction is given up.
#[derive(Debug)]
pub(super) enum Failure {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn append_all(change: &Transaction<'_>, events: &[Event]) -> Result<(), Failure> {
    if events.is_empty() {
        return Ok(());
    }
    let mut n = last_n(change)?;
    for of_one_run in events.chunk_by(|a, b| a.run == b.run) {
        n = append_run(change, n, of_one_run)?;
    }
    Ok(())
}

fn append_run(change: &Transaction<'_>, mut n: u64, events: &[Event]) -> Result<u64, Failure> {
    let run = &events[0].run;
    let before = match runs::load(change, run.as_str())? {
        Some(row) => Some(Derived {
            questions: if row.waiting > 0 {
                questions::load_open(change, run.as_str())?
            } else {
                Vec::new()
            },
            run: row,
        }),
        None => None,
    };
    let mut derived = before.clone();
    for event in events {
        n += 1;
        let last = derived.as_ref().map(|derived| &derived.run);
        let last_seq = last.map_or(0, |run| run.last_seq);
        if event.seq != last_seq + 1 {
            return Err(Failure::Store(StoreError::Conflict {
                run: run.clone(),
                last: last_seq,
                got: event.seq,
            }));
        }
        let body = serde_json::to_string(event).map_err(|error| StoreError::Unreadable {
            run: run.to_string(),
            seq: event.seq,
            message: error.to_string(),
        })?;
        let link = Link {
            run: run.as_str(),
            seq: event.seq,
            at: event.at.as_millisecond(),
            kind: event.fact.name(),
            body: &body,
        };
        let hash = link.hash(last.map(|run| &run.head));
        change
            .prepare_cached(
                "INSERT INTO events (id, run, seq, at, type, body, hash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![n, link.run, link.seq, link.at, link.kind, link.body, hash])?;
        derived = Some(derive::fold(derived, Placed { n, hash, event })?);
    }
    if let Some(derived) = derived {
        write(change, before.as_ref(), &derived)?;
    }
    Ok(n)
}

/// Writes the derived rows that changed.
fn write(
    change: &Transaction<'_>,
    before: Option<&Derived>,
    after: &Derived,
) -> Result<(), Failure> {
    match before {
        None => runs::insert(change, &after.run)?,
        Some(before) => runs::update(change, &before.run, &after.run)?,
    }
    for row in &after.questions {
        match before.and_then(|before| before.questions.iter().find(|old| old.n == row.n)) {
            None => questions::insert(change, row)?,
            Some(old) if old != row => questions::update(change, row)?,
            Some(_) => {}
        }
    }
    if after.run.status.is_ended() {
        mailbox::refuse_rest(change, &after.run.id)?;
    }
    Ok(())
}

/// The number of the last event there ever was: pruning must not make numbers
/// return, or a watcher that remembers its place would miss events.
fn last_n(change: &Transaction<'_>) -> Result<u64, rusqlite::Error> {
    change
        .prepare_cached(
            "SELECT max(floor.id, coalesce((SELECT max(events.id) FROM events), 0)) FROM floor",
        )?
        .query_row([], |row| row.get(0))
}
