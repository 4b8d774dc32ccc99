//! What shows later that something was changed or is gone.

use aye_core::event::{Event, EventKind, StepCompleted};
use aye_process::Stream;
use aye_process::log::{self, FileDigest, LogDigest};
use aye_runtime::store::{Finding, Heads, Store, StoreError, seal};

use super::super::sample::{Tale, moment, pruner};
use super::{Kept, Place, begun, ensure};

fn findings(store: &dyn Store) -> Result<Vec<Finding>, StoreError> {
    let mut found = Vec::new();
    store.audit(None, &mut |finding| found.push(finding))?;
    Ok(found)
}

pub(super) fn entries(place: &dyn Place) -> Kept {
    let mut store = place.open();
    for name in ["first01234", "second0123"] {
        let (mut tale, lease) = begun(&mut *store, name)?;
        let mut inside = Tale::new(&format!("{name}_1"));
        store.append(&lease, &[inside.started_in(name), inside.completed()], &[])?;
        store.append(&lease, &[tale.completed()], &[])?;
    }
    let heads = store.heads()?;
    ensure!(store.pruned_runs()?.is_empty(), "an entry of what is there");
    store.prune(&pruner(), moment(1_000_000), true)?;
    ensure!(store.pruned_runs()?.is_empty(), "an entry of a dry run");
    store.prune(&pruner(), moment(1_000_000), false)?;
    let entries = place.open().pruned_runs()?;
    ensure!(entries.len() == 2, "not an entry for each: {entries:?}");
    for (place, entry) in entries.iter().enumerate() {
        ensure!(entry.n == place as u64 + 1, "numbers: {entries:?}");
        ensure!((entry.by.as_str(), entry.at) == ("ada@engine", pruner().at), "who: {entry:?}");
        ensure!((entry.last_seq, entry.events) == (2, 4), "how much: {entry:?}");
        let head = heads.runs.iter().find(|head| head.run.as_str() == entry.run);
        ensure!(head.is_some_and(|head| head.head == entry.head), "head: {entry:?}");
    }
    ensure!(store.heads()?.pruned.head == entries[1].hash, "the head of the entries");
    let found = findings(&*store)?;
    ensure!(found.is_empty(), "{found:?}");
    Ok(())
}

pub(super) fn heads(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut done, lease) = begun(&mut *store, "done012345")?;
    let mut inside = Tale::new("done012345_1");
    store.append(&lease, &[inside.started_in("done012345"), inside.completed()], &[])?;
    let (mut grows, growing) = begun(&mut *store, "grows01234")?;
    let kept = store.heads()?;
    ensure!(kept.runs.len() == 3, "not every run: {kept:?}");
    ensure!(Heads::parse(&kept.to_text()).as_ref() == Ok(&kept), "as text: {}", kept.to_text());
    let json = serde_json::to_string(&kept)?;
    ensure!(Heads::parse(&json).as_ref() == Ok(&kept), "as JSON: {json}");
    // What continues, ends and is pruned as it should is not a finding.
    store.append(&growing, &[grows.step("a")], &[])?;
    store.append(&lease, &[done.completed()], &[])?;
    drop(lease);
    store.prune(&pruner(), moment(1_000_000), false)?;
    let compare = |store: &dyn Store, heads: &Heads| -> Result<Vec<Finding>, StoreError> {
        let mut found = Vec::new();
        heads.compare(store, &mut |finding| found.push(finding))?;
        Ok(found)
    };
    let found = compare(&*store, &kept)?;
    ensure!(found.is_empty(), "{found:?}");
    // What was never there is gone without an entry; what had more is shorter.
    let mut other = store.heads()?;
    let run = other.runs[0].run.to_string();
    other.runs[0].events += 1;
    let recorded = other.runs[0].events;
    let found = compare(&*store, &other)?;
    let shorter = Finding::RunShortened { run: run.clone(), events: recorded - 1, recorded };
    ensure!(found == [shorter], "{found:?}");
    let mut other = store.heads()?;
    other.runs[0].head[0] ^= 1;
    let found = compare(&*store, &other)?;
    ensure!(matches!(found[..], [Finding::RunReplaced { .. }]), "{found:?}");
    let mut other = store.heads()?;
    other.runs[0].run = Tale::new("never01234").run;
    let found = compare(&*store, &other)?;
    ensure!(found == [Finding::RunGone { run: "never01234".into() }], "{found:?}");
    let mut other = store.heads()?;
    other.pruned.entries += 1;
    let found = compare(&*store, &other)?;
    ensure!(found == [Finding::PrunedMissing { first: 2, last: 2 }], "{found:?}");
    Ok(())
}

fn done_with_log(tale: &mut Tale, text: &str) -> Event {
    let mut event = tale.step_done("build");
    if let EventKind::StepCompleted(done) = &mut event.kind {
        let stdout = Some(FileDigest::of(text.as_bytes()));
        let log = Some(Box::new(seal(&LogDigest { stdout, ..LogDigest::default() })));
        **done = StepCompleted { log, ..(**done).clone() };
    }
    event
}

pub(super) fn logs(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let done = done_with_log(&mut tale, "as it was\n");
    store.append(&lease, &[done], &[])?;
    store.create_logs(&tale.run)?;
    let file = log::path(&store.log(&tale.run, 1, "build"), Stream::Stdout);
    std::fs::write(&file, "as it was\n")?;
    let audited = store.audit(None, &mut |_| {})?;
    ensure!(audited.logs == 1 && findings(&*store)?.is_empty(), "{audited:?}");
    std::fs::write(&file, "as it is!\n")?;
    let found = findings(&*store)?;
    ensure!(matches!(found[..], [Finding::LogChanged { .. }]), "{found:?}");
    std::fs::write(&file, "as it")?;
    let found = findings(&*store)?;
    ensure!(matches!(found[..], [Finding::LogShortened { .. }]), "{found:?}");
    std::fs::remove_file(&file)?;
    let found = findings(&*store)?;
    ensure!(matches!(found[..], [Finding::LogMissing { .. }]), "{found:?}");
    // Gone with its run is not missing.
    store.append(&lease, &[tale.completed()], &[])?;
    drop(lease);
    store.prune(&pruner(), moment(1_000_000), false)?;
    let found = findings(&*store)?;
    ensure!(found.is_empty(), "{found:?}");
    Ok(())
}

pub(super) fn verifies(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "outer01234")?;
    let mut inside = Tale::new("outer01234_1");
    let begin = inside.started_in("outer01234");
    store.append(&lease, &[tale.step("a"), begin, inside.completed(), tale.paused()], &[])?;
    let (other, _other) = begun(&mut *store, "other01234")?;
    store.verify(&tale.run)?;
    place.tamper(&inside.run);
    let refused = place.open().verify(&tale.run);
    ensure!(matches!(refused, Err(StoreError::Tampered { .. })), "{refused:?}");
    store.verify(&other.run)?;
    let found = findings(&*store)?;
    let named = |found: &Finding| matches!(found, Finding::Changed { run, seq: 1, .. } if *run == inside.run.to_string());
    ensure!(found.iter().any(named), "{found:?}");
    Ok(())
}
