//! Rebuilding the derived tables from the events.

use std::collections::HashMap;

use rusqlite::Connection;

use super::change::Failure;
use super::error::BadCell;
use super::walk::{Visited, walk};
use super::{SqliteStore, journal, questions, runs};
use crate::store::StoreError;
use crate::store::derive::{self, Derived, Placed};

impl SqliteStore {
    /// Throws the derived tables away and makes them from the events, all or
    /// nothing. Says how many runs there are.
    pub fn rebuild(&mut self) -> Result<u64, StoreError> {
        self.commit(|change| {
            let epochs = epochs(change)?;
            change.execute_batch("DELETE FROM runs; DELETE FROM questions;")?;
            let mut count = 0;
            let mut derived: Option<Derived> = None;
            walk(change, None, |visited| {
                let stored = match visited {
                    Visited::Event(stored) => stored,
                    Visited::Misplaced(BadCell(message)) => {
                        let path = change.path().unwrap_or_default().into();
                        return Err(StoreError::Damaged { path, message }.into());
                    }
                };
                let other = derived.take_if(|derived| derived.run.id.as_str() != stored.link.run);
                if let Some(done) = other {
                    count += 1;
                    write(change, &done, &epochs)?;
                }
                let event = journal::parse(stored.link.run, stored.link.seq, stored.link.body)?;
                let next =
                    Placed { n: stored.n, hash: stored.hash.unwrap_or_default(), event: &event };
                derived = Some(derive::fold(derived.take(), next)?);
                Ok(())
            })?;
            if let Some(done) = derived {
                count += 1;
                write(change, &done, &epochs)?;
            }
            Ok(count)
        })
    }
}

/// Epochs are not in the events: a process that only applied a request wrote no event.
fn epochs(change: &Connection) -> Result<HashMap<String, u64>, rusqlite::Error> {
    change
        .prepare("SELECT id, epoch FROM runs WHERE epoch > 0")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn write(
    change: &Connection,
    derived: &Derived,
    epochs: &HashMap<String, u64>,
) -> Result<(), Failure> {
    let epoch = epochs.get(derived.run.id.as_str()).copied().unwrap_or(0);
    runs::insert(change, &derived.run, epoch)?;
    for row in &derived.questions {
        questions::insert(change, row)?;
    }
    Ok(())
}
