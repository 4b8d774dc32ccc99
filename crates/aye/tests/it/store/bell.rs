//! The doorbell.

use std::time::Duration;

use aye::store::{Bell, Home};

use super::Outcome;
use super::sample::{Tale, open, source};

const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(60);

#[test]
fn an_append_rings_in_every_listener() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let bell = Bell::new(&Home::new(home.path()));
    let mut ears = [bell.listen()?, bell.listen()?, bell.listen_by_polling()?];
    for ear in &mut ears {
        assert!(!ear.wait(SHORT)?, "nothing happened yet");
    }
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started()], &source())?;
    for ear in &mut ears {
        assert!(ear.wait(LONG)?);
        assert!(!ear.wait(SHORT)?, "one ring is one ring");
    }
    store.append(&[tale.step("a")], &[])?;
    store.append(&[tale.step_done("a")], &[])?;
    for ear in &mut ears {
        assert!(ear.wait(LONG)?);
    }
    Ok(())
}

#[test]
fn a_bell_that_was_taken_away_is_put_back() -> Outcome {
    let temp = tempfile::tempdir()?;
    let home = Home::new(temp.path());
    let mut ear = Bell::new(&home).listen()?;
    std::fs::remove_file(home.bell())?;
    Bell::new(&home).ring();
    ear.drain()?;
    Bell::new(&home).ring();
    assert!(ear.wait(LONG)?);
    Ok(())
}

#[test]
fn ringing_nowhere_is_no_failure() {
    Bell::new(&Home::new("/proc/none".as_ref())).ring();
}
