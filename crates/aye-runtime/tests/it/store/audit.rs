//! Audit: what was tampered with is named.

use aye_runtime::store::{Audited, Finding, StoreError};
use rusqlite::Connection;

use super::Outcome;
use super::sample::{Tale, id, open, populate, source};
use super::writer::Store;

fn findings(store: &Store) -> Result<Vec<Finding>, StoreError> {
    let mut found = Vec::new();
    store.audit(None, |finding| found.push(finding))?;
    Ok(found)
}

/// What an audit finds after `sql` was done behind the store's back.
fn tampered(sql: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    populate(&mut store)?;
    assert_eq!(findings(&store)?, []);
    Connection::open(store.home().journal())?.execute_batch(sql)?;
    let all = findings(&store)?;
    // Looking at the one run finds the same, but for runs that are gone.
    let mut one = Vec::new();
    store.audit(Some(&id("completed1")), |finding| one.push(finding))?;
    let gone = |finding: &&Finding| matches!(finding, Finding::Removed { .. });
    assert_eq!(one, all.iter().filter(|finding| !gone(finding)).cloned().collect::<Vec<_>>());
    Ok(all.iter().map(ToString::to_string).collect())
}

#[test]
fn a_sound_journal_has_no_findings() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let fail = |finding| panic!("{finding}");
    assert_eq!(store.audit(None, fail)?, Audited::default());
    populate(&mut store)?;
    let all = Audited { runs: 5, events: store.position()?, ..Audited::default() };
    assert_eq!(store.audit(None, fail)?, all);
    let one = Audited { runs: 1, events: 4, ..Audited::default() };
    assert_eq!(store.audit(Some(&id("failed0001")), fail)?, one);
    let none = store.audit(Some(&id("unknown123")), fail)?;
    assert_eq!(none, Audited::default());
    Ok(())
}

#[test]
fn a_changed_event_is_named() -> Outcome {
    for (change, seq, kind) in [
        ("body = replace(body, 'gate1', 'gate7')", 4, "confirmation_required"),
        ("body = body || ' '", 3, "step_completed"),
        ("body = 'not json'", 3, "step_completed"),
        ("at = at + 1", 1, "skill_started"),
        ("type = 'step_failed'", 3, "step_failed"),
        ("hash = x'00'", 11, "skill_completed"),
        ("hash = zeroblob(32)", 11, "skill_completed"),
        ("body = replace(body, 'done', 'fine')", 11, "skill_completed"),
    ] {
        let sql = format!("UPDATE events SET {change} WHERE run = 'completed1' AND seq = {seq}");
        let named = format!("event {seq} (`{kind}`) of run `completed1` was changed");
        assert_eq!(tampered(&sql)?, [named], "{change}");
    }
    Ok(())
}

#[test]
fn swapped_events_are_named() -> Outcome {
    let found = tampered(
        "CREATE TEMP TABLE two AS SELECT seq, body FROM events
             WHERE run = 'completed1' AND seq IN (3, 5);
         UPDATE events SET body = (SELECT body FROM two WHERE two.seq = 8 - events.seq)
             WHERE run = 'completed1' AND seq IN (3, 5);",
    )?;
    assert_eq!(
        found,
        [
            "event 3 (`step_completed`) of run `completed1` was changed",
            "event 5 (`confirmation_answered`) of run `completed1` was changed",
        ]
    );
    Ok(())
}

#[test]
fn an_event_moved_to_another_run_is_named() -> Outcome {
    let found = tampered(
        "DELETE FROM events WHERE run = 'completed1' AND seq = 11;
         UPDATE events SET run = 'completed1', seq = 11
             WHERE run = 'failed0001' AND seq = 4;
         UPDATE runs SET last_seq = 3, head = (SELECT hash FROM events
             WHERE run = 'failed0001' AND seq = 3) WHERE id = 'failed0001';
         DELETE FROM runs WHERE id = 'failed0001';
         DELETE FROM events WHERE run = 'failed0001';
         DELETE FROM questions WHERE run = 'failed0001';",
    )?;
    assert_eq!(
        found,
        [
            "event 11 (`skill_failed`) of run `completed1` was changed",
            "4 events are missing, and no entry says that their runs were pruned",
        ]
    );
    Ok(())
}

#[test]
fn an_event_whose_hash_was_mended_too_is_still_noticed() -> Outcome {
    // The hash before the last event is no longer the one it was made with.
    let found = tampered(
        "UPDATE events SET body = replace(body, 'ada', 'eve'), hash = zeroblob(32)
         WHERE run = 'completed1' AND seq = 7",
    )?;
    assert_eq!(
        found,
        [
            "event 7 (`confirmation_answered`) of run `completed1` was changed",
            "event 8 (`confirmation_required`) of run `completed1` was changed",
        ]
    );
    Ok(())
}

#[test]
fn missing_events_are_named() -> Outcome {
    assert_eq!(
        tampered("DELETE FROM events WHERE run = 'completed1' AND seq IN (4, 5)")?,
        ["events 4 to 5 of run `completed1` are missing"]
    );
    assert_eq!(
        tampered("DELETE FROM events WHERE run = 'completed1' AND seq = 1")?,
        ["events 1 to 1 of run `completed1` are missing"]
    );
    assert_eq!(
        tampered("DELETE FROM events WHERE run = 'completed1' AND seq > 8")?,
        ["run `completed1` ends with event 8, but 11 were recorded"]
    );
    let all_gone = tampered("DELETE FROM events WHERE run = 'completed1'")?;
    assert_eq!(all_gone[0], "run `completed1` ends with event 0, but 11 were recorded");
    Ok(())
}

#[test]
fn derived_rows_that_disagree_are_named_and_can_be_mended() -> Outcome {
    for (sql, named) in [
        (
            "UPDATE runs SET status = 'failed', step = 'x' WHERE id = 'completed1'",
            "the row of run `completed1` does not agree with its events: status, step",
        ),
        (
            "UPDATE runs SET status = 'asleep' WHERE id = 'completed1'",
            "the row of run `completed1` does not agree with its events: unknown status `asleep`",
        ),
        (
            "UPDATE questions SET state = 'open' WHERE id = 'completed1-2'",
            "the row of question `completed1-2` does not agree with the events of run `completed1`",
        ),
        (
            "DELETE FROM questions WHERE id = 'completed1-2'",
            "the row of question `completed1-2` does not agree with the events of run `completed1`",
        ),
    ] {
        assert_eq!(tampered(sql)?, [named]);
        let home = tempfile::tempdir()?;
        let mut store = open(home.path())?;
        populate(&mut store)?;
        Connection::open(store.home().journal())?.execute_batch(sql)?;
        let of_a_row =
            |one: &Finding| matches!(one, Finding::Run { .. } | Finding::Question { .. });
        assert!(findings(&store)?.iter().all(of_a_row));
        store.rebuild()?;
        assert_eq!(findings(&store)?, []);
    }
    Ok(())
}

#[test]
fn a_changed_text_of_a_skill_is_named_and_not_given_out() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    populate(&mut store)?;
    Connection::open(store.home().journal())?
        .execute_batch("UPDATE sources SET text = text || '# and more'")?;
    let found = findings(&store)?;
    assert!(matches!(found[..], [Finding::Source { .. }]), "{found:?}");
    let row = store.run(&id("completed1"))?.ok_or("no row")?;
    let refused = store.source(&row.source);
    assert!(matches!(refused, Err(StoreError::Source { .. })));
    Ok(())
}

#[test]
fn a_text_of_a_skill_that_is_gone_is_named() -> Outcome {
    let named =
        format!("the kept text of `/skills/release.yaml` (`{}`) is missing", source().digest);
    assert_eq!(tampered("DELETE FROM sources")?, [named]);
    Ok(())
}

#[test]
fn a_chain_that_was_made_anew_shows_against_heads() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    populate(&mut store)?;
    let heads = store.heads()?;
    heads.compare(&*store, &mut |finding| panic!("{finding}"))?;
    // The same runs, one of them with another answer and hashes that fit.
    let forged = tempfile::tempdir()?;
    let mut store = open(forged.path())?;
    let mut tale = Tale::new("completed1");
    store.start(&[tale.started(), tale.step("build"), tale.step_done("build")], &source())?;
    store.append(&[tale.asks(1), tale.answered(1, "proceed", "eve")], &[])?;
    store.append(&[tale.asks(2), tale.answered(2, "proceed", "eve")], &[])?;
    store.append(&[tale.asks(3), tale.answered(3, "proceed", "eve")], &[])?;
    store.append(&[tale.asks(4), tale.answered(4, "proceed", "eve"), tale.completed()], &[])?;
    assert_eq!(findings(&store)?, []);
    let mut found = Vec::new();
    heads.compare(&*store, &mut |finding| found.push(finding))?;
    assert_eq!(found[0], Finding::RunReplaced { run: "completed1".into(), seq: 11 });
    let gone = |finding: &Finding| matches!(finding, Finding::RunGone { .. });
    assert!(found.len() == 5 && found[1..].iter().all(gone), "{found:?}");
    Ok(())
}
