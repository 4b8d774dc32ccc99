//! Wake-ups.

use std::time::Duration;

use aye_core::id::RunId;
use aye_core::input::Request;
use aye_runtime::store::{Home, Notifier};

use super::Outcome;
use super::sample::{Tale, moment, open, source};

const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(60);

#[test]
fn an_append_rings_in_every_listener() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let notifier = Notifier::new(Home::new(home.path()).notifier());
    let mut listeners = [notifier.listen()?, notifier.listen()?, notifier.listen_by_polling()?];
    for listener in &mut listeners {
        assert!(!listener.wait(SHORT)?, "nothing happened yet");
    }
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started()], &source())?;
    for listener in &mut listeners {
        assert!(listener.wait(LONG)?);
        assert!(!listener.wait(SHORT)?, "one ring is one ring");
    }
    store.append(&[tale.step("a")], &[])?;
    store.append(&[tale.step_done("a")], &[])?;
    for listener in &mut listeners {
        assert!(listener.wait(LONG)?);
    }
    Ok(())
}

#[test]
fn a_bell_that_was_taken_away_is_put_back() -> Outcome {
    let temp = tempfile::tempdir()?;
    let home = Home::new(temp.path());
    let mut listener = Notifier::new(home.notifier()).listen()?;
    std::fs::remove_file(home.notifier())?;
    Notifier::new(home.notifier()).notify();
    listener.drain()?;
    Notifier::new(home.notifier()).notify();
    assert!(listener.wait(LONG)?);
    Ok(())
}

#[test]
fn ringing_nowhere_is_no_failure() {
    Notifier::new("/proc/none/bell".into()).notify();
}

#[test]
fn a_driver_hears_letters_and_not_its_own_steps() -> Outcome {
    let home = tempfile::tempdir()?;
    let (mut driver, mut other) = (open(home.path())?, open(home.path())?);
    let mut tale = Tale::new("abcdefgh12");
    driver.start(&[tale.started()], &source())?;
    let mut listener = driver.listen_for_requests(&tale.run)?;
    let mut of_another = driver.listen_for_requests(&RunId::new("zbcdefgh12")?)?;
    driver.append(&[tale.step("a")], &[])?;
    assert!(!listener.wait(SHORT)?, "an append is not a request");
    let cancel = Request::Cancel { by: "bob".into(), reason: None, now: false };
    other.send(&tale.run, &cancel, "cli", moment(10))?;
    assert!(listener.wait(LONG)?);
    assert!(!of_another.wait(SHORT)?, "a request wakes the driver of its run");
    Ok(())
}
