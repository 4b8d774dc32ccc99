//! No core dump of this process: its memory holds secrets.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A core file of one byte is not written. Linux ignores a limit of 0 where it
/// pipes dumps to a program, and takes 1 as "no dump" there too.
const NO_DUMP: u64 = if cfg!(target_os = "linux") { 1 } else { 0 };

/// The limit that this process was started with, once it has been lowered.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Turns core dumps of this process off. Children get their limit back.
pub fn disable_core_dumps() {
    let before = BEFORE.get_or_init(|| getrlimit(Resource::Core));
    // The hard limit stays: an ordinary account could not raise it again.
    let maximum = before.maximum;
    let current = maximum.map_or(NO_DUMP, |most| most.min(NO_DUMP));
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(current), maximum });
}

/// What a child's limit is set to; nothing if ours was never changed.
pub(crate) fn limit_before() -> Option<libc::rlimit> {
    let raw = |limit: Option<u64>| limit.unwrap_or(libc::RLIM_INFINITY);
    BEFORE
        .get()
        .map(|limit| libc::rlimit { rlim_cur: raw(limit.current), rlim_max: raw(limit.maximum) })
}

/// Sets it. Async-signal-safe: it is for a child before its `exec`.
pub(crate) fn restore(limit: libc::rlimit) {
    // SAFETY: the pointer is to a live local of the right type.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const limit);
    }
}
