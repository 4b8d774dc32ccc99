//! What is acknowledged survives, and others hear of it soon.

use std::time::{Duration, Instant};

use aye_core::input::Request;
use aye_runtime::store::{Durability, Verdict};

use super::Outcome;
use super::child::Role;
use super::sample::{id, moment, open};

/// Kills a writer again and again, in the middle of whatever it does.
fn survives_kill(durability: Durability, kills: u64) -> Outcome {
    let home = tempfile::tempdir()?;
    let mut role = Role::new("write", home.path());
    role.count = u64::MAX;
    role.durability = durability;
    let mut acknowledged = 0;
    for kill in 0..kills {
        let mut child = role.start()?;
        // Later and later, and for odd ones a little after an acknowledgement.
        for _ in 0..=(kill * 7) % 40 {
            let said = child.hear()?.ok_or("it died by itself")?;
            acknowledged = said.parse::<u64>().map_err(|_| said)?;
        }
        std::thread::sleep(Duration::from_micros((kill % 8) * 60));
        child.kill()?;
        // What it said before it died counts.
        while let Some(said) = child.hear()? {
            acknowledged = said.parse::<u64>().map_err(|_| said)?;
        }
        drop(child);
        let store = open(home.path())?;
        let row = store.run(&id("abcdefgh12"))?.ok_or("no row")?;
        // One more may be there: committed, but death came before the word.
        assert!(
            row.last_seq == acknowledged || row.last_seq == acknowledged + 1,
            "{} there, {acknowledged} acknowledged",
            row.last_seq
        );
        let audited = store.audit(None, |finding| panic!("{finding}"))?;
        assert_eq!(audited.events, row.last_seq);
    }
    Ok(())
}

#[test]
fn acknowledged_appends_survive_kill_9() -> Outcome {
    survives_kill(Durability::Process, 40)
}

#[test]
fn acknowledged_appends_survive_kill_9_with_every_commit_synced() -> Outcome {
    survives_kill(Durability::Power, 15)
}

#[test]
fn another_process_answers_within_milliseconds() -> Outcome {
    const ROUNDS: usize = 60;
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let run = id("abcdefgh12");
    let mut child = Role::new("answer", home.path()).start()?;
    assert_eq!(child.hear()?.as_deref(), Some("ready"));
    let mut listener = store.listen()?;
    let request = Request::Cancel { by: "ada".into(), reason: None, now: false };
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let sent = store.send(&run, &request, "test", moment(0))?;
        while store.verdict(sent)?.is_none() {
            listener.wait(Duration::from_secs(1))?;
        }
        times.push(begun.elapsed());
        assert_eq!(store.verdict(sent)?, Some(Verdict::Accepted));
    }
    times.sort();
    // There and back is two wake-ups and two commits.
    let median = times[ROUNDS / 2];
    assert!(median < Duration::from_millis(20), "{median:?}");
    Ok(())
}
