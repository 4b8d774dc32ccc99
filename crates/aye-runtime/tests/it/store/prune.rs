//! Clearing finished runs away.

use aye_core::event::EventKind;
use aye_core::input::Request;
use aye_process::log::{FileDigest, LogDigest};
use aye_runtime::store::{Pruned, RunFilter, StoreError, Verdict, seal};
use rusqlite::Connection;

use super::Outcome;
use super::sample::{Tale, holder, id, moment, open, populate, source};

#[test]
fn old_finished_runs_go_with_all_they_had() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    populate(&mut store)?;
    let logs = store.create_logs(&id("failed0001"))?;
    std::fs::create_dir(logs.join("build"))?;
    std::fs::write(logs.join("build/stdout"), [b'x'; 1000])?;
    let request = Request::Cancel { by: "ada".into(), reason: None, now: false };
    let sent = store.send(&id("failed0001"), &request, "cli", moment(9))?;
    assert!(matches!(store.verdict(sent)?, Some(Verdict::Ended)));

    // Runs `failed0001` and `cancelled1` ended at 4 s, `completed1` at 11 s.
    assert!(!store.has_finished_older_than(moment(4_000))?);
    assert_eq!(store.prune(moment(4_000), false)?, Pruned::default());
    assert!(store.has_finished_older_than(moment(4_001))?);
    let planned = store.prune(moment(4_001), true)?;
    assert_eq!((planned.runs, planned.events), (2, 8));
    assert!(planned.bytes > 2_000);
    assert!(logs.exists());
    assert_eq!(store.runs(&RunFilter::default())?.len(), 5);

    assert_eq!(store.prune(moment(4_001), false)?, planned);
    assert!(!logs.exists());
    assert_eq!(store.run(&id("failed0001"))?, None);
    assert_eq!(store.events(&id("failed0001"), 0)?, []);
    assert_eq!(store.questions(&id("failed0001"))?, []);
    let gone = store.verdict(sent);
    assert!(matches!(gone, Err(StoreError::NoRequest { .. })));
    assert_eq!(store.runs(&RunFilter::default())?.len(), 3);
    assert!(store.source(&source().digest)?.is_some());
    store.audit(None, |finding| panic!("{finding}"))?;
    Ok(())
}

#[test]
fn runs_that_have_not_ended_or_are_held_stay() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    populate(&mut store)?;
    let lock = store.acquire(&id("completed1"), &holder())?;
    let far = moment(1_000_000_000);
    assert_eq!(store.prune(far, false)?.runs, 2);
    assert!(store.run(&id("completed1"))?.is_some());
    drop(lock);
    assert_eq!(store.prune(far, false)?.runs, 1);
    let left: Vec<_> = store.runs(&RunFilter::default())?;
    assert!(left.iter().all(|row| !row.status.is_ended()));
    assert_eq!(left.len(), 2);
    assert_eq!(home.path().join("locks").read_dir()?.count(), 0);
    Ok(())
}

#[test]
fn what_is_inside_a_run_stays_and_goes_with_it() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut outer = Tale::new("outer00001");
    store.start(&[outer.started(), outer.step("each")], &source())?;
    let mut item = Tale::new("outer00001_1_0");
    let begun = item.started_in("outer00001");
    store.start(&[begun, item.completed()], &source())?;
    let mut deeper = Tale::new("outer00001_1_0_1");
    let begun = deeper.started_in("outer00001_1_0");
    store.start(&[begun, deeper.completed()], &source())?;
    let logs = store.create_logs(&id("outer00001_1_0_1"))?;

    // The item is done, the run is not: forgetting the item would repeat it.
    let far = moment(1_000_000_000);
    assert!(!store.has_finished_older_than(far)?);
    assert_eq!(store.prune(far, true)?, Pruned::default());
    assert_eq!(store.prune(far, false)?, Pruned::default());
    assert_eq!(store.prune_some(far, 10, |_, _| true)?, Pruned::default());
    assert_eq!(store.events(&id("outer00001_1_0"), 0)?.len(), 2);

    // Nor does it go where its row was changed: its id tells that it is inside.
    let journal = store.home().journal();
    let parent = |parent: &str| {
        Connection::open(&journal)?.execute_batch(&format!(
            "UPDATE runs SET parent = {parent} WHERE id = 'outer00001_1_0'"
        ))
    };
    for changed in ["NULL", "'gone000001'"] {
        parent(changed)?;
        assert!(!store.has_finished_older_than(far)?);
        assert_eq!(store.prune(far, true)?, Pruned::default());
    }
    parent("'outer00001'")?;

    store.append(&[outer.completed()], &[])?;
    assert!(store.has_finished_older_than(far)?);
    let pruned = store.prune(far, false)?;
    assert_eq!((pruned.runs, pruned.events), (1, 7));
    assert!(!logs.exists());
    assert_eq!(store.run(&id("outer00001_1_0_1"))?, None);
    assert_eq!(store.events(&id("outer00001_1_0_1"), 0)?, []);
    Ok(())
}

#[test]
fn a_run_whose_logs_cannot_be_removed_holds_up_no_other() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    for run in ["aaaaaaaa01", "bbbbbbbb02"] {
        let mut tale = Tale::new(run);
        store.start(&[tale.started(), tale.completed()], &source())?;
    }
    // What no directory can be made of it, nobody can look into, root or not.
    std::fs::create_dir_all(home.path().join("logs"))?;
    std::fs::write(home.path().join("logs/aaaaaaaa01"), "in the way")?;
    let far = moment(1_000_000_000);
    assert!(store.prune(far, false).is_err());
    assert!(store.run(&id("aaaaaaaa01"))?.is_some());
    assert_eq!(store.run(&id("bbbbbbbb02"))?, None);
    Ok(())
}

#[test]
fn a_few_can_be_pruned_by_the_way() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    populate(&mut store)?;
    let far = moment(1_000_000_000);
    let mut asked = Vec::new();
    let none = store.prune_some(far, 2, |workspace, ended| {
        asked.push((workspace.to_path_buf(), ended));
        false
    });
    assert_eq!(none?, Pruned::default());
    let ends = [4_000, 4_000, 11_000].map(|ms| ("/work".into(), moment(ms)));
    assert_eq!(asked, ends);
    assert_eq!(store.prune_some(far, 2, |_, _| true)?.runs, 2);
    assert!(store.run(&id("completed1"))?.is_some(), "it ended last");
    assert_eq!(store.prune_some(far, 2, |_, _| true)?.runs, 1);
    assert_eq!(store.prune_some(far, 2, |_, _| true)?, Pruned::default());
    Ok(())
}

#[test]
fn texts_nobody_needs_go_too() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started(), tale.completed()], &source())?;
    store.prune(moment(1_000_000), false)?;
    assert_eq!(store.source(&source().digest)?, None);
    Ok(())
}

#[test]
fn numbers_do_not_return_after_a_prune() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut old = Tale::new("old-run-001");
    store.start(&[old.started(), old.completed()], &source())?;
    let place = store.position()?;
    store.prune(moment(1_000_000), false)?;
    let mut young = Tale::new("new-run-001");
    store.start(&[young.started()], &source())?;
    // A watcher that had seen the old run to its end sees the new one.
    let seen = store.events_after(place, 10)?;
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].0, place + 1);
    Ok(())
}

#[test]
fn a_mostly_empty_file_shrinks() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    for number in 0..250 {
        let mut tale = Tale::new(&format!("run-{number:05}"));
        let mut events = vec![tale.started()];
        events.extend((0..20).map(|_| tale.step_done("something long enough")));
        events.push(tale.completed());
        store.start(&events, &source())?;
    }
    let size = || store_size(home.path());
    let full = size()?;
    let pruned = store.prune(moment(1_000_000), false)?;
    assert_eq!((pruned.runs, pruned.events), (250, 250 * 22));
    assert!(full > 1_000_000, "{full}");
    assert!(size()? < full / 4, "{full} -> {}", size()?);
    Ok(())
}

fn store_size(home: &std::path::Path) -> std::io::Result<u64> {
    let main = home.join("journal.db").metadata()?;
    let log = home.join("journal.db-wal").metadata()?;
    Ok(main.len() + log.len())
}

#[test]
fn a_prune_that_was_cut_off_is_not_an_attack_and_is_finished() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    let mut done = tale.step_done("build");
    if let EventKind::StepCompleted(done) = &mut done.kind {
        let stdout = Some(FileDigest::of(b"said"));
        done.log = Some(Box::new(seal(&LogDigest { stdout, ..LogDigest::default() })));
    }
    tale.seq = 0;
    let started = tale.started();
    tale.seq = 2;
    done.seq = 2;
    store.start(&[started, done, tale.completed()], &source())?;
    let db = Connection::open(store.home().journal())?;
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    let before = home.path().join("before.db");
    std::fs::copy(store.home().journal(), &before)?;
    store.prune(moment(1_000_000), false)?;
    let entries = store.pruned_runs()?;
    assert_eq!(entries.len(), 1);
    // Killed after the logs were removed, and before the rows were.
    db.execute_batch(&format!(
        "ATTACH '{}' AS before;
         INSERT INTO events SELECT * FROM before.events;
         INSERT INTO runs SELECT * FROM before.runs;
         INSERT INTO sources SELECT * FROM before.sources;",
        before.display()
    ))?;
    store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!(store.prune(moment(1_000_000), false)?.runs, 1);
    assert_eq!(store.pruned_runs()?, entries, "one entry is enough");
    store.audit(None, |finding| panic!("{finding}"))?;
    Ok(())
}
