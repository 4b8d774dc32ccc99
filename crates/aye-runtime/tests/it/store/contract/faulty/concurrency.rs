//! What broken stores do with the names that one run at a time has.

use aye_core::event::{Event, EventKind};
use aye_core::id::RunId;
use aye_core::journal::Blocked;
use aye_runtime::store::{NameClaim, RunFilter, Runs as _, Store as _, StoreError};

use super::{Fault, Faulty};

/// Events that ask for other names, which nobody has.
fn under_other_names(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    for event in &mut events {
        if let EventKind::ConcurrencyAcquired { name, .. }
        | EventKind::ConcurrencyWaiting { name, .. } = &mut event.kind
        {
            name.push_str(event.run.as_str());
        }
        if let EventKind::SkillStarted(started) = &mut event.kind {
            started.concurrency = started.concurrency.take().map(|name| name + event.run.as_str());
        }
    }
    events
}

impl Faulty {
    /// What the broken store does where names are concerned; nothing where it
    /// does as it should.
    pub(super) fn broken_names(&self, events: &[Event]) -> Result<Option<Vec<Event>>, StoreError> {
        let takes = events.iter().find_map(|event| match &event.kind {
            EventKind::ConcurrencyAcquired { name, .. } => Some((name, &event.run)),
            _ => None,
        });
        let waits = events.iter().any(|e| matches!(e.kind, EventKind::ConcurrencyWaiting { .. }));
        let Some((name, run)) = takes else {
            let circle = waits && self.has(Fault::CircleAllowed);
            return Ok(circle.then(|| under_other_names(events)));
        };
        let claimants = self.inner.claimants(name)?;
        let holder = claimants.iter().find(|row| row.claim == Some(NameClaim::Held));
        let waiting = claimants.iter().find(|row| row.claim != Some(NameClaim::Held));
        let other = || under_other_names(events);
        let taken = |holder: &RunId| StoreError::NameTaken {
            name: name.clone(),
            blocked: Blocked { holder: holder.clone(), ahead: 0 },
        };
        match (self.fault, holder, waiting) {
            (Fault::NameGivenTwice, Some(_), _) => Ok(Some(other())),
            (Fault::NameOfPausedIsFree, Some(holder), _)
                if !self.inner.is_driven(&holder.id)? =>
            {
                Ok(Some(other()))
            }
            (Fault::QueueIgnored, None, Some(_)) => Ok(Some(other())),
            (Fault::AbsentHoldsUp, None, Some(first)) if first.id != *run => Err(taken(&first.id)),
            (Fault::NameKept, None, _) => {
                let runs = self.inner.runs(&RunFilter::default())?;
                let had = runs.iter().find(|row| {
                    row.id != *run && row.concurrency.as_ref() == Some(name) && row.ended.is_some()
                });
                had.map_or(Ok(None), |had| Err(taken(&had.id)))
            }
            _ => Ok(None),
        }
    }
}
