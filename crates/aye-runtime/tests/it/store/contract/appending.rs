//! Appending, and reading back.

use aye_runtime::store::{Source, StoreError};

use super::super::sample::{Tale, source};
use super::{Kept, Place, begun, ensure, lease};

pub(super) fn reads_back(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let (one, two) = (tale.step("a"), tale.step_done("a"));
    store.append(&lease, &[one.clone(), two.clone()], &[])?;
    let three = tale.step("b");
    store.append(&lease, std::slice::from_ref(&three), &[])?;
    let read = place.open().events(&tale.run, 1)?;
    ensure!(read == [one, two.clone(), three.clone()], "read {read:?}");
    let tail = store.tail(&tale.run, 2)?;
    ensure!(tail == [two, three], "the tail is {tail:?}");
    Ok(())
}

pub(super) fn needs_the_next_number(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let (next, skipped) = (tale.step("a"), tale.step_done("a"));
    let gap = store.append(&lease, std::slice::from_ref(&skipped), &[]);
    ensure!(matches!(gap, Err(StoreError::Conflict { last: 1, got: 3, .. })), "a gap: {gap:?}");
    store.append(&lease, std::slice::from_ref(&next), &[])?;
    let twice = store.append(&lease, &[next], &[]);
    ensure!(matches!(twice, Err(StoreError::Conflict { last: 2, got: 2, .. })), "{twice:?}");
    ensure!(store.events(&tale.run, 0)?.len() == 2, "something was written");
    Ok(())
}

pub(super) fn all_or_nothing(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let good = tale.step("a");
    tale.seq += 1;
    let bad = tale.step_done("a");
    let refused = store.append(&lease, &[good, bad], &[]);
    ensure!(matches!(refused, Err(StoreError::Conflict { .. })), "not refused: {refused:?}");
    ensure!(store.events(&tale.run, 0)?.len() == 1, "half of it was written");
    let row = store.run(&tale.run)?.ok_or("no row")?;
    ensure!(row.last_seq == 1 && row.step.is_none(), "the row moved: {row:?}");
    Ok(())
}

pub(super) fn watchers_miss_nothing(place: &dyn Place) -> Kept {
    let (mut one, mut two) = (place.open(), place.open());
    let (mut first, held) = begun(&mut *one, "first12345")?;
    let (mut second, other) = begun(&mut *two, "second1234")?;
    for _ in 0..5 {
        one.append(&held, &[first.step("a")], &[])?;
        two.append(&other, &[second.step("a"), second.step_done("a")], &[])?;
    }
    let (mut seen, mut last) = (Vec::new(), 0);
    loop {
        let events = one.events_after(last, 4)?;
        ensure!(events.len() <= 4, "more than asked for");
        for (n, event) in &events {
            ensure!(*n > last, "number {n} after {last}");
            last = *n;
            seen.push((event.run.clone(), event.seq));
        }
        if events.is_empty() {
            break;
        }
    }
    ensure!(seen.len() == 17, "saw {} of 17", seen.len());
    ensure!(two.position()? == last, "the position is another");
    Ok(())
}

pub(super) fn within(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (_, held) = begun(&mut *store, "outer00001")?;
    let mut inside = Tale::new("outer00001_1_0");
    let event = inside.started_in("outer00001");
    store.append(&held, &[event], &[])?;
    // An id that begins alike is not inside.
    let _other = begun(&mut *store, "outer00001x")?;
    let runs: Vec<String> =
        store.events_within(held.run(), 0)?.iter().map(|(_, e)| e.run.to_string()).collect();
    ensure!(runs == ["outer00001", "outer00001_1_0"], "{runs:?}");
    let place_of = store.place_of(&inside.run)?;
    ensure!(place_of.len() == 1 && place_of[0].run == *held.run(), "{place_of:?}");
    let outer = store.outermost(&inside.run)?.map(|row| row.id);
    ensure!(outer.as_ref() == Some(held.run()), "{outer:?}");
    let children = store.runs_inside(held.run())?;
    ensure!(children.len() == 1 && children[0].id == inside.run, "{children:?}");
    Ok(())
}

pub(super) fn keeps_the_source(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (tale, _lease) = begun(&mut *store, "abcdefgh12")?;
    let kept = place.open().source(&source().digest)?;
    ensure!(kept == Some(source()), "kept {kept:?}");
    let mut other = Tale::new("another123");
    let held = lease(&mut *store, &other.run)?;
    let wrong = Source::new("/skills/release.yaml", "name: other\n");
    let refused = store.start(&held, &[other.started()], &wrong);
    ensure!(matches!(refused, Err(StoreError::Source { .. })), "not refused: {refused:?}");
    ensure!(store.run(&other.run)?.is_none(), "it was begun");
    let first = store.first_event(&tale.run)?.map(|event| event.seq);
    ensure!(first == Some(1), "the first event is {first:?}");
    Ok(())
}
