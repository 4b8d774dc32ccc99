//! One commit an event, against a bare append that is synced.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use aye_core::id::RunId;
use aye_runtime::store::{Durability, Journal as _, Lease, SqliteStore};
use jiff::Timestamp;

use crate::fill::{Writer, source};
use crate::{ms, percentile, ratio, time};

const ROUNDS: usize = 8;
const COMMITS: usize = 400;

pub(crate) fn bench() -> Result<(), Box<dyn Error>> {
    let temp = tempfile::tempdir()?;
    let mut bare = Vec::new();
    let mut power = Vec::new();
    let mut process = Vec::new();
    for round in 0..ROUNDS {
        append_and_sync(&temp.path().join("bare"), &mut bare)?;
        commit(&temp.path().join("power"), Durability::Power, round, &mut power)?;
        commit(&temp.path().join("process"), Durability::Process, round, &mut process)?;
    }
    println!("one event a commit, {} commits each, in turns", bare.len());
    println!(
        "{:<34} {:>8} {:>8} {:>8} {:>9} {:>7}",
        "", "p50 ms", "p99 ms", "mean ms", "a second", "ratio"
    );
    let limit = mean(&bare);
    for (name, mut times) in [
        ("append + fdatasync (limit)", bare),
        ("append, survives power loss", power),
        ("append, survives kill -9", process),
    ] {
        let average = mean(&times);
        println!(
            "{name:<34} {:>8.3} {:>8.3} {:>8.3} {:>9.0} {:>7.2}",
            ms(percentile(&mut times, 50)),
            ms(percentile(&mut times, 99)),
            ms(average),
            1.0 / average.as_secs_f64(),
            ratio(average, limit)
        );
    }
    shared(&temp.path().join("shared"), limit)
}

/// The runs inside one run can share a commit.
fn shared(home: &Path, limit: Duration) -> Result<(), Box<dyn Error>> {
    const RUNS: u32 = 128;
    let mut store = SqliteStore::open(home, Durability::Power)?;
    let outer = RunId::new("shared-runs")?;
    let mut writers = (0..RUNS)
        .map(|number| match number {
            0 => Ok(Writer::new(outer.clone())),
            _ => Ok(Writer::new(outer.child(1, Some(number))?)),
        })
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let lease = Lease::new(outer, 1, ());
    let first: Vec<_> = writers.iter_mut().map(|writer| writer.started(Timestamp::now())).collect();
    store.start(&lease, &first, &source())?;
    let mut times = Vec::new();
    for _ in 0..COMMITS / 4 {
        let events: Vec<_> =
            writers.iter_mut().map(|writer| writer.step(Timestamp::now())).collect();
        let (done, took) = time(|| store.append(&lease, &events, &[]));
        done?;
        times.push(took);
    }
    let rate = f64::from(RUNS) / mean(&times).as_secs_f64();
    println!(
        "{RUNS} runs share a commit, survives power loss: {rate:.0} events a second, {:.0} x the limit of single ones",
        rate * limit.as_secs_f64()
    );
    Ok(())
}

fn mean(times: &[Duration]) -> Duration {
    let count = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
    times.iter().sum::<Duration>() / count
}

fn append_and_sync(path: &Path, times: &mut Vec<Duration>) -> Result<(), Box<dyn Error>> {
    let mut writer = Writer::new(RunId::new("bare-append")?);
    let event = serde_json::to_string(&writer.step(Timestamp::now()))?;
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    for _ in 0..COMMITS {
        let (done, took) =
            time(|| file.write_all(event.as_bytes()).and_then(|()| file.sync_data()));
        done?;
        times.push(took);
    }
    Ok(())
}

fn commit(
    home: &Path,
    durability: Durability,
    round: usize,
    times: &mut Vec<Duration>,
) -> Result<(), Box<dyn Error>> {
    let mut store = SqliteStore::open(home, durability)?;
    let mut writer = Writer::new(RunId::new(format!("round-{round:04}"))?);
    let (lease, first) = (writer.lease(), writer.started(Timestamp::now()));
    store.start(&lease, &[first], &source())?;
    for _ in 0..COMMITS {
        let event = [writer.step(Timestamp::now())];
        let (done, took) = time(|| store.append(&lease, &event, &[]));
        done?;
        times.push(took);
    }
    Ok(())
}
