//! The port of pruning: clearing finished runs away.

use std::path::Path;

use jiff::Timestamp;

use super::StoreError;

/// Forgets finished runs.
pub trait Prune {
    /// Whether there is anything to prune; cheap.
    fn has_finished_older_than(&self, ended_before: Timestamp) -> Result<bool, StoreError>;

    /// Removes the runs that ended before a time, with all that is inside them:
    /// events, rows, requests and logs. A run that has not ended, or that
    /// someone holds, stays; so does one whose logs cannot be removed, which
    /// is an error once the others are gone. Each leaves an entry, see
    /// [`Audit::pruned_runs`](super::Audit::pruned_runs). With `dry_run` it only
    /// counts.
    fn prune(
        &mut self,
        pruner: &Pruner,
        ended_before: Timestamp,
        dry_run: bool,
    ) -> Result<Pruned, StoreError> {
        self.prune_where(pruner, ended_before, dry_run, &mut |_, _| true)
    }

    /// The same for those that `may_go`, given workspace and end.
    fn prune_where(
        &mut self,
        pruner: &Pruner,
        ended_before: Timestamp,
        dry_run: bool,
        may_go: &mut dyn FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError>;

    /// Removes at most `runs` of the runs that [`prune`](Self::prune) would and
    /// that `may_go`, given workspace and end, the longest ended first, and at
    /// most a hundred: some milliseconds, so that a command can do it by the way.
    fn prune_some(
        &mut self,
        pruner: &Pruner,
        ended_before: Timestamp,
        runs: usize,
        may_go: &mut dyn FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError>;
}

/// Who removes runs, and when: their entries say so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruner {
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// What was cleared away, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs, as they are listed: what is inside them is not counted.
    pub runs: u64,
    /// Their events, and those of the runs inside them.
    pub events: u64,
    /// The text of those events and the files of step output.
    pub bytes: u64,
}
