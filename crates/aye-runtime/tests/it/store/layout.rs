//! Layouts of the database, the current one and those before it.

use std::fs::File;
use std::path::Path;

use aye_core::event::StartedBy;
use aye_runtime::store::{
    Found, MessageState, NameClaim, PrunedHead, RunFilter, RunStatus, StoreError,
};
use rusqlite::Connection;

use super::Outcome;
use super::sample::{Tale, holder, id, moment, open, source};
use super::writer::Store;

const FIRST: &str = include_str!("fixtures/layout-1.sql");
const SECOND: &str = include_str!("fixtures/layout-2.sql");
const THIRD: &str = include_str!("fixtures/layout-3.sql");
const FOURTH: &str = include_str!("fixtures/layout-4.sql");
const FIFTH: &str = include_str!("fixtures/layout-5.sql");
const EIGHTH: &str = include_str!("fixtures/layout-8.sql");
const NINTH: &str = include_str!("fixtures/layout-9.sql");

/// Every layout that journals can have: the sixth and the seventh were never
/// on the main branch.
const ALL: [(i64, &str); 7] =
    [(1, FIRST), (2, SECOND), (3, THIRD), (4, FOURTH), (5, FIFTH), (8, EIGHTH), (9, NINTH)];

/// A home with a journal of an older layout.
fn home_with(fixture: &str) -> Result<tempfile::TempDir, Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    Connection::open(home.path().join("journal.db"))?.execute_batch(fixture)?;
    Ok(home)
}

fn definitions(home: &Path) -> rusqlite::Result<Vec<String>> {
    Connection::open(home.join("journal.db"))?
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")?
        .query_map([], |row| row.get(0))?
        .collect()
}

#[test]
fn a_journal_of_the_first_layout_is_read_checked_and_continued() -> Outcome {
    let home = home_with(FIRST)?;
    let mut store = open(home.path())?;
    let audited = store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!(audited.runs, 5);
    assert_eq!(store.runs(&RunFilter::default())?.len(), 5);
    let Found::One(row) = store.find_run("last")? else {
        return Err("no run".into());
    };
    let mut tale = Tale::new(row.id.as_str());
    tale.seq = row.last_seq;
    store.append(&[tale.completed()], &[])?;
    let row = store.run(&row.id)?.ok_or("no row")?;
    assert_eq!(row.status, RunStatus::Completed);
    assert_eq!(store.source(&row.source)?, Some(source()));
    assert!(store.events(&id("completed1"), 0)?.len() > 5);
    store.audit(None, |finding| panic!("{finding}"))?;
    Ok(())
}

#[test]
fn a_journal_of_the_second_layout_is_read_checked_and_taken_over() -> Outcome {
    let home = home_with(SECOND)?;
    let mut store = open(home.path())?;
    let audited = store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!((audited.runs, audited.events), (6, 28));
    let Found::One(row) = store.find_run("a8g40bx0tw")? else {
        return Err("no run".into());
    };
    assert_eq!(store.runs_inside(&row.id)?.len(), 2);
    // Its driver knew nothing of epochs: the first one that does has epoch 1.
    let lease = store.acquire(&row.id, &holder())?;
    assert_eq!(lease.epoch(), 1);
    let mut tale = Tale::new(row.id.as_str());
    tale.seq = row.last_seq;
    (*store).append(&lease, &[tale.resumed()], &[])?;
    store.audit(None, |finding| panic!("{finding}"))?;
    Ok(())
}

#[test]
fn a_journal_of_the_third_layout_is_read_checked_and_pruned() -> Outcome {
    let home = home_with(THIRD)?;
    let mut store = open(home.path())?;
    let audited = store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!((audited.runs, audited.events, audited.logs), (6, 30, 0));
    store.verify(&id("5f6p4169cp"))?;
    // What was pruned before has no entry, and is not missed.
    let heads = store.heads()?;
    assert_eq!((heads.runs.len(), heads.pruned), (6, PrunedHead::default()));
    store.prune(moment(1_000_000_000_000), false)?;
    let entries = store.pruned_runs()?;
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].run.as_str(), entries[0].events), ("fn3xtdcy34", 16));
    store.audit(None, |finding| panic!("{finding}"))?;
    heads.compare(&*store, &mut |finding| panic!("{finding}"))?;
    Ok(())
}

#[test]
fn a_journal_of_the_fourth_layout_is_read_checked_and_learned_from() -> Outcome {
    let home = home_with(FOURTH)?;
    let mut store = open(home.path())?;
    let audited = store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!((audited.runs, audited.events, audited.logs), (6, 34, 0));
    assert_eq!(store.pruned_runs()?.len(), 1);
    // What was learned then is in memory's files already.
    assert_eq!(store.pending_lessons()?, []);
    let Found::One(row) = store.find_run("p1tg19qfwc")? else {
        return Err("no run".into());
    };
    let lease = store.acquire(&row.id, &holder())?;
    let mut tale = Tale::new(row.id.as_str());
    tale.seq = row.last_seq;
    let (resumed, learned) = (tale.resumed(), tale.learned(Some("one")));
    (*store).append(&lease, &[resumed, learned.clone()], &[])?;
    assert_eq!(store.pending_lessons()?, [learned]);
    store.audit(None, |finding| panic!("{finding}"))?;
    Ok(())
}

#[test]
fn a_journal_of_the_fifth_layout_is_read_checked_and_its_runs_have_no_names() -> Outcome {
    let home = home_with(FIFTH)?;
    let mut store = open(home.path())?;
    let audited = store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!((audited.runs, audited.events), (6, 34));
    assert_eq!(store.claimants("deploy")?, []);
    let row = store.run(&id("p1tg19qfwc"))?.ok_or("no row")?;
    assert_eq!((row.concurrency.as_deref(), row.claim.as_ref()), (None, None));
    let lease = store.acquire(&row.id, &holder())?;
    let mut tale = Tale::new(row.id.as_str());
    tale.seq = row.last_seq;
    (*store).append(&lease, &[tale.resumed(), tale.completed()], &[])?;
    store.audit(None, |finding| panic!("{finding}"))?;
    Ok(())
}

#[test]
fn a_journal_of_the_eighth_layout_knows_names_messages_and_who_started_a_run() -> Outcome {
    let home = home_with(EIGHTH)?;
    keeps_what_the_eighth_layout_has(home.path(), "4bb152561n", "r687rt3r5j")
}

#[test]
fn a_journal_of_the_ninth_layout_is_opened_as_it_is() -> Outcome {
    let home = home_with(NINTH)?;
    keeps_what_the_eighth_layout_has(home.path(), "v3mcy5z1hp", "2xg4k3f85q")
}

/// A run that is done, and one that waits, holds a name and has sent a message.
fn keeps_what_the_eighth_layout_has(home: &Path, done: &str, waits: &str) -> Outcome {
    let mut store = open(home)?;
    let audited = store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!((audited.runs, audited.events), (6, 38));
    let (done, waits) = (id(done), id(waits));
    let row = store.run(&done)?.ok_or("no row")?;
    assert_eq!((row.started_by, row.starter.as_str()), (Some(StartedBy::Script), "root"));
    let claimants = store.claimants("deploy")?;
    assert_eq!(claimants.len(), 1, "{claimants:?}");
    assert_eq!((&claimants[0].id, &claimants[0].claim), (&waits, &Some(NameClaim::Held)));
    assert_eq!(store.open_questions()?.len(), 1);
    let messages = store.messages(&waits)?;
    assert_eq!((messages.len(), messages[0].state), (1, MessageState::Sent), "{messages:?}");
    assert_eq!(store.messages(&done)?[0].state, MessageState::Withdrawn);
    assert_eq!(store.pending_lessons()?, []);
    let lease = store.acquire(&waits, &holder())?;
    assert_eq!(lease.epoch(), 2);
    let mut tale = Tale::new(waits.as_str());
    tale.seq = claimants[0].last_seq;
    (*store).append(&lease, &[tale.resumed(), tale.completed()], &[])?;
    assert_eq!(store.claimants("deploy")?, []);
    store.audit(None, |finding| panic!("{finding}"))?;
    Ok(())
}

#[test]
fn an_older_driver_keeps_its_journal_from_being_migrated() -> Outcome {
    for (fixture, run, layout) in [
        (FIRST, "running001", 1),
        (SECOND, "a8g40bx0tw", 2),
        (THIRD, "5f6p4169cp", 3),
        (FOURTH, "p1tg19qfwc", 4),
        (FIFTH, "p1tg19qfwc", 5),
        (EIGHTH, "r687rt3r5j", 8),
    ] {
        let home = home_with(fixture)?;
        std::fs::create_dir(home.path().join("locks"))?;
        let path = home.path().join(format!("locks/{run}.lock"));
        std::fs::write(&path, serde_json::to_string(&holder())?)?;
        let lock = File::open(&path)?;
        lock.lock()?;
        for opened in [open(home.path()).map(drop), Store::open_to_read(home.path()).map(drop)] {
            let error = opened.err().ok_or("it was opened")?;
            assert!(matches!(error, StoreError::OlderDriver { .. }), "{error:?}");
            let text = error.to_string();
            let pid = std::process::id();
            let driven = format!(
                "was written by an older Aye, and run `{run}` is driven by `ada` on `engine` (process {pid}, "
            );
            assert!(text.contains(&driven), "{text}");
            assert!(error.hint().contains("wait until that run has ended"), "{}", error.hint());
        }
        let db = Connection::open(home.path().join("journal.db"))?;
        let found: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        assert_eq!(found, layout, "it was not touched");
        drop(lock);
        open(home.path())?;
    }
    Ok(())
}

#[test]
fn a_new_journal_and_a_migrated_one_have_the_same_layout() -> Outcome {
    let new = tempfile::tempdir()?;
    open(new.path())?;
    for (_, fixture) in ALL {
        let old = home_with(fixture)?;
        open(old.path())?;
        assert_eq!(definitions(old.path())?, definitions(new.path())?);
    }
    Ok(())
}

#[test]
fn there_is_a_fixture_of_the_current_layout_and_each_has_the_layout_it_says() -> Outcome {
    let layout = |home: &Path| -> rusqlite::Result<i64> {
        Connection::open(home.join("journal.db"))?
            .query_row("PRAGMA user_version", [], |row| row.get(0))
    };
    for (number, fixture) in ALL {
        assert_eq!(layout(home_with(fixture)?.path())?, number);
    }
    let new = tempfile::tempdir()?;
    open(new.path())?;
    assert_eq!(ALL.last().map(|(number, _)| *number), Some(layout(new.path())?));
    Ok(())
}

#[test]
fn opening_again_changes_nothing() -> Outcome {
    let home = tempfile::tempdir()?;
    drop(open(home.path())?);
    let before = std::fs::read(home.path().join("journal.db"))?;
    let log = || home.path().join("journal.db-wal").metadata().map_or(0, |meta| meta.len());
    for _ in 0..3 {
        drop(open(home.path())?);
        drop(Store::open_to_read(home.path())?);
    }
    assert_eq!(std::fs::read(home.path().join("journal.db"))?, before);
    assert_eq!(log(), 0);
    Ok(())
}
