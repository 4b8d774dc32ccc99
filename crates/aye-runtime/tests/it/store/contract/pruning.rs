//! Pruning, audits and logs.

use std::sync::atomic::AtomicBool;

use aye_process::Stream;
use aye_process::log::{self, WORTHWHILE};
use aye_runtime::store::{Audited, Pruned};

use super::super::sample::{Tale, id, moment, pruner};
use super::{Kept, Place, begun, ensure};

pub(super) fn prunes(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut done, lease) = begun(&mut *store, "done012345")?;
    let mut inside = Tale::new("done012345_1");
    let within = inside.started_in("done012345");
    store.append(&lease, &[within, inside.completed()], &[])?;
    store.append(&lease, &[done.completed()], &[])?;
    drop(lease);
    let logs = store.create_logs(&done.run)?;
    let (running, _driven) = begun(&mut *store, "running001")?;
    let (mut held, _held) = begun(&mut *store, "held012345")?;
    store.append(&_held, &[held.completed()], &[])?;
    let position = store.position()?;

    let far = moment(1_000_000);
    ensure!(store.has_finished_older_than(far)?, "nothing to prune");
    ensure!(!store.has_finished_older_than(moment(0))?, "something to prune too early");
    let counted = store.prune(&pruner(), moment(0), false)?;
    ensure!(counted == Pruned::default(), "pruned too early: {counted:?}");
    let would = store.prune_where(&pruner(), far, true, &mut |_, _| true)?;
    ensure!(would.runs >= 1 && store.run(&done.run)?.is_some(), "a dry run: {would:?}");
    let none = store.prune_some(&pruner(), far, 10, &mut |_, _| false)?;
    ensure!(none == Pruned::default(), "pruned what may not go: {none:?}");
    let pruned = store.prune(&pruner(), far, false)?;
    ensure!((pruned.runs, pruned.events) == (1, 4), "{pruned:?}");
    ensure!(store.run(&done.run)?.is_none(), "its row is there");
    ensure!(store.run(&inside.run)?.is_none(), "the row of the run inside is there");
    ensure!(store.events_within(&done.run, 0)?.is_empty(), "its events are there");
    ensure!(!logs.exists(), "its logs are there");
    ensure!(store.run(&running.run)?.is_some(), "a run that continues is gone");
    ensure!(store.run(&held.run)?.is_some(), "a run that is held is gone");
    // A watcher that remembers its place must not miss what comes next.
    drop(_held);
    store.prune(&pruner(), far, false)?;
    let now = store.position()?;
    ensure!(now == position, "pruning moved the position from {position} to {now}");
    begun(&mut *store, "next012345")?;
    let news = store.events_after(position, 10)?;
    ensure!(news.len() == 1, "numbers return after pruning: {news:?}");
    Ok(())
}

pub(super) fn audit_and_logs(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    store.append(&lease, &[tale.step("a"), tale.asks(1), tale.paused()], &[])?;
    begun(&mut *store, "another123")?;
    let mut found = Vec::new();
    let all = store.audit(None, &mut |finding| found.push(finding))?;
    ensure!(found.is_empty(), "{found:?}");
    ensure!(all == Audited { runs: 2, events: 5, ..Audited::default() }, "{all:?}");
    let one = store.audit(Some(&tale.run), &mut |_| {})?;
    ensure!(one == Audited { runs: 1, events: 4, ..Audited::default() }, "{one:?}");
    let logs = [
        store.log(&tale.run, 1, "build"),
        store.log(&tale.run, 2, "build"),
        store.log(&tale.run, 1, "test"),
        store.log(&id("another123"), 1, "build"),
    ];
    for (place, log) in logs.iter().enumerate() {
        ensure!(!logs[..place].contains(log), "two logs are one: {}", log.display());
    }
    let directory = store.create_logs(&tale.run)?;
    ensure!(directory.is_dir() && logs[0].starts_with(&directory), "{}", directory.display());
    Ok(())
}

pub(super) fn plain_logs(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (tale, lease) = begun(&mut *store, "abcdefgh12")?;
    store.create_logs(&tale.run)?;
    let base = store.log(&tale.run, 1, "build");
    let plain = log::path(&base, Stream::Stdout);
    std::fs::write(&plain, "x".repeat(usize::try_from(WORTHWHILE)?))?;
    ensure!(store.plain_logs().is_empty(), "noted by no one");
    store.plain_logs().note(&tale.run, lease.epoch(), std::slice::from_ref(&base))?;
    let later = place.open();
    ensure!(!later.plain_logs().is_empty(), "the note is lost");
    let never = AtomicBool::new(false);
    later.plain_logs().compress(Some(&tale.run), u64::MAX, &never);
    ensure!(plain.exists(), "compressed although it was spared");
    later.plain_logs().compress(None, u64::MAX, &never);
    ensure!(!plain.exists() && log::exists(&base), "not compressed");
    ensure!(store.plain_logs().is_empty(), "the note stays");
    Ok(())
}
