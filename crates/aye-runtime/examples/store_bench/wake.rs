//! From the call of `append` in one process to the parsed event in another.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use aye_core::event::EventKind;
use aye_core::id::RunId;
use aye_runtime::store::{Durability, Journal as _, SqliteStore, Wake as _};
use jiff::Timestamp;

use crate::fill::{Writer, source};
use crate::{ms, percentile};

const EVENTS: u64 = 400;
const BETWEEN: Duration = Duration::from_millis(3);

pub(crate) fn bench() -> Result<(), Box<dyn Error>> {
    println!("\nappend in one process, seen by another, {EVENTS} events");
    for (name, durability) in
        [("survives kill -9", Durability::Process), ("survives power loss", Durability::Power)]
    {
        let home = tempfile::tempdir()?;
        let mut times = seen_by_another(home.path(), durability)?;
        println!(
            "{name:<34} p50 {:.3} ms, p99 {:.3} ms",
            ms(percentile(&mut times, 50)),
            ms(percentile(&mut times, 99))
        );
    }
    Ok(())
}

fn seen_by_another(home: &Path, durability: Durability) -> Result<Vec<Duration>, Box<dyn Error>> {
    let mut store = SqliteStore::open(home, durability)?;
    let mut writer = Writer::new(RunId::new("wake-1")?);
    let first = writer.started(Timestamp::now());
    store.start(&writer.lease(), &[first], &source())?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg("listen")
        .arg(home)
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().ok_or("no pipe")?;
    let mut lines = BufReader::new(stdout).lines();
    lines.next().ok_or("it does not listen")??;
    for _ in 0..EVENTS {
        std::thread::sleep(BETWEEN);
        let event = writer.step(Timestamp::now());
        store.append(&writer.lease(), &[event], &[])?;
    }
    std::thread::sleep(BETWEEN);
    let end = EventKind::SkillCompleted {
        state: None,
        outputs: std::iter::empty().collect(),
        duration_ms: None,
    };
    let last = writer.event(Timestamp::now(), end);
    store.append(&writer.lease(), &[last], &[])?;
    let times = lines.map(|line| Ok(Duration::from_nanos(line?.parse()?))).collect();
    child.wait()?;
    times
}

/// The other process: says how old each event is when it is seen.
pub(crate) fn listen(home: &Path) -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::open_to_read(home)?.ok_or("no journal")?;
    let mut listener = store.listen()?;
    let mut place = store.position()?;
    let mut ages = Vec::new();
    println!("listening");
    loop {
        listener.wait(Duration::from_secs(1))?;
        for (n, event) in store.events_after(place, 100)? {
            place = n;
            if matches!(event.kind, EventKind::SkillCompleted { .. }) {
                for age in ages {
                    println!("{age}");
                }
                return Ok(());
            }
            ages.push(Timestamp::now().duration_since(event.at).as_nanos());
        }
    }
}
