//! Where the chains end.

use aye_core::id::RunId;
use rusqlite::OptionalExtension as _;

use super::super::runs::unexpected;
use super::super::{SqliteStore, pruned};
use crate::store::{Head, Heads, PrunedHead};

impl SqliteStore {
    pub(super) fn read_heads(&self) -> Result<Heads, rusqlite::Error> {
        let db = self.db.unchecked_transaction()?;
        let runs = db
            .prepare("SELECT id, last_seq, head FROM runs ORDER BY n")?
            .query_map([], |row| {
                let run = RunId::new(row.get::<_, String>(0)?);
                let run = run.map_err(|error| unexpected(0, error))?;
                Ok(Head { run, events: row.get(1)?, head: row.get(2)? })
            })?
            .collect::<Result<_, _>>()?;
        let chain = pruned::chain(&db)?;
        let (entries, head) = (chain.entries, chain.head.unwrap_or_default());
        Ok(Heads { runs, pruned: PrunedHead { entries, head } })
    }

    pub(super) fn read_hash(
        &self,
        run: &RunId,
        seq: u64,
    ) -> Result<Option<[u8; 32]>, rusqlite::Error> {
        let found = self
            .db
            .prepare_cached("SELECT hash FROM events WHERE run = ?1 AND seq = ?2")?
            .query_row((run.as_str(), seq), |row| {
                let blob = row.get_ref(0)?.as_blob().ok();
                Ok(blob.and_then(|blob| blob.try_into().ok()))
            })
            .optional()?;
        Ok(found.flatten())
    }
}
