//! The example that embeds the runtime: built here, and run.

use std::sync::PoisonError;

use aye_core::journal::Ended;
use aye_process::Signals;
use aye_runtime::driver::Outcome;

#[path = "../../examples/embed.rs"]
#[expect(dead_code, reason = "its `main` is for people")]
mod example;

const SKILL: &str = "\
name: greet
steps:
  - name: sure
    confirm:
      message: Greet?
      options:
        - { label: Go, value: proceed }
        - { label: Stop, value: stop, action: cancel }
  - name: greet
    command: touch
    args: [greeted]
";

#[test]
fn a_program_runs_a_skill_and_answers_its_question() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("greet.yaml"), SKILL).unwrap();
    let _only = super::SIGNALS.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome = example::embed(directory.path(), "greet.yaml").unwrap();
    assert_eq!(outcome, Outcome::Ended(Ended::Completed));
    assert!(directory.path().join("greeted").exists());
}

#[test]
fn the_example_is_short() {
    let lines = include_str!("../../examples/embed.rs").lines().count();
    assert!(lines <= 40, "the example has {lines} lines");
}

#[test]
fn a_process_drives_one_run_at_a_time() {
    let _only = super::SIGNALS.lock().unwrap_or_else(PoisonError::into_inner);
    let signals = Signals::catch().unwrap();
    let refused = Signals::catch().map(drop).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::AlreadyExists);
    drop(signals);
    Signals::catch().unwrap();
}
