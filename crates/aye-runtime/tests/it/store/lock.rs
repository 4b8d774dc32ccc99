//! The lock of a run.

use aye_runtime::store::{Home, LockError, RunLock};

use super::Outcome;
use super::sample::{id, lock_info};

#[test]
fn one_drives_and_the_other_learns_who() -> Outcome {
    let temp = tempfile::tempdir()?;
    let home = Home::new(temp.path());
    let run = id("abcdefgh12");
    assert_eq!(RunLock::holder(&home, &run)?, None);
    let lock = RunLock::acquire(&home, &run, &lock_info())?;
    let Err(LockError::Held(held)) = RunLock::acquire(&home, &run, &lock_info()) else {
        return Err("both have it".into());
    };
    assert_eq!(held.info, Some(lock_info()));
    assert!(
        held.to_string().starts_with("run `abcdefgh12` is driven by `ada` on `engine` (process ")
    );
    assert_eq!(RunLock::holder(&home, &run)?, Some(held));
    // Another run is another lock.
    let other = RunLock::acquire(&home, &id("another123"), &lock_info())?;
    drop(lock);
    assert_eq!(RunLock::holder(&home, &run)?, None);
    RunLock::acquire(&home, &run, &lock_info())?;
    drop(other);
    assert_eq!(temp.path().join("locks").read_dir()?.count(), 0);
    Ok(())
}

#[test]
fn a_lock_left_behind_by_the_dead_can_be_taken() -> Outcome {
    let temp = tempfile::tempdir()?;
    let home = Home::new(temp.path());
    let run = id("abcdefgh12");
    std::fs::create_dir(temp.path().join("locks"))?;
    std::fs::write(home.lock(&run), "half a li")?;
    assert_eq!(RunLock::holder(&home, &run)?, None);
    RunLock::acquire(&home, &run, &lock_info())?;
    Ok(())
}
