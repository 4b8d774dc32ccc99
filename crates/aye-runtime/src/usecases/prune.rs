//! Forgetting finished runs, and compressing the logs of those that are kept.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use aye_core::event::Driver;
use jiff::{SignedDuration, Timestamp};

use crate::error::Error;
use crate::runtime::Runtime;
use crate::settings::DEFAULT_KEEP;
use crate::store::{Pruned, Pruner};
use crate::trust::Retention;

use super::active_run::FinishedRun;

impl Runtime {
    /// Forgets finished runs that are older than this, or as the project of each
    /// says; a dry run only counts. `None` if nothing was ever run.
    pub fn prune(
        &self,
        older_than: Option<Duration>,
        dry_run: bool,
    ) -> Result<Option<Pruned>, Error> {
        if self.store_to_read()?.is_none() {
            return Ok(None);
        }
        let (now, mut store) = (self.now(), self.store()?);
        let pruner = self.pruner();
        let pruned = match older_than {
            Some(age) => {
                let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
                store.prune(&pruner, now.checked_sub(age).unwrap_or(Timestamp::MIN), dry_run)?
            }
            None => {
                let mut retention = self.retention();
                let mut may_go =
                    |workspace: &Path, ended: Timestamp| retention.may_forget(workspace, ended);
                store.prune_where(&pruner, now, dry_run, &mut may_go)?
            }
        };
        if !dry_run {
            store.plain_logs().compress(None, u64::MAX, &AtomicBool::new(false));
        }
        Ok(Some(pruned))
    }

    /// Who forgets runs here, for the entries that are left of them.
    fn pruner(&self) -> Pruner {
        let Driver { user, host, .. } = self.driver();
        Pruner { by: format!("{user}@{host}"), at: self.now() }
    }

    fn retention(&self) -> Retention<'_> {
        Retention::new(&self.home, self.user_settings.as_deref(), self.now())
    }
}

impl FinishedRun {
    /// What a command does by the way once its run is over and told.
    pub fn tidy_up(&mut self) {
        self.forget_old_runs();
        self.compress_old_logs();
    }

    /// A few logs of earlier runs. Longer ones are left to runs that take longer: they do it
    /// beside their steps.
    fn compress_old_logs(&self) {
        const AT_ONCE: u64 = 8 * 1024 * 1024;
        let logs = self.journal.store.plain_logs();
        logs.compress(Some(&self.state.run), AT_ONCE, &AtomicBool::new(false));
    }

    /// Finished runs are kept for a while and then forgotten, a few at a time, each
    /// as its own project says: the journal is shared with others.
    fn forget_old_runs(&mut self) {
        const AT_ONCE: usize = 20;
        let Self { runtime, journal, .. } = self;
        let store = &mut journal.store;
        let mut retention = runtime.retention();
        let kept = [runtime.settings.keep, Some(DEFAULT_KEEP)];
        let before = kept.into_iter().filter_map(|keep| retention.limit(keep)).max();
        // The run is over and told: that there was no room to tidy up is not news.
        let Some(before) = before.filter(|at| store.has_finished_older_than(*at).unwrap_or(false))
        else {
            return;
        };
        let _ = store.prune_some(&runtime.pruner(), before, AT_ONCE, &mut |workspace, ended| {
            retention.may_forget(workspace, ended)
        });
    }
}
