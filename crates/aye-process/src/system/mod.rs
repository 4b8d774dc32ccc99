//! The few system calls and files that the rest is made of: signal `dispositions`, process
//! `group`s, waiting for children (`reap`), `/proc` (`procfs`), who is at the other end of a socket
//! (`peer`), the limit for `core_dumps`, the `priority` of a thread and what signals are called
//! (`signal_name`). Decides nothing.
//!
//! Touches the kernel. What it reads goes to `start`, `running`, `tree`, `guard` and `terminal`.

pub(crate) mod core_dumps;
pub(crate) mod dispositions;
pub mod group;
pub(crate) mod peer;
pub(crate) mod priority;
#[cfg(target_os = "linux")]
pub(crate) mod procfs;
pub(crate) mod reap;
pub(crate) mod signal_name;
