//! Several at once.

use std::process::Command;
use std::thread;

use aye_runtime::store::{Home, LeaseError, StoreError};

use super::Outcome;
use super::child::Role;
use super::sample::{Tale, holder, id, open, source};
use super::writer::Store;

#[test]
fn many_open_a_new_home_at_once() -> Outcome {
    for _ in 0..5 {
        let temp = tempfile::tempdir()?;
        let home = temp.path().join("home");
        thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&home))).collect();
            all.into_iter()
                .map(|one| one.join().expect("no panic").map(drop))
                .collect::<Result<Vec<_>, _>>()
        })?;
        let mut children = (0..3)
            .map(|_| Role::new("open", &temp.path().join("other")).start())
            .collect::<Result<Vec<_>, _>>()?;
        for child in &mut children {
            assert_eq!(child.hear()?.as_deref(), Some("opened"));
        }
    }
    Ok(())
}

#[test]
fn threads_that_write_different_runs_lose_nothing() -> Outcome {
    const EACH: u64 = 150;
    let home = tempfile::tempdir()?;
    thread::scope(|scope| {
        let all: Vec<_> = (0..4)
            .map(|number| {
                let home = home.path();
                scope.spawn(move || -> Result<(), StoreError> {
                    let mut store = open(home)?;
                    let mut tale = Tale::new(&format!("thread-{number}"));
                    store.start(&[tale.started()], &source())?;
                    while tale.seq < EACH {
                        store.append(&[tale.step("x")], &[])?;
                    }
                    Ok(())
                })
            })
            .collect();
        all.into_iter().try_for_each(|one| one.join().expect("no panic"))
    })?;
    let store = open(home.path())?;
    let audited = store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!((audited.runs, audited.events), (4, 4 * EACH));
    Ok(())
}

#[test]
fn processes_that_write_different_runs_lose_nothing() -> Outcome {
    const EACH: u64 = 200;
    let home = tempfile::tempdir()?;
    let names = ["process-1", "process-2", "process-3"];
    let mut children = names
        .iter()
        .map(|name| {
            let mut role = Role::new("write", home.path());
            role.run = name;
            role.count = EACH;
            role.start()
        })
        .collect::<Result<Vec<_>, _>>()?;
    for child in &mut children {
        for seq in 1..=EACH {
            assert_eq!(child.hear()?, Some(seq.to_string()));
        }
    }
    let store = open(home.path())?;
    let audited = store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!((audited.runs, audited.events), (3, 3 * EACH));
    Ok(())
}

#[test]
fn of_two_writers_of_one_run_one_wins_each_event() -> Outcome {
    const LAST: u64 = 100;
    let home = tempfile::tempdir()?;
    let mut tale = Tale::new("abcdefgh12");
    open(home.path())?.start(&[tale.started()], &source())?;
    // Both claim the lease and write what they think comes next.
    let writer = |mut store: Store| -> Result<u64, StoreError> {
        let mut tale = Tale::new("abcdefgh12");
        let mut won = 0;
        loop {
            tale.seq = store.run(&tale.run)?.map_or(0, |row| row.last_seq);
            if tale.seq >= LAST {
                return Ok(won);
            }
            match store.append(&[tale.step("x")], &[]) {
                Ok(()) => won += 1,
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    };
    let (one, two) = (open(home.path())?, open(home.path())?);
    let won = thread::scope(|scope| {
        let (one, two) = (scope.spawn(|| writer(one)), scope.spawn(|| writer(two)));
        Ok::<_, StoreError>(one.join().expect("no panic")? + two.join().expect("no panic")?)
    })?;
    let store = open(home.path())?;
    let audited = store.audit(None, |finding| panic!("{finding}"))?;
    assert_eq!(won, audited.events - 1);
    Ok(())
}

#[test]
fn a_lock_goes_with_the_process_that_held_it() -> Outcome {
    let temp = tempfile::tempdir()?;
    let mut store = open(temp.path())?;
    let run = id("abcdefgh12");
    let mut child = Role::new("hold", temp.path()).start()?;
    assert_eq!(child.hear()?.as_deref(), Some("held"));
    let Err(LeaseError::Held(held)) = store.acquire(&run, &holder()) else {
        return Err("both have it".into());
    };
    assert_ne!(held.holder.ok_or("unknown")?.pid, std::process::id());
    child.kill()?;
    assert_eq!(child.hear()?, None);
    // Its file is still there and says nothing any more.
    assert!(Home::new(temp.path()).lock(&run).exists());
    store.acquire(&run, &holder())?;
    Ok(())
}

#[test]
fn programs_started_under_a_lock_do_not_keep_it() -> Outcome {
    let temp = tempfile::tempdir()?;
    let mut store = open(temp.path())?;
    let run = id("abcdefgh12");
    let mut child = Role::new("hold and start", temp.path()).start()?;
    let grandchild = child.hear()?.ok_or("it died")?;
    child.kill()?;
    assert_eq!(child.hear()?, None);
    let taken = store.acquire(&run, &holder());
    // Still there, so it was not its end that freed the lock.
    let ended = Command::new("kill").arg(&grandchild).status()?;
    taken?;
    assert!(ended.success());
    Ok(())
}

#[test]
fn a_lock_is_never_held_twice_while_it_comes_and_goes() -> Outcome {
    let temp = tempfile::tempdir()?;
    drop(open(temp.path())?);
    let run = id("abcdefgh12");
    let inside = std::sync::atomic::AtomicU32::new(0);
    let taken = thread::scope(|scope| {
        let all: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut store = open(temp.path()).expect("it opens");
                    let mut taken = 0;
                    for _ in 0..150 {
                        let _ = store.holder(&run);
                        if let Ok(lock) = store.acquire(&run, &holder()) {
                            let others = inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                            assert_eq!(others, 0);
                            thread::yield_now();
                            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                            drop(lock);
                            taken += 1;
                        }
                    }
                    taken
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().expect("never twice")).sum::<u32>()
    });
    assert!(taken >= 20, "{taken}");
    Ok(())
}
