//! Requests and their verdicts.

use aye_core::input::Request;
use aye_runtime::store::{RequestId, StoreError, Verdict};

use super::Outcome;
use super::sample::{Tale, answer, id, moment, open, source};

fn cancel() -> Request {
    Request::Cancel { by: "bob".into(), reason: None, now: false }
}

#[test]
fn a_request_waits_for_its_verdict() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut driver = open(home.path())?;
    let mut other = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    driver.start(&[tale.started(), tale.asks(1)], &source())?;

    // One that does not say where it comes from is marked when it is read.
    let mut given = answer("proceed", "bob");
    given.origin = Some(Box::default());
    let request = Request::answer(tale.question_id(1), given);
    let first = other.send(&tale.run, &request, "web", moment(10))?;
    let second = other.send(&tale.run, &cancel(), "cli", moment(20))?;
    assert_eq!(other.verdict(first)?, None);

    let pending = driver.pending(&tale.run)?;
    assert_eq!(pending.len(), 2);
    assert_eq!((pending[0].id, pending[1].id), (first, second));
    assert_eq!(pending[0].request, request);
    assert_eq!((pending[0].sender.as_str(), pending[0].at), ("web", moment(10)));
    assert_eq!(driver.pending(&id("another123"))?, []);

    driver.append(
        &[tale.answered(1, "proceed", "bob")],
        &[(first, Verdict::Accepted), (second, Verdict::Refused("not now".into()))],
    )?;
    assert_eq!(other.verdict(first)?, Some(Verdict::Accepted));
    let refused = Some(Verdict::Refused("not now".into()));
    assert_eq!(other.verdict(second)?, refused);
    assert_eq!(driver.pending(&tale.run)?, []);

    // The first verdict stands.
    driver.append(&[], &[(second, Verdict::Accepted)])?;
    assert_eq!(other.verdict(second)?, refused);
    Ok(())
}

#[test]
fn a_failed_append_gives_no_verdict() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started()], &source())?;
    let request = store.send(&tale.run, &cancel(), "cli", moment(1))?;
    tale.seq += 5;
    let refused = store.append(&[tale.cancelled()], &[(request, Verdict::Accepted)]);
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
    assert_eq!(store.verdict(request)?, None);
    Ok(())
}

#[test]
fn nobody_waits_for_a_run_that_has_ended() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started()], &source())?;
    let early = store.send(&tale.run, &cancel(), "cli", moment(1))?;
    store.append(&[tale.completed()], &[])?;
    let late = store.send(&tale.run, &cancel(), "cli", moment(2))?;
    for request in [early, late] {
        let verdict = store.verdict(request)?;
        assert_eq!(verdict, Some(Verdict::Ended));
    }
    Ok(())
}

#[test]
fn unknown_runs_and_requests_are_named() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let sent = store.send(&id("unknown123"), &cancel(), "cli", moment(1));
    assert!(matches!(sent, Err(StoreError::NoRun { .. })));
    let verdict = store.verdict(RequestId(9));
    assert!(matches!(verdict, Err(StoreError::NoRequest { id: 9 })));
    Ok(())
}

#[test]
fn a_request_of_a_newer_version_is_refused_not_stuck() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started()], &source())?;
    let known = store.send(&tale.run, &cancel(), "cli", moment(1))?;
    let strange = store.send(&tale.run, &cancel(), "cli", moment(1))?;
    let db = rusqlite::Connection::open(store.home().journal())?;
    db.execute(
        "UPDATE requests SET body = '{\"request\":\"teleport\"}' WHERE id = ?1",
        [strange.0],
    )?;
    let pending = store.pending(&tale.run)?;
    assert_eq!(pending.iter().map(|p| p.id).collect::<Vec<_>>(), [known]);
    assert!(matches!(store.verdict(strange)?, Some(Verdict::Refused(_))));
    Ok(())
}
