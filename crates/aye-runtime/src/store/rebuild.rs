//! Making the derived tables anew from the events.

use rusqlite::Connection;

use super::change::Failure;
use super::derive::{self, Derived, Placed};
use super::walk::walk;
use super::{Store, StoreError, questions, read, runs};

impl Store {
    /// Throws the derived tables away and makes them from the events, all or
    /// nothing. Says how many runs there are.
    pub fn rebuild(&mut self) -> Result<u64, StoreError> {
        self.commit(|change| {
            change.execute_batch("DELETE FROM runs; DELETE FROM questions;")?;
            let mut count = 0;
            let mut derived: Option<Derived> = None;
            walk(change, None, |stored| {
                let other = derived.take_if(|derived| derived.run.id.as_str() != stored.link.run);
                if let Some(done) = other {
                    count += 1;
                    write(change, &done)?;
                }
                let event = read::parse(stored.link.run, stored.link.seq, stored.link.body)?;
                let next =
                    Placed { n: stored.n, hash: stored.hash.unwrap_or_default(), event: &event };
                derived = Some(derive::fold(derived.take(), next)?);
                Ok(())
            })?;
            if let Some(done) = derived {
                count += 1;
                write(change, &done)?;
            }
            Ok(count)
        })
    }
}

fn write(change: &Connection, derived: &Derived) -> Result<(), Failure> {
    runs::insert(change, &derived.run)?;
    for row in &derived.questions {
        questions::insert(change, row)?;
    }
    Ok(())
}
