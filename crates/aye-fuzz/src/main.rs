//! `aye-fuzz TARGET COUNT [SEED [FROM]]`: runs the seeds of a target and so many
//! made-up cases. `aye-fuzz TARGET 1 SEED NUMBER` runs one case again.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = aye_fuzz::role() {
        return ExitCode::from(code);
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let (Some(target), Some(count)) = (words.first(), number(1)) else {
        eprintln!(
            "aye-fuzz TARGET COUNT [SEED [FROM]]; targets: {}",
            aye_fuzz::targets::NAMES.join(", ")
        );
        return ExitCode::from(2);
    };
    match aye_fuzz::run(target, count, number(2).unwrap_or(1), number(3).unwrap_or(0)) {
        Ok(figures) => {
            println!(
                "{target}: {} cases in {:.1} s, longest {:.0} ms (case {}), {} stalls, {} MiB",
                figures.cases,
                figures.time.as_secs_f64(),
                figures.longest.0.as_secs_f64() * 1e3,
                figures.longest.1,
                figures.stalls,
                figures.memory >> 20
            );
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}
