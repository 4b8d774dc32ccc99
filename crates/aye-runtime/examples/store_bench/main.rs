//! How fast the store is: `cargo run --release -p aye --example store_bench`.
//!
//! Each figure is measured next to what it is compared with, in turns, so that
//! only ratios of one run count. `bench/store.sh` runs it.

mod commits;
mod fill;
mod opening;
mod queries;
mod verifying;
mod wake;

use std::error::Error;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => {
            commits::bench()?;
            wake::bench()?;
            opening::bench()?;
            verifying::bench()?;
            queries::bench(1_000_000)
        }
        ["commits"] => commits::bench(),
        ["wake"] => wake::bench(),
        ["opening"] => opening::bench(),
        ["verifying"] => verifying::bench(),
        ["queries"] => queries::bench(1_000_000),
        ["queries", events] => queries::bench(events.parse()?),
        ["listen", home] => wake::listen(home.as_ref()),
        _ => {
            Err("usage: store_bench [commits | wake | opening | verifying | queries [EVENTS]]"
                .into())
        }
    }
}

/// How long `work` took.
fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let result = work();
    (result, begun.elapsed())
}

/// The time that so many per cent are not above.
fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(place).copied().unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
