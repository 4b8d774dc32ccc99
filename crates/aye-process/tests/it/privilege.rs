//! What only root can try. A test must not pass for having tried nothing.

use std::io::Write as _;

/// Names the variable with which an ordinary user leaves out what only root can try.
const LEAVE_OUT: &str = "AYE_TEST_WITHOUT_ROOT";

/// Whether we are root, which this part of a test needs. An ordinary user's test fails, unless
/// they said that what needs root is left out; in CI it fails always.
#[track_caller]
pub(crate) fn root(what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        let left_out = std::env::var_os(LEAVE_OUT).is_some() && std::env::var_os("CI").is_none();
        assert!(left_out, "requires root: {what}; `{LEAVE_OUT}=1 ./test` leaves it out");
        // Not `eprintln!`, which nobody sees of a test that passes.
        let _ = writeln!(std::io::stderr(), "not tried, requires root: {what}");
    }
    root
}
