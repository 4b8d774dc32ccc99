//! Leases and epochs.

use aye_core::id::RunId;
use aye_runtime::store::{LeaseError, Store, StoreError};

use super::super::sample::{Tale, holder};
use super::{Kept, Place, begun, ensure, lease};

pub(super) fn old_epoch_is_fenced(place: &dyn Place) -> Kept {
    let (mut old, mut new) = (place.open(), place.open());
    let (mut tale, lost) = begun(&mut *old, "abcdefgh12")?;
    old.append(&lost, &[tale.step("a")], &[])?;
    place.expire(&tale.run);
    // Anyone who takes it over need not have written anything yet.
    let held = lease(&mut *new, &tale.run)?;
    let event = tale.step_done("a");
    let refused = old.append(&lost, std::slice::from_ref(&event), &[]);
    let fenced = matches!(
        &refused,
        Err(StoreError::Fenced { epoch, current, .. })
            if *epoch == lost.epoch() && *current == held.epoch()
    );
    ensure!(fenced, "not fenced: {refused:?}");
    ensure!(new.events(&tale.run, 0)?.len() == 2, "it was written");
    new.append(&held, &[event], &[])?;
    Ok(())
}

pub(super) fn covers(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (_, held) = begun(&mut *store, "outer00001")?;
    let mut inside = Tale::new("outer00001_1_0");
    let event = inside.started_in("outer00001");
    store.append(&held, &[event], &[])?;
    store.append(&held, &[inside.step("a")], &[])?;
    let (mut other, _kept) = begun(&mut *store, "outer00001x")?;
    let refused = store.append(&held, &[other.step("a")], &[]);
    ensure!(matches!(refused, Err(StoreError::NotCovered { .. })), "not refused: {refused:?}");
    ensure!(store.events(&other.run, 0)?.len() == 1, "it was written");
    Ok(())
}

pub(super) fn held_once(place: &dyn Place) -> Kept {
    let (mut one, mut two) = (place.open(), place.open());
    let (tale, _held) = begun(&mut *one, "abcdefgh12")?;
    let Err(LeaseError::Held(held)) = two.acquire(&tale.run, &holder()) else {
        return Err("both have it".into());
    };
    ensure!(held.run == tale.run, "{held:?}");
    ensure!(held.holder == Some(holder()), "{held:?}");
    ensure!(two.holder(&tale.run)? == Some(held), "another holder");
    ensure!(two.is_driven(&tale.run)?, "not driven");
    // Another run is another lease.
    begun(&mut *two, "another123")?;
    Ok(())
}

pub(super) fn given_back(place: &dyn Place) -> Kept {
    let (mut one, mut two) = (place.open(), place.open());
    let (mut tale, held) = begun(&mut *one, "abcdefgh12")?;
    drop(held);
    ensure!(two.holder(&tale.run)?.is_none(), "still held");
    let held = lease(&mut *two, &tale.run)?;
    two.append(&held, &[tale.step("a")], &[])?;
    Ok(())
}

pub(super) fn epoch_grows(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (tale, held) = begun(&mut *store, "abcdefgh12")?;
    ensure!(held.epoch() == 1, "begins with {}", held.epoch());
    drop(held);
    let mut last = 1;
    for _ in 0..3 {
        let held = lease(&mut *place.open(), &tale.run)?;
        ensure!(held.epoch() > last, "{} after {last}", held.epoch());
        last = held.epoch();
    }
    Ok(())
}

pub(super) fn late_return(place: &dyn Place) -> Kept {
    let (mut old, mut new) = (place.open(), place.open());
    let (mut tale, lost) = begun(&mut *old, "abcdefgh12")?;
    place.expire(&tale.run);
    let held = lease(&mut *new, &tale.run)?;
    drop(lost);
    ensure!(old.holder(&tale.run)?.is_some(), "the next one's lease is gone");
    ensure!(lease(&mut *old, &tale.run).is_err(), "both have it");
    new.append(&held, &[tale.step("a")], &[])?;
    Ok(())
}

pub(super) fn all_listed(place: &dyn Place) -> Kept {
    let mut store = place.open();
    ensure!(store.held()?.is_empty(), "held before anybody took one");
    let (one, held) = begun(&mut *store, "abcdefgh12")?;
    let (two, _kept) = begun(&mut *store, "another123")?;
    let listed = |store: &dyn Store| -> Result<Vec<RunId>, StoreError> {
        let mut runs: Vec<RunId> = store.held()?.into_iter().map(|held| held.run).collect();
        runs.sort();
        Ok(runs)
    };
    let other = place.open();
    ensure!(listed(&*other)? == [one.run, two.run.clone()], "{:?}", other.held()?);
    drop(held);
    ensure!(listed(&*other)? == [two.run], "given back and still listed");
    Ok(())
}
