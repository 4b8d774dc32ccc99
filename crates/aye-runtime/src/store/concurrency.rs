//! Names that one run at a time can hold (`concurrency`): which run may take one.
//! Both adapters ask here, in the change that would give the name.

use std::collections::BTreeMap;

use aye_core::event::{Event, EventKind};
use aye_core::id::RunId;
use aye_core::journal::Blocked;

use super::{NameClaim, RunRow, RunStatus, StoreError};

/// What the journal says of runs and names, in the middle of a change.
pub(super) trait Claims {
    /// The runs that have or wait for this name; for every name without one.
    fn claimants(&self, name: Option<&str>) -> Result<Vec<RunRow>, StoreError>;

    /// The outermost run around a run.
    fn around(&self, run: &RunId) -> Result<RunId, StoreError>;

    /// Whether a process drives this outermost run.
    fn is_held(&self, outermost: &RunId) -> Result<bool, StoreError>;
}

/// Whether an event may be appended to the run of this row. Events that have
/// nothing to do with names cost nothing.
pub(super) fn check(
    claims: &dyn Claims,
    outermost: &RunId,
    row: Option<&RunRow>,
    event: &Event,
) -> Result<(), StoreError> {
    match &event.kind {
        EventKind::ConcurrencyAcquired { name, .. } => {
            let since = row.and_then(since);
            let is_driven = |run: &RunId| claims.is_held(&claims.around(run)?);
            match blocked(claims.claimants(Some(name))?, &event.run, since, is_driven)? {
                None => Ok(()),
                Some(blocked) => Err(StoreError::NameTaken { name: name.clone(), blocked }),
            }
        }
        EventKind::ConcurrencyWaiting { name, holder, .. } => {
            match closes_circle(claims, outermost, name)? {
                false => Ok(()),
                true => {
                    let (name, holder) = (name.clone(), holder.clone());
                    Err(StoreError::NameDeadlock { name, holder })
                }
            }
        }
        _ => Ok(()),
    }
}

/// The place of a run among those that wait.
pub(super) fn since(row: &RunRow) -> Option<u64> {
    match row.claim {
        Some(NameClaim::Waits { since, .. }) => Some(since),
        Some(NameClaim::Held) | None => None,
    }
}

/// Which of these runs has to end before `run` can take their name: the one
/// that has it, or the first that waits for it. A run that waits and that
/// nobody drives is passed by.
pub(super) fn blocked(
    claimants: Vec<RunRow>,
    run: &RunId,
    since: Option<u64>,
    is_driven: impl Fn(&RunId) -> Result<bool, StoreError>,
) -> Result<Option<Blocked>, StoreError> {
    let mine = since.unwrap_or(u64::MAX);
    let mut holder = None;
    let mut ahead: Vec<(u64, RunId)> = Vec::new();
    for other in claimants.into_iter().filter(|other| other.id != *run) {
        match other.claim {
            Some(NameClaim::Held) => holder = Some(other.id),
            Some(NameClaim::Waits { since, .. }) => {
                let waits = since < mine && other.status == RunStatus::Running;
                if waits && is_driven(&other.id)? {
                    ahead.push((since, other.id));
                }
            }
            None => {}
        }
    }
    ahead.sort();
    let waiting = u32::try_from(ahead.len()).unwrap_or(u32::MAX);
    Ok(match (holder, ahead.into_iter().next()) {
        (Some(holder), _) => Some(Blocked { holder, ahead: waiting }),
        (None, Some((_, first))) => Some(Blocked { holder: first, ahead: waiting - 1 }),
        (None, None) => None,
    })
}

/// Whether the run that has the name waits, itself or through others, for the
/// outermost run `me`.
fn closes_circle(claims: &dyn Claims, me: &RunId, name: &str) -> Result<bool, StoreError> {
    let all = claims.claimants(None)?;
    let mut holders: BTreeMap<&str, RunId> = BTreeMap::new();
    for row in all.iter().filter(|row| row.claim == Some(NameClaim::Held)) {
        if let Some(name) = &row.concurrency {
            holders.insert(name, claims.around(&row.id)?);
        }
    }
    let Some(first) = holders.get(name).filter(|holder| *holder != me) else { return Ok(false) };
    let mut reached = vec![first.clone()];
    let mut at = 0;
    while let Some(waits) = reached.get(at).cloned() {
        at += 1;
        for row in &all {
            let (Some(NameClaim::Waits { .. }), Some(name)) = (&row.claim, &row.concurrency) else {
                continue;
            };
            if claims.around(&row.id)? != waits {
                continue;
            }
            match holders.get(name.as_str()) {
                Some(holder) if holder == me => return Ok(true),
                Some(holder) if !reached.contains(holder) => reached.push(holder.clone()),
                Some(_) | None => {}
            }
        }
    }
    Ok(false)
}
