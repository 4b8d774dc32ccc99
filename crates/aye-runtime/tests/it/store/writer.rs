//! A store that writes as whoever holds the lease: these tests are about what
//! is written, not about who may.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use aye_core::event::{Event, EventKind};
use aye_core::id::RunId;
use aye_runtime::store::{
    self, Audit as _, Audited, Durability, Finding, Home, Journal as _, Lease, Prune as _, Pruned,
    RequestId, Runs as _, Source, SqliteStore, StoreError, Verdict,
};
use jiff::Timestamp;

use super::sample::pruner;

#[derive(Debug)]
pub(super) struct Store {
    inner: SqliteStore,
    home: Home,
}

impl Store {
    pub(super) fn open(home: &Path, durability: Durability) -> Result<Self, StoreError> {
        Ok(Self { inner: SqliteStore::open(home, durability)?, home: Home::new(home) })
    }

    pub(super) fn open_to_read(home: &Path) -> Result<Option<Self>, StoreError> {
        let found = SqliteStore::open_to_read(home)?;
        Ok(found.map(|inner| Self { inner, home: Home::new(home) }))
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    pub(super) fn start(&mut self, events: &[Event], source: &Source) -> Result<(), StoreError> {
        self.write(events, |store, lease| store.start(lease, events, source))
    }

    pub(super) fn append(
        &mut self,
        events: &[Event],
        settled: &[(RequestId, Verdict)],
    ) -> Result<(), StoreError> {
        self.write(events, |store, lease| store.append(lease, events, settled))
    }

    fn write(
        &mut self,
        events: &[Event],
        work: impl Fn(&mut SqliteStore, &Lease) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let run = match events.first() {
            Some(event) => self.outer(event)?,
            None => self.inner.runs(&store::RunFilter::default())?[0].id.clone(),
        };
        match work(&mut self.inner, &Lease::new(run.clone(), 1, ())) {
            Err(StoreError::Fenced { current, .. }) => {
                work(&mut self.inner, &Lease::new(run, current, ()))
            }
            other => other,
        }
    }

    fn outer(&self, event: &Event) -> Result<RunId, StoreError> {
        let run = match &event.kind {
            EventKind::SkillStarted(started) => started.parent.as_ref().map(|parent| &parent.run),
            _ => None,
        };
        let run = run.unwrap_or(&event.run);
        Ok(self.inner.outermost(run)?.map_or_else(|| run.clone(), |row| row.id))
    }

    pub(super) fn rebuild(&mut self) -> Result<u64, StoreError> {
        self.inner.rebuild()
    }

    pub(super) fn audit(
        &self,
        run: Option<&RunId>,
        mut report: impl FnMut(Finding),
    ) -> Result<Audited, StoreError> {
        self.inner.audit(run, &mut report)
    }

    pub(super) fn prune_some(
        &mut self,
        ended_before: Timestamp,
        runs: usize,
        mut may_go: impl FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError> {
        self.inner.prune_some(&pruner(), ended_before, runs, &mut may_go)
    }

    pub(super) fn prune(
        &mut self,
        ended_before: Timestamp,
        dry_run: bool,
    ) -> Result<Pruned, StoreError> {
        self.inner.prune(&pruner(), ended_before, dry_run)
    }
}

impl Deref for Store {
    type Target = dyn store::Store;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl DerefMut for Store {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}
