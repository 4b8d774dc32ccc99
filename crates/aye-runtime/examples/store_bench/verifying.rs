//! The chain of a run is verified before it is resumed, which reads its events
//! anyway.

use std::error::Error;

use aye_core::id::RunId;
use aye_runtime::store::{Audit as _, Durability, Journal as _, SqliteStore};
use jiff::Timestamp;

use crate::fill::{Writer, source};
use crate::{ms, percentile, ratio, time};

const ROUNDS: usize = 7;

pub(crate) fn bench() -> Result<(), Box<dyn Error>> {
    println!("\nbefore a resume: reading the events of a run, and verifying its chain");
    for events in [100, 1_000, 10_000, 100_000] {
        let temp = tempfile::tempdir()?;
        let mut store = SqliteStore::open(temp.path(), Durability::Process)?;
        let run = RunId::new("the-long-run")?;
        let mut writer = Writer::new(run.clone());
        let (lease, now) = (writer.lease(), Timestamp::now());
        store.start(&lease, &[writer.started(now)], &source())?;
        let rest: Vec<_> = (1..events)
            .map(|number| if number % 2 == 0 { writer.done(now) } else { writer.step(now) })
            .collect();
        store.append(&lease, &rest, &[])?;
        let (mut reads, mut verifies) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let (read, took) = time(|| store.events(&run, 0));
            assert_eq!(read?.len(), events);
            reads.push(took);
            let (verified, took) = time(|| store.verify(&run));
            verified?;
            verifies.push(took);
        }
        let (read, verify) = (percentile(&mut reads, 50), percentile(&mut verifies, 50));
        println!(
            "{events:>7} events: read {:.2} ms, verify {:.2} ms, {:.2} of it",
            ms(read),
            ms(verify),
            ratio(verify, read)
        );
    }
    Ok(())
}
