//! That tests of other packages find the programs that Cargo has built. Cargo builds the programs
//! of a package for its tests, so this also puts them in place for `cargo test --workspace`.

use std::process::Command;

use aye_test_programs::{NASTY, RUNNER};

#[test]
fn the_programs_are_found_where_cargo_puts_them() {
    assert_eq!(&*NASTY, env!("CARGO_BIN_EXE_nasty"));
    assert_eq!(&*RUNNER, env!("CARGO_BIN_EXE_runner"));
}

#[test]
fn an_unknown_behaviour_is_an_error() {
    let output = Command::new(&*NASTY).arg("nice").output().expect("it can be started");
    assert_eq!(output.status.code(), Some(2));
}
