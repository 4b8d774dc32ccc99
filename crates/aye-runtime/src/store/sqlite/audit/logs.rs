//! The logs of steps, against what the events say that they were.

use aye_core::id::RunId;
use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::super::walk::{bounds, within};
use super::super::{SqliteStore, journal, pruned};
use crate::store::log_seal::SealedStep;
use crate::store::{Audited, Finding};

/// Events read at once.
const PAGE: u32 = 500;

impl SqliteStore {
    pub(super) fn check_logs(
        &self,
        run: Option<&RunId>,
        audited: &mut Audited,
        report: &mut dyn FnMut(Finding),
    ) -> Result<(), rusqlite::Error> {
        let mut after = 0;
        loop {
            let page = self.ended_steps(run, after)?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = *last;
            for (n, step) in page.iter().filter_map(|(n, step)| Some((*n, step.as_ref()?))) {
                let found = step.check(&self.home, audited);
                // Asked now: it may have been pruned while its log was read.
                if !found.is_empty() && self.keeps_log(step.run(), n)? {
                    found.into_iter().for_each(&mut *report);
                }
            }
        }
    }

    /// The steps that ended, with their number; nothing for an event that
    /// cannot be read, which is found elsewhere.
    fn ended_steps(
        &self,
        run: Option<&RunId>,
        after: u64,
    ) -> Result<Vec<(u64, Option<SealedStep>)>, rusqlite::Error> {
        let which = if run.is_some() { within("run") } else { "true".to_owned() };
        let mut values: Vec<Value> = bounds(run).into_iter().map(Value::from).collect();
        values.push(i64::try_from(after).unwrap_or(i64::MAX).into());
        let place = values.len();
        self.db
            .prepare(&format!(
                "SELECT id, run, seq, body FROM events
                 WHERE {which} AND id > ?{place} AND type IN ('step_completed', 'step_failed')
                 ORDER BY id LIMIT {PAGE}"
            ))?
            .query_map(params_from_iter(values), |row| {
                let (run, body) = (row.get_ref(1)?, row.get_ref(3)?);
                let event = match (run.as_str(), body.as_str()) {
                    (Ok(run), Ok(body)) => {
                        row.get(2).ok().and_then(|seq| journal::parse(run, seq, body).ok())
                    }
                    _ => None,
                };
                Ok((row.get(0)?, event.as_ref().and_then(SealedStep::of)))
            })?
            .collect()
    }

    /// Whether the log of a step has to be there: its run is not pruned, nor was
    /// about to be after the step had ended.
    fn keeps_log(&self, run: &RunId, n: u64) -> Result<bool, rusqlite::Error> {
        let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1)";
        let there: bool = self.db.query_row(sql, [run.as_str()], |row| row.get(0))?;
        Ok(there && !pruned::was_going(&self.db, run, n)?)
    }
}
