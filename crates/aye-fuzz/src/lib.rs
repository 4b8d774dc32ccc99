//! Fuzzing of everything that reads what others wrote.
//!
//! ```text
//! seeds/TARGET/* -> mutate (seeded) -> targets/TARGET (must not panic) -> watch (time, memory)
//! ```
//!
//! Every case is made from the seed of the run and its own number alone, so a
//! case that fails is made again by naming both. A program that uses this is
//! its own compute worker and its own MCP server: see [`role`].
//!
//! Touches the seeds, for reading, and the processes of [`role`]. The result goes to `main`, which
//! prints it.

#![forbid(unsafe_code)]

mod mutate;
mod random;
mod seeds;
pub mod targets;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mutate::Mutator;
use watch::Watch;

/// No case may take longer. One that does is run again [`AGAIN`] times: cases are
/// the same each time, so what takes long by itself does so again, and what does
/// not was held up by the machine. Those are counted as stalls.
pub const LONGEST: Duration = Duration::from_secs(1);
/// How often a case that took too long is run again.
const AGAIN: usize = 3;
/// No more memory may be in use, in bytes.
pub const MEMORY: u64 = 200 << 20;

/// What was measured.
#[derive(Debug, Default)]
pub struct Figures {
    /// Cases, seeds included.
    pub cases: u64,
    /// How long all of them took.
    pub time: Duration,
    /// The longest one, and its number.
    pub longest: (Duration, u64),
    /// Cases that took too long once and not when they were run again.
    pub stalls: u64,
    /// The most memory that was in use, in bytes.
    pub memory: u64,
}

/// What this process was started as, if it is not the fuzzer itself; then its
/// exit code is returned.
pub fn role() -> Option<u8> {
    let word = std::env::args().nth(1)?;
    if word == aye_runtime::compute::WORD {
        return Some(aye_runtime::compute::work());
    }
    // The target has the same name, and a count after it.
    if word == "mcp" && std::env::args().len() == 2 {
        return Some(aye::cli::main());
    }
    aye_runtime::compute::is_aye();
    None
}

/// Runs the seeds of a target (case 0 and on) and then made-up cases; the
/// first that fails ends it.
///
/// # Errors
/// What failed, with how to make the case again.
pub fn run(name: &str, count: u64, seed: u64, from: u64) -> Result<Figures, String> {
    let (seeds, quick) = seeds::of(name)?;
    let mut target = targets::start(name)?;
    let mutator = Mutator::new(&seeds, quick, target.words());
    let watch = Watch::start(name, seed);
    let mut figures = Figures::default();
    let began = std::time::Instant::now();
    let plain = seeds.len() as u64;
    // Without a number to begin at the seeds come first, and in addition.
    let until = if from == 0 { plain + count } else { from + count };
    for number in from..until {
        let case = match seeds.get(usize::try_from(number).unwrap_or(usize::MAX)) {
            Some(seed) => seed.clone(),
            None => mutator.make(seed, number),
        };
        let since = watch.begin(number);
        let result = catch_unwind(AssertUnwindSafe(|| target.run(&case)));
        let took = since.elapsed();
        watch.end();
        figures.cases += 1;
        if took > figures.longest.0 {
            figures.longest = (took, number);
        }
        let again = || format!("`aye-fuzz {name} 1 {seed} {number}` makes it again");
        let shown = || String::from_utf8_lossy(&case).chars().take(2000).collect::<String>();
        match result {
            Err(_) => return Err(format!("{name}: a panic; {}\n{}", again(), shown())),
            Ok(Err(why)) => return Err(format!("{name}: {why}; {}\n{}", again(), shown())),
            Ok(Ok(())) => {}
        }
        let is_slow = |target: &mut dyn targets::Target| {
            let since = watch.begin(number);
            let again = catch_unwind(AssertUnwindSafe(|| target.run(&case)));
            let took = since.elapsed();
            watch.end();
            took > LONGEST || !matches!(again, Ok(Ok(())))
        };
        if took > LONGEST && !(0..AGAIN).any(|_| is_slow(&mut *target)) {
            figures.stalls += 1;
        } else if took > LONGEST {
            return Err(format!("{name}: {took:?}; {}\n{}", again(), shown()));
        }
        if number.is_multiple_of(256) {
            figures.memory = figures.memory.max(watch::peak()).max(target.memory());
            if figures.memory > MEMORY {
                let used = figures.memory >> 20;
                return Err(format!("{name}: {used} MiB in use; {}\n{}", again(), shown()));
            }
        }
    }
    figures.memory = figures.memory.max(watch::peak()).max(target.memory());
    figures.time = began.elapsed();
    Ok(figures)
}
