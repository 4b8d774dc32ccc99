//! All seeds and 100,000 cases; the same ones each time in CI.

use std::process::ExitCode;

/// Cases of each target: as many as their cost allows.
const CASES: [(&str, u64); 6] = [
    ("skill", 10_000),
    ("template", 6_000),
    ("block", 5_000),
    ("journal", 18_000),
    ("mcp", 10_000),
    ("keys", 51_000),
];

fn main() -> ExitCode {
    if let Some(code) = aye_fuzz::role() {
        return ExitCode::from(code);
    }
    // As other tests do, it runs if its name has what was asked for in it.
    let asked: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if !asked.is_empty() && !asked.iter().any(|word| "fuzz::cases".contains(word.as_str())) {
        return ExitCode::SUCCESS;
    }
    if std::env::args().any(|word| word == "--list") {
        println!("fuzz::cases: test");
        return ExitCode::SUCCESS;
    }
    let days = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs() / 86_400);
    let seed = if std::env::var_os("CI").is_some() { 1 } else { days };
    let mut failed = 0;
    for (target, count) in CASES {
        match aye_fuzz::run(target, count, seed, 0) {
            Ok(figures) => println!(
                "test fuzz::{target} ... ok ({} cases, {:.1} s)",
                figures.cases,
                figures.time.as_secs_f64()
            ),
            Err(why) => {
                failed += 1;
                println!("test fuzz::{target} ... FAILED\n{why}");
            }
        }
    }
    let passed = CASES.len() - failed;
    println!(
        "test result: {}. {passed} passed; {failed} failed",
        if failed == 0 { "ok" } else { "FAILED" }
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
