//! The lease of a run.

use aye_runtime::store::{Home, LeaseError};

use super::Outcome;
use super::sample::{holder, id, open};

#[test]
fn one_drives_and_the_other_learns_who() -> Outcome {
    let temp = tempfile::tempdir()?;
    let mut store = open(temp.path())?;
    let run = id("abcdefgh12");
    assert_eq!(store.holder(&run)?, None);
    let lock = store.acquire(&run, &holder())?;
    let Err(LeaseError::Held(held)) = store.acquire(&run, &holder()) else {
        return Err("both have it".into());
    };
    assert_eq!(held.holder, Some(holder()));
    assert!(
        held.to_string().starts_with("run `abcdefgh12` is driven by `ada` on `engine` (process ")
    );
    assert_eq!(store.holder(&run)?, Some(held));
    // Another run is another lock.
    let other = store.acquire(&id("another123"), &holder())?;
    drop(lock);
    assert_eq!(store.holder(&run)?, None);
    store.acquire(&run, &holder())?;
    drop(other);
    assert_eq!(temp.path().join("locks").read_dir()?.count(), 0);
    Ok(())
}

#[test]
fn a_lock_left_behind_by_the_dead_can_be_taken() -> Outcome {
    let temp = tempfile::tempdir()?;
    let mut store = open(temp.path())?;
    let run = id("abcdefgh12");
    std::fs::create_dir(temp.path().join("locks"))?;
    std::fs::write(Home::new(temp.path()).lock(&run), "half a li")?;
    assert_eq!(store.holder(&run)?, None);
    store.acquire(&run, &holder())?;
    Ok(())
}
