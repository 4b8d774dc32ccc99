//! What only root can try. A test must not pass for having tried nothing.

use std::io::Write as _;

/// Whether we are root, which this part of a test needs. An ordinary user is
/// told what was not tried; in CI that is a failure.
#[track_caller]
pub(crate) fn root(what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        assert!(std::env::var_os("CI").is_none(), "requires root: {what}");
        // Not `eprintln!`, which nobody sees of a test that passes.
        let _ = writeln!(std::io::stderr(), "not tried, requires root: {what}");
    }
    root
}
