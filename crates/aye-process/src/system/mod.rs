//! The few system calls and files that the rest is made of: signal `dispositions`, process
//! `group`s, waiting for children (`reap`), `/proc` (`procfs`) and what signals are called
//! (`signal_name`). Decides nothing.

pub(crate) mod dispositions;
pub mod group;
#[cfg(target_os = "linux")]
pub(crate) mod procfs;
pub(crate) mod reap;
pub(crate) mod signal_name;
