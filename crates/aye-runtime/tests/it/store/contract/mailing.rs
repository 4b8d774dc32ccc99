//! Requests and verdicts.

use aye_core::input::Request;
use aye_runtime::store::{RequestId, StoreError, Verdict};

use super::super::sample::{Tale, id, moment};
use super::{Kept, Place, begun, ensure};

fn cancel() -> Request {
    Request::Cancel { by: "bob".into(), reason: None, now: false }
}

pub(super) fn verdict(place: &dyn Place) -> Kept {
    let (mut driver, mut other) = (place.open(), place.open());
    let (mut tale, lease) = begun(&mut *driver, "abcdefgh12")?;
    let first = other.send(&tale.run, &cancel(), "web", moment(10))?;
    let second = other.send(&tale.run, &cancel(), "cli", moment(20))?;
    ensure!(other.verdict(first)?.is_none(), "a verdict before anybody read it");
    let pending = driver.pending(&tale.run)?;
    let ids: Vec<RequestId> = pending.iter().map(|pending| pending.id).collect();
    ensure!(ids == [first, second], "pending {ids:?}");
    ensure!(pending[0].request == cancel(), "{:?}", pending[0]);
    ensure!((pending[0].sender.as_str(), pending[0].at) == ("web", moment(10)), "{pending:?}");
    let refused = Verdict::Refused("not now".to_owned());
    let settled = [(first, Verdict::Accepted), (second, refused.clone())];
    driver.append(&lease, &[tale.step("a")], &settled)?;
    let verdicts = (other.verdict(first)?, other.verdict(second)?);
    ensure!(verdicts == (Some(Verdict::Accepted), Some(refused)), "{verdicts:?}");
    ensure!(driver.pending(&tale.run)?.is_empty(), "still pending");
    let unknown = other.verdict(RequestId(first.0 + 1_000));
    ensure!(matches!(unknown, Err(StoreError::NoRequest { .. })), "{unknown:?}");
    let nowhere = other.send(&id("unknown123"), &cancel(), "cli", moment(30));
    ensure!(matches!(nowhere, Err(StoreError::NoRun { .. })), "{nowhere:?}");
    Ok(())
}

pub(super) fn first_verdict_stands(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let request = store.send(&tale.run, &cancel(), "cli", moment(1))?;
    store.append(&lease, &[], &[(request, Verdict::Accepted)])?;
    store.append(&lease, &[], &[(request, Verdict::Refused("too late".to_owned()))])?;
    let verdict = store.verdict(request)?;
    ensure!(verdict == Some(Verdict::Accepted), "{verdict:?}");
    Ok(())
}

pub(super) fn verdict_with_events(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let request = store.send(&tale.run, &cancel(), "cli", moment(1))?;
    tale.seq += 5;
    let refused = store.append(&lease, &[tale.cancelled()], &[(request, Verdict::Accepted)]);
    ensure!(matches!(refused, Err(StoreError::Conflict { .. })), "not refused: {refused:?}");
    let verdict = store.verdict(request)?;
    ensure!(verdict.is_none(), "a verdict without its events: {verdict:?}");
    ensure!(store.pending(&tale.run)?.len() == 1, "it does not wait any more");
    Ok(())
}

pub(super) fn ended_refuses(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let early = store.send(&tale.run, &cancel(), "cli", moment(1))?;
    store.append(&lease, &[tale.completed()], &[])?;
    let late = store.send(&tale.run, &cancel(), "cli", moment(2))?;
    for request in [early, late] {
        let verdict = store.verdict(request)?;
        ensure!(verdict == Some(Verdict::Ended), "{verdict:?}");
    }
    Ok(())
}

pub(super) fn pending_within(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (outer, lease) = begun(&mut *store, "outer00001")?;
    let mut inside = Tale::new("outer00001_1_0");
    let event = inside.started_in("outer00001");
    store.append(&lease, &[event], &[])?;
    let (other, _kept) = begun(&mut *store, "outer00001x")?;
    for run in [&inside.run, &other.run, &outer.run] {
        store.send(run, &cancel(), "cli", moment(1))?;
    }
    let runs = |pending: Vec<aye_runtime::store::Pending>| -> Vec<String> {
        pending.iter().map(|pending| pending.run.to_string()).collect()
    };
    let within = runs(store.pending_within(&outer.run)?);
    ensure!(within == ["outer00001_1_0", "outer00001"], "within: {within:?}");
    let alone = runs(store.pending(&outer.run)?);
    ensure!(alone == ["outer00001"], "alone: {alone:?}");
    Ok(())
}
