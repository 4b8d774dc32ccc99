//! Limits: how many, how much memory, how much time.
//!
//! The slots are shared by the whole process, so their test runs in a
//! process of its own.

use std::time::Duration;

use aye_process::{Limits, Outcome, SpawnError, Status, spawn};

use crate::helper::{nasty, run};

#[test]
fn memory_is_limited() {
    let mut spec = nasty(&["eats-memory", "500"]);
    // Enough to be told from what this process itself has used.
    spec.limits = Limits { memory: Some(400 * 1024 * 1024), cpu_seconds: None };
    let exit = run(spec);
    assert!(!exit.success(), "{:?}", exit.outcome);
    let peak = exit.peak_memory.expect("it was measured");
    assert!(peak < 450 * 1024 * 1024, "{peak}");
}

#[test]
fn processor_time_is_limited() {
    let mut spec = nasty(&["burns-cpu"]);
    spec.limits = Limits { memory: None, cpu_seconds: Some(1) };
    let exit = run(spec);
    assert!(matches!(exit.status, Status::Signaled(9 | 24)), "{:?}", exit.status);
    assert!(matches!(exit.outcome, Outcome::Signaled(_)));
    assert!(exit.cpu_time >= Duration::from_millis(500), "{:?}", exit.cpu_time);
}

#[test]
fn the_eleventh_child_is_refused() {
    const INNER: &str = "AYE_TEST_SLOTS";
    if std::env::var_os(INNER).is_none() {
        let own = std::env::current_exe().expect("our own path");
        let status = std::process::Command::new(own)
            .args(["--exact", "limits::the_eleventh_child_is_refused"])
            .env(INNER, "1")
            .stdout(std::process::Stdio::null())
            .status()
            .expect("ended");
        assert!(status.success());
        return;
    }
    let spec = nasty(&["sleep", "60000"]);
    aye_process::slots::set_limit(aye_process::slots::DEFAULT_LIMIT);
    let mut running: Vec<_> = (0..10).map(|_| spawn(spec.clone()).expect("started")).collect();
    let error = spawn(spec.clone()).expect_err("refused");
    assert!(matches!(error, SpawnError::TooMany { .. }), "{error:?}");
    assert!(error.to_string().starts_with("too many concurrent processes"), "{error}");
    let mut aside = spec.clone();
    aside.aside = true;
    let _aside = spawn(aside).expect("there is always room aside");
    drop(running.pop());
    let _again = spawn(spec).expect("a slot is free again: the one aside has none");
}
