//! Opening and listing, in a small journal and in a large one.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use aye_runtime::store::{
    Durability, Pruner, RunFilter, RunStatus, SqliteStore, Store, StoreError,
};
use jiff::Timestamp;

use crate::{fill, ms, percentile, ratio, time};

const SMALL: u64 = 20_000;
const ROUNDS: usize = 200;

type Query = fn(&Path, &dyn Store) -> Result<usize, StoreError>;

pub(crate) fn bench(events: u64) -> Result<(), Box<dyn Error>> {
    let (small, large) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fill::fill(small.path(), SMALL)?;
    let (filled, took) = time(|| fill::fill(large.path(), events));
    filled?;
    let size = large.path().join("journal.db").metadata()?.len() >> 20;
    println!(
        "\n{events} events in {} runs ({size} MiB, filled in {:.1} s), against {SMALL} events",
        events / 10,
        took.as_secs_f64()
    );
    println!("{:<34} {:>9} {:>9} {:>7}", "median, warm", "large ms", "small ms", "ratio");
    let stores = [open(small.path())?, open(large.path())?];
    for (name, query) in queries() {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (which, home) in [small.path(), large.path()].into_iter().enumerate() {
                let (rows, took) = time(|| query(home, &*stores[which]));
                rows?;
                times[which].push(took);
            }
        }
        let [few, many] = times.each_mut().map(|times| percentile(times, 50));
        let name = format!("{name} ({})", query(large.path(), &*stores[1])?);
        println!("{name:<34} {:>9.3} {:>9.3} {:>7.2}", ms(many), ms(few), ratio(many, few));
    }
    audit_and_prune(large.path(), events)
}

fn queries() -> [(&'static str, Query); 8] {
    [
        ("open", |home, _| open(home).map(|_| 0)),
        ("open + list runs + questions", |home, _| {
            let store = open(home)?;
            store.runs(&RunFilter::default())?;
            store.open_questions().map(|rows| rows.len())
        }),
        ("last 50 events of a run", |_, store| {
            let Ok(run) = fill::long_run() else {
                return Ok(0);
            };
            store.tail(&run, 50).map(|events| events.len())
        }),
        ("open questions", |_, store| store.open_questions().map(|rows| rows.len())),
        ("newest runs", |_, store| store.runs(&RunFilter::default()).map(|rows| rows.len())),
        ("unfinished runs", |_, store| {
            let filter = RunFilter { status: Some(RunStatus::Running), ..RunFilter::default() };
            store.runs(&filter).map(|rows| rows.len())
        }),
        ("run by the beginning of its name", |_, store| store.find_run("the-long").map(|_| 1)),
        ("anything to prune?", |_, store| {
            store.has_finished_older_than(Timestamp::UNIX_EPOCH).map(usize::from)
        }),
    ]
}

fn open(home: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(SqliteStore::open(home, Durability::Power)?))
}

fn audit_and_prune(home: &Path, events: u64) -> Result<(), Box<dyn Error>> {
    let mut store: Box<dyn Store> = Box::new(SqliteStore::open(home, Durability::Process)?);
    let before = peak_memory();
    let mut findings = 0_u32;
    let (audited, took) = time(|| store.audit(None, &mut |_| findings += 1));
    println!(
        "audit of {} events: {:.1} s, {findings} findings, peak memory {} MiB (before: {before})",
        audited?.events,
        took.as_secs_f64(),
        peak_memory()
    );
    // Half of the runs: those that began earliest.
    let half = 1_790_000_000_000 + i64::try_from(events / 10 / 2)? * 1_000;
    let pruner = Pruner { by: "bench".into(), at: Timestamp::from_millisecond(half)? };
    let (pruned, took) = time(|| {
        let half = Timestamp::from_millisecond(half)?;
        store.prune(&pruner, half, false).map_err(Box::<dyn Error>::from)
    });
    let pruned = pruned?;
    let each: Duration = took / u32::try_from(pruned.runs.max(1))?;
    println!(
        "prune of {} runs, {} events: {:.1} s, {:.3} ms a run; the file is now {} MiB",
        pruned.runs,
        pruned.events,
        took.as_secs_f64(),
        ms(each),
        home.join("journal.db").metadata()?.len() >> 20
    );
    Ok(())
}

/// The most memory this process ever had, in MiB.
fn peak_memory() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .map_or(0, |kib| kib >> 10)
}
