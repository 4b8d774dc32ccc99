//! What every store promises: the contract, one function a clause. An adapter
//! passes it by giving a [`Place`]; `faulty` shows that each clause can fail.

mod appending;
mod concurrency;
mod faulty;
mod leasing;
mod lessons;
mod listing;
mod mailing;
mod outbox;
mod presence;
mod pruning;
mod sealing;
mod waking;

use std::error::Error;

use aye_core::id::RunId;
use aye_runtime::store::{Durability, Home, Lease, LeaseError, MemoryStore, SqliteStore, Store};
use rusqlite::Connection;
use tempfile::TempDir;

use super::sample::{Tale, holder, source};
use faulty::{Fault, FaultyPlace};

/// Where one store is, that several processes open.
pub(super) trait Place {
    /// Opens it, as another process would.
    fn open(&self) -> Box<dyn Store>;

    /// Takes a lease away from its holder, who does not notice.
    fn expire(&self, run: &RunId);

    /// Changes the first event of a run behind the store's back.
    fn tamper(&self, run: &RunId);
}

type Kept = Result<(), Box<dyn Error>>;

type Clause = fn(&dyn Place) -> Kept;

/// Fails the clause unless this holds.
macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+).into());
        }
    };
}
use ensure;

const CLAUSES: [(&str, Clause); 47] = [
    ("what is appended is read back in order", appending::reads_back),
    ("an event that does not follow is a conflict", appending::needs_the_next_number),
    ("an append is all or nothing", appending::all_or_nothing),
    ("watchers miss nothing", appending::watchers_miss_nothing),
    ("events of runs inside are found, of others not", appending::within),
    ("a run begins with its skill's text", appending::keeps_the_source),
    ("an old epoch cannot append", leasing::old_epoch_is_fenced),
    ("a lease covers its run and those inside", leasing::covers),
    ("a lease is held once, and says by whom", leasing::held_once),
    ("a lease ends with its holder", leasing::given_back),
    ("the epoch grows each time", leasing::epoch_grows),
    ("a lost lease does not end the next one", leasing::late_return),
    ("every lease that is held is listed", leasing::all_listed),
    ("a request gets its verdict", mailing::verdict),
    ("the first verdict stands", mailing::first_verdict_stands),
    ("a failed append gives no verdict", mailing::verdict_with_events),
    ("a run that has ended refuses", mailing::ended_refuses),
    ("requests to runs inside are found", mailing::pending_within),
    ("a name is held once", concurrency::held_once),
    ("a name is kept until the run ends", concurrency::kept_until_the_end),
    ("first come, first served", concurrency::first_come),
    ("who waits and is not driven is passed by", concurrency::absent_ones_are_passed),
    ("the end of a run wakes those who wait for its name", concurrency::the_end_wakes),
    ("no two runs wait for each other", concurrency::no_circle),
    ("what was learned waits for memory", lessons::wait_for_memory),
    ("a lesson is noted with its event, or not at all", lessons::with_the_event),
    ("what a process shows is known to others", presence::is_known),
    ("what is not shown any more is gone", presence::ends),
    ("what is new wakes drivers, what is said again does not", presence::wakes),
    ("a message is written with its event, or not at all", outbox::with_the_event),
    ("a message is claimed once, until the claim runs out", outbox::claimed_once),
    ("what was told is taken back when it is decided", outbox::retracted),
    ("a right to answer counts once", outbox::tokens_count_once),
    ("an append wakes whoever listens", waking::append_wakes),
    ("a request wakes its driver", waking::request_wakes),
    ("a driver's own appends do not wake it", waking::appends_do_not_wake_drivers),
    ("rows follow the events", listing::rows_follow),
    ("lists are filtered, the newest first", listing::lists),
    ("open questions come in pages, the oldest first", listing::pages_of_questions),
    ("a name finds one, several or none", listing::names),
    ("finished runs are pruned, others stay", pruning::prunes),
    ("an audit looks at everything, logs have places", pruning::audit_and_logs),
    ("logs that are noted are compressed later", pruning::plain_logs),
    ("a pruned run leaves an entry", sealing::entries),
    ("kept heads show what is gone", sealing::heads),
    ("an audit compares logs with their seals", sealing::logs),
    ("a changed event is found before a resume", sealing::verifies),
];

/// The clauses that a store does not keep, and why.
fn broken(place: impl Fn() -> Box<dyn Place>) -> Vec<(&'static str, String)> {
    let why = |(name, clause): &(&'static str, Clause)| {
        clause(&*place()).err().map(|why| (*name, why.to_string()))
    };
    CLAUSES.iter().filter_map(why).collect()
}

struct Sqlite(TempDir);

impl Place for Sqlite {
    fn open(&self) -> Box<dyn Store> {
        Box::new(SqliteStore::open(self.0.path(), Durability::Process).unwrap())
    }

    fn expire(&self, run: &RunId) {
        std::fs::remove_file(Home::new(self.0.path()).lock(run)).unwrap();
    }

    fn tamper(&self, run: &RunId) {
        let db = Connection::open(Home::new(self.0.path()).journal()).unwrap();
        let sql =
            "UPDATE events SET body = replace(body, '/work', '/else') WHERE run = ?1 AND seq = 1";
        assert_eq!(db.execute(sql, [run.as_str()]).unwrap(), 1);
    }
}

struct Memory {
    store: MemoryStore,
    _logs: TempDir,
}

impl Memory {
    fn new() -> Self {
        let logs = tempfile::tempdir().unwrap();
        Self { store: MemoryStore::new(logs.path()), _logs: logs }
    }
}

impl Place for Memory {
    fn open(&self) -> Box<dyn Store> {
        Box::new(self.store.clone())
    }

    fn expire(&self, run: &RunId) {
        self.store.expire(run);
    }

    fn tamper(&self, run: &RunId) {
        self.store.tamper(run);
    }
}

#[test]
fn sqlite_keeps_the_contract() {
    assert_eq!(broken(|| Box::new(Sqlite(tempfile::tempdir().unwrap()))), []);
}

#[test]
fn memory_keeps_the_contract() {
    assert_eq!(broken(|| Box::new(Memory::new())), []);
}

#[test]
fn every_fault_is_found_and_every_clause_can_fail() {
    let mut failed = Vec::new();
    for fault in Fault::ALL {
        let found = broken(|| Box::new(FaultyPlace::new(fault)));
        assert!(!found.is_empty(), "{fault:?} is not found");
        failed.extend(found.into_iter().map(|(name, _)| name));
    }
    for (name, _) in CLAUSES {
        assert!(failed.contains(&name), "nothing breaks \"{name}\"");
    }
}

/// Takes the lease of a run.
fn lease(store: &mut dyn Store, run: &RunId) -> Result<Lease, LeaseError> {
    store.acquire(run, &holder())
}

/// A run that has started, with its lease.
fn begun(store: &mut dyn Store, name: &str) -> Result<(Tale, Lease), Box<dyn Error>> {
    let mut tale = Tale::new(name);
    let lease = lease(store, &tale.run)?;
    store.start(&lease, &[tale.started()], &source())?;
    Ok((tale, lease))
}
