//! Variables of Aye that no child inherits.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::system::core_dumps;

/// Variables that may carry a secret input or a one-time code to Aye. No child
/// inherits them; a [`Spec`](crate::Spec) can still set one.
pub const CARRIERS: [&str; 3] = ["AYE_INPUT", "AYE_INPUTS", "AYE_CODE"];

/// Makes a command that is not started through this crate inherit what every
/// other child does: none of the [`CARRIERS`], and the limit for core dumps
/// that this process was started with.
pub fn withhold(command: &mut Command) {
    for name in CARRIERS {
        command.env_remove(name);
    }
    if let Some(limit) = core_dumps::limit_before() {
        // SAFETY: it makes one system call, which is async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                core_dumps::restore(limit);
                Ok(())
            });
        }
    }
}
