//! Appending and reading back.

use std::os::unix::fs::PermissionsExt as _;

use aye_runtime::store::{Source, StoreError};
use rusqlite::Connection;

use super::Outcome;
use super::sample::{Tale, id, open, populate, source};
use super::writer::Store;

#[test]
fn events_come_back_as_they_were_written() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    let first = vec![tale.started(), tale.step("build")];
    let second = vec![tale.step_done("build"), tale.asks(1), tale.completed()];
    store.start(&first, &source())?;
    store.append(&second, &[])?;
    let all = [first, second.clone()].concat();

    assert_eq!(store.events(&tale.run, 0)?, all);
    assert_eq!(store.events(&tale.run, 2)?, second);
    assert_eq!(store.events(&tale.run, 99)?, []);
    assert_eq!(store.events(&id("unknown123"), 0)?, []);
    assert_eq!(store.tail(&tale.run, 2)?, all[3..]);
    assert_eq!(store.tail(&tale.run, 50)?, all);
    assert_eq!(store.source(&source().digest)?, Some(source()));
    assert_eq!(store.source("nothing")?, None);

    drop(store);
    let again = Store::open_to_read(home.path())?.ok_or("no journal")?;
    assert_eq!(again.events(&tale.run, 0)?, all);
    Ok(())
}

#[test]
fn a_watcher_that_says_where_it_was_misses_nothing() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    assert_eq!(store.position()?, 0);
    populate(&mut store)?;
    let end = store.position()?;
    let mut seen = Vec::new();
    let mut place = 0;
    loop {
        let some = store.events_after(place, 4)?;
        let Some((last, _)) = some.last() else { break };
        place = *last;
        seen.extend(some);
    }
    assert_eq!(place, end);
    assert_eq!(seen.len() as u64, end);
    assert!(seen.is_sorted_by(|a, b| a.0 < b.0));
    Ok(())
}

#[test]
fn a_run_and_one_inside_it_can_share_a_commit() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let (mut one, mut two) = (Tale::new("run-number-1"), Tale::new("run-number-1_1"));
    let inside = two.started_in("run-number-1");
    store.append(&[one.started(), one.step("a"), inside], &[])?;
    store.append(&[two.step("b"), one.step_done("a"), two.completed()], &[])?;
    assert_eq!(store.events(&one.run, 0)?.len(), 3);
    assert_eq!(store.events(&two.run, 0)?.len(), 3);
    Ok(())
}

#[test]
fn an_event_out_of_order_is_a_conflict_and_nothing_is_written() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started(), tale.step("a")], &source())?;
    let before = store.run(&tale.run)?;
    let (good, skipped) = (tale.step_done("a"), tale.step("b"));
    let later = tale.completed();

    for bad in
        [vec![skipped.clone()], vec![good.clone(), later.clone()], vec![good.clone(), good.clone()]]
    {
        let Err(StoreError::Conflict { run, last, got }) = store.append(&bad, &[]) else {
            return Err("no conflict".into());
        };
        assert_eq!(run, tale.run);
        assert_eq!(got, bad[bad.len() - 1].seq);
        assert_eq!(last, if bad.len() == 1 { 2 } else { 3 });
        assert_eq!(store.run(&tale.run)?, before);
        assert_eq!(store.events(&tale.run, 0)?.len(), 2);
    }
    store.append(&[good, skipped, later], &[])?;
    Ok(())
}

#[test]
fn a_run_begins_with_its_beginning() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    let refused = store.append(&[tale.step("a")], &[]);
    assert!(matches!(refused, Err(StoreError::NotStarted { .. })));
    assert_eq!(store.run(&tale.run)?, None);
    assert_eq!(store.position()?, 0);
    Ok(())
}

#[test]
fn a_text_has_to_have_its_digest() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    let other = Source::new("/skills/release.yaml", "name: other\n");
    let mut forged = source();
    forged.text.push(' ');
    for bad in [other, forged] {
        let refused = store.start(&[tale.started()], &bad);
        assert!(matches!(refused, Err(StoreError::Source { .. })));
        tale.seq = 0;
    }
    assert_eq!(store.position()?, 0);
    Ok(())
}

#[test]
fn the_home_is_its_owners_alone() -> Outcome {
    let temp = tempfile::tempdir()?;
    let home = temp.path().join("state/aye");
    let mut store = open(&home)?;
    populate(&mut store)?;
    let mode = |name: &str| -> std::io::Result<u32> {
        Ok(home.join(name).metadata()?.permissions().mode() & 0o777)
    };
    assert_eq!(mode("")?, 0o700);
    for file in ["journal.db", "journal.db-wal", "journal.db-shm", "bell"] {
        assert_eq!(mode(file)?, 0o600, "{file}");
    }
    let logs = store.create_logs(&id("abcdefgh12"))?;
    assert_eq!(logs, home.join("logs/abcdefgh12"));
    assert_eq!(mode("logs/abcdefgh12")?, 0o700);
    Ok(())
}

#[test]
fn reading_makes_nothing() -> Outcome {
    let temp = tempfile::tempdir()?;
    let home = temp.path().join("none");
    assert!(Store::open_to_read(&home)?.is_none());
    assert!(!home.exists());
    Ok(())
}

#[test]
fn two_processes_that_take_turns_with_a_run_see_what_the_other_did() -> Outcome {
    let home = tempfile::tempdir()?;
    let (mut one, mut two) = (open(home.path())?, open(home.path())?);
    let mut tale = Tale::new("abcdefgh12");
    one.start(&[tale.started(), tale.step("a")], &source())?;
    two.append(&[tale.step_done("a"), tale.asks(1)], &[])?;
    one.append(&[tale.answered(1, "proceed", "bob")], &[])?;
    two.append(&[tale.step("b")], &[])?;
    two.append(&[tale.step_done("b")], &[])?;
    // Nothing of the other run may get between the numbers.
    let mut other = Tale::new("other12345");
    one.start(&[other.started()], &source())?;
    two.append(&[tale.completed()], &[])?;
    one.append(&[other.completed()], &[])?;

    let numbers: Vec<u64> = one.events_after(0, 50)?.iter().map(|(n, _)| *n).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<u64>>());
    let mut wrong = Vec::new();
    one.audit(None, |finding| wrong.push(finding))?;
    assert!(wrong.is_empty(), "{wrong:?}");
    let before = one.run(&tale.run)?;
    one.rebuild()?;
    assert_eq!(one.run(&tale.run)?, before);
    Ok(())
}

#[test]
fn an_append_after_a_refused_one_knows_what_is_there() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started()], &source())?;
    store.append(&[tale.step("a")], &[])?;
    let done = tale.step_done("a");
    let skipped = tale.step("b");
    let refused = store.append(std::slice::from_ref(&skipped), &[]);
    assert!(matches!(refused, Err(StoreError::Conflict { last: 2, got: 4, .. })), "{refused:?}");
    store.append(&[done, skipped], &[])?;
    assert_eq!(store.events(&tale.run, 0)?.len(), 4);
    Ok(())
}

#[test]
fn the_log_of_a_long_run_is_short_again_afterwards() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started()], &source())?;
    let log = home.path().join("journal.db-wal");
    let frames = || -> std::io::Result<u64> { Ok(log.metadata()?.len() / (4096 + 24)) };
    for n in 0..1_000 {
        store.append(&[tale.step(&format!("s{n}")), tale.step_done(&format!("s{n}"))], &[])?;
    }
    assert!((500..1_300).contains(&frames()?), "{}", frames()?);
    store.append(&[tale.completed()], &[])?;
    // The next one begins the log anew: it never gets longer again.
    let longest = frames()?;
    for run in 0..40 {
        let mut tale = Tale::new(&format!("short{run:05}"));
        store.start(&[tale.started()], &source())?;
        store.append(&[tale.step("a")], &[])?;
        store.append(&[tale.completed()], &[])?;
    }
    assert_eq!(frames()?, longest);
    Ok(())
}

#[test]
fn an_event_that_the_table_ignores_is_an_error() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started()], &source())?;
    // A column that nobody fills, and a table that then leaves the row out.
    Connection::open(store.home().journal())?.execute_batch(
        "ALTER TABLE events RENAME TO old;
         CREATE TABLE events (id INTEGER PRIMARY KEY, run TEXT, seq INTEGER, at INTEGER, type TEXT,
             body TEXT, hash BLOB, more TEXT NOT NULL ON CONFLICT IGNORE);
         INSERT INTO events SELECT *, '' FROM old;
         DROP TABLE old;",
    )?;
    let dropped = store.append(&[tale.completed()], &[]);
    assert!(matches!(dropped, Err(StoreError::Dropped { seq: 2, .. })), "{dropped:?}");
    assert_eq!(store.events(&tale.run, 0)?.len(), 1);
    let row = store.run(&tale.run)?.ok_or("no row")?;
    assert_eq!((row.last_seq, row.ended), (1, None));
    Ok(())
}
