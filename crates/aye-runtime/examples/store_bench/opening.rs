//! Opening when nobody else has the journal open: what every command pays.
//! The first to open reads the write-ahead log through once.

use std::error::Error;
use std::time::Duration;

use aye_core::id::RunId;
use aye_runtime::store::{Durability, Journal as _, SqliteStore};
use jiff::Timestamp;

use crate::fill::{Writer, source};
use crate::{ms, percentile, time};

const ROUNDS: usize = 100;

pub(crate) fn bench() -> Result<(), Box<dyn Error>> {
    println!("\nopening alone, and with one commit, by the size of the log");
    let temp = tempfile::tempdir()?;
    let mut number = 0;
    for commits in [0, 10, 40, 80, 160, 320] {
        let mut store = SqliteStore::open(temp.path(), Durability::Process)?;
        number += 1;
        let mut writer = Writer::new(RunId::new(format!("opening-{number}"))?);
        let (lease, first) = (writer.lease(), writer.started(Timestamp::now()));
        store.start(&lease, &[first], &source())?;
        for _ in 0..commits {
            store.append(&lease, &[writer.step(Timestamp::now())], &[])?;
        }
        drop(store);
        let log = temp.path().join("journal.db-wal").metadata()?.len() >> 10;
        let mut bare = Vec::new();
        for _ in 0..ROUNDS {
            let (store, took) = time(|| SqliteStore::open(temp.path(), Durability::Power));
            drop(store?);
            bare.push(took);
        }
        let mut whole = Vec::new();
        for _ in 0..10 {
            let event = [writer.step(Timestamp::now())];
            let (done, took) = time(|| {
                let mut store = SqliteStore::open(temp.path(), Durability::Process)?;
                store.append(&lease, &event, &[])
            });
            done?;
            whole.push(took);
        }
        let print = |times: &mut [Duration]| ms(percentile(times, 50));
        println!(
            "{commits:>4} commits, {log:>5} KiB: open {:.3} ms, open + commit + close {:.3} ms",
            print(&mut bare),
            print(&mut whole)
        );
    }
    Ok(())
}
