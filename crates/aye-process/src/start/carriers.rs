//! Variables of Aye that no child inherits.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use super::spec::Spec;
use crate::system::core_dumps;

/// Variables that may carry a secret input or a one-time code to Aye. No child
/// inherits them; a [`Spec`] can still set one.
pub const CARRIERS: [&str; 3] = ["AYE_INPUT", "AYE_INPUTS", "AYE_CODE"];

impl Spec {
    /// Withholds every variable of Aye (`AYE_…`) except these: settings, inputs and codes are
    /// none of a helper's business.
    #[must_use]
    pub fn without_own_variables(mut self, except: &[&str]) -> Self {
        let is_own = |name: &OsString| {
            let name = name.to_string_lossy();
            name.starts_with("AYE_") && !except.contains(&&*name)
        };
        let own = std::env::vars_os().map(|(name, _)| name).filter(is_own);
        self.env.extend(own.map(|name| (name, None)));
        self
    }
}

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
