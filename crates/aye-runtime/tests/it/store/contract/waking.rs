//! Wake-ups.

use std::time::Duration;

use aye_core::input::Request;

use super::super::sample::moment;
use super::{Kept, Place, begun, ensure};

/// As long as it takes: only a broken store waits for it.
const LONG: Duration = Duration::from_secs(2);
const SHORT: Duration = Duration::from_millis(40);

pub(super) fn append_wakes(place: &dyn Place) -> Kept {
    let (mut driver, other) = (place.open(), place.open());
    let (mut tale, lease) = begun(&mut *driver, "abcdefgh12")?;
    let mut listener = other.listen()?;
    ensure!(!listener.wait(SHORT)?, "nothing happened yet");
    driver.append(&lease, &[tale.step("a")], &[])?;
    ensure!(listener.wait(LONG)?, "the append was not heard");
    ensure!(!listener.wait(SHORT)?, "one append is heard once");
    driver.notify();
    ensure!(listener.wait(LONG)?, "ringing was not heard");
    Ok(())
}

pub(super) fn request_wakes(place: &dyn Place) -> Kept {
    let (mut driver, mut other) = (place.open(), place.open());
    let (tale, _lease) = begun(&mut *driver, "abcdefgh12")?;
    let (mut requests, mut all) = (driver.listen_for_requests(&tale.run)?, other.listen()?);
    let cancel = Request::Cancel { by: "bob".into(), reason: None, now: false };
    other.send(&tale.run, &cancel, "cli", moment(1))?;
    ensure!(requests.wait(LONG)?, "the driver does not hear the request");
    ensure!(all.wait(LONG)?, "others do not hear the request");
    Ok(())
}

pub(super) fn appends_do_not_wake_drivers(place: &dyn Place) -> Kept {
    let mut driver = place.open();
    let (mut tale, lease) = begun(&mut *driver, "abcdefgh12")?;
    let mut requests = driver.listen_for_requests(&tale.run)?;
    driver.append(&lease, &[tale.step("a")], &[])?;
    ensure!(!requests.wait(SHORT)?, "an append is not a request");
    Ok(())
}
