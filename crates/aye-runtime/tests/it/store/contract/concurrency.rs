//! Names that one run at a time has.

use std::time::Duration;

use aye_core::event::EventKind;
use aye_core::id::RunId;
use aye_runtime::store::{Lease, NameClaim, Store, StoreError};

use super::super::sample::{Tale, source};
use super::{Kept, Place, ensure, lease};

const LONG: Duration = Duration::from_secs(2);

/// A run that has started and says what it wants.
fn begun(
    store: &mut dyn Store,
    run: &str,
    name: &str,
    holder: Option<&RunId>,
) -> Result<(Tale, Lease), Box<dyn std::error::Error>> {
    let mut tale = Tale { name: Some(name.to_owned()), ..Tale::new(run) };
    let lease = lease(store, &tale.run)?;
    let first = tale.started();
    let next = match holder {
        None => tale.takes(name),
        Some(holder) => tale.waits(name, holder),
    };
    store.start(&lease, &[first, next], &source())?;
    Ok((tale, lease))
}

fn taken(result: Result<(), StoreError>) -> Result<(RunId, u32), String> {
    match result {
        Err(StoreError::NameTaken { blocked, .. }) => Ok((blocked.holder, blocked.ahead)),
        other => Err(format!("not refused: {other:?}")),
    }
}

pub(super) fn held_once(place: &dyn Place) -> Kept {
    let (mut one, mut two) = (place.open(), place.open());
    let (first, held) = begun(&mut *one, "first12345", "n", None)?;
    let mut second = Tale { name: Some("n".to_owned()), ..Tale::new("second1234") };
    let other = lease(&mut *two, &second.run)?;
    let events = [second.started(), second.takes("n")];
    let (holder, ahead) = taken(two.start(&other, &events, &source()))?;
    ensure!(holder == first.run && ahead == 0, "{holder} {ahead}");
    ensure!(two.run(&second.run)?.is_none(), "it was begun");
    // Another name is another matter.
    begun(&mut *two, "another123", "m", None)?;
    let claimants = two.claimants("n")?;
    ensure!(claimants.len() == 1 && claimants[0].claim == Some(NameClaim::Held), "{claimants:?}");
    drop(held);
    Ok(())
}

pub(super) fn kept_until_the_end(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut first, held) = begun(&mut *store, "first12345", "n", None)?;
    let (mut second, other) = begun(&mut *store, "second1234", "n", Some(&first.run))?;
    store.append(&held, &[first.paused()], &[])?;
    // Nobody drives it: the name is its own all the same.
    drop(held);
    let takes = second.takes("n");
    let again = store.append(&other, std::slice::from_ref(&takes), &[]);
    ensure!(taken(again)?.0 == first.run, "another has it");
    let held = lease(&mut *store, &first.run)?;
    store.append(&held, &[first.resumed(), first.cancelled()], &[])?;
    ensure!(store.blocked(&second.run, "n")?.is_none(), "not free");
    store.append(&other, &[takes, second.completed()], &[])?;
    ensure!(store.claimants("n")?.is_empty(), "still claimed");
    Ok(())
}

pub(super) fn first_come(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut first, held) = begun(&mut *store, "first12345", "n", None)?;
    let (mut second, two) = begun(&mut *store, "second1234", "n", Some(&first.run))?;
    let (mut third, three) = begun(&mut *store, "third12345", "n", Some(&first.run))?;
    let early = third.takes("n");
    let (holder, ahead) = taken(store.append(&three, std::slice::from_ref(&early), &[]))?;
    ensure!(holder == first.run && ahead == 1, "{holder}, {ahead} ahead");
    store.append(&held, &[first.completed()], &[])?;
    let (holder, ahead) = taken(store.append(&three, std::slice::from_ref(&early), &[]))?;
    ensure!(holder == second.run && ahead == 0, "{holder}, {ahead} ahead");
    let order: Vec<RunId> = store.claimants("n")?.into_iter().map(|row| row.id).collect();
    ensure!(order == [second.run.clone(), third.run.clone()], "{order:?}");
    // One that only now begins comes last, also where nobody has the name.
    let mut late = Tale { name: Some("n".to_owned()), ..Tale::new("late123456") };
    let held = lease(&mut *store, &late.run)?;
    let events = [late.started(), late.takes("n")];
    let (holder, ahead) = taken(store.start(&held, &events, &source()))?;
    ensure!(holder == second.run && ahead == 1, "{holder}, {ahead} ahead");
    store.append(&two, &[second.takes("n")], &[])?;
    Ok(())
}

pub(super) fn absent_ones_are_passed(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut first, held) = begun(&mut *store, "first12345", "n", None)?;
    let (second, two) = begun(&mut *store, "second1234", "n", Some(&first.run))?;
    let (mut third, three) = begun(&mut *store, "third12345", "n", Some(&first.run))?;
    store.append(&held, &[first.completed()], &[])?;
    // Its driver was killed: it has its place, and others do not wait for it.
    drop(two);
    store.append(&three, &[third.takes("n")], &[])?;
    let row = store.run(&second.run)?.ok_or("no row")?;
    ensure!(row.waits_for_name() == Some(("n", &first.run)), "{row:?}");
    Ok(())
}

pub(super) fn the_end_wakes(place: &dyn Place) -> Kept {
    let (mut one, two) = (place.open(), place.open());
    let (mut first, held) = begun(&mut *one, "first12345", "n", None)?;
    let mut requests = two.listen_for_requests(&RunId::new("second1234")?)?;
    one.append(&held, &[first.completed()], &[])?;
    ensure!(requests.wait(LONG)?, "who waits does not hear that the name is free");
    Ok(())
}

pub(super) fn no_circle(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (one, held) = begun(&mut *store, "first12345", "n", None)?;
    let (two, other) = begun(&mut *store, "second1234", "m", None)?;
    let inside = |outer: &str, name: &str| {
        let mut tale = Tale { name: Some(name.to_owned()), ..Tale::new(&format!("{outer}_1")) };
        let first = tale.started_in(outer);
        (tale, first)
    };
    let (mut child, first) = inside("first12345", "m");
    let waits = child.waits("m", &two.run);
    store.append(&held, &[first, waits], &[])?;
    let (mut child, first) = inside("second1234", "n");
    let waits = child.waits("n", &one.run);
    let refused = store.append(&other, &[first, waits], &[]);
    let circle =
        matches!(&refused, Err(StoreError::NameDeadlock { holder, .. }) if *holder == one.run);
    ensure!(circle, "not refused: {refused:?}");
    Ok(())
}

impl Tale {
    fn takes(&mut self, name: &str) -> aye_core::event::Event {
        self.event(EventKind::ConcurrencyAcquired { name: name.to_owned(), waited_ms: None })
    }

    fn waits(&mut self, name: &str, holder: &RunId) -> aye_core::event::Event {
        let (name, holder) = (name.to_owned(), holder.clone());
        self.event(EventKind::ConcurrencyWaiting { name, holder, ahead: 0 })
    }
}
