//! Descriptors that we were given and that a child would be given too.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;

use rustix::io::{FdFlags, fcntl_getfd};
use rustix::termios::isatty;

/// No more numbers than these are tried where the system does not list them.
const MOST: u64 = 65_536;

/// Terminals among them, from 3 on; the other end of a pseudo-terminal is one as well. Found
/// once: whatever we open ourselves is closed by an `exec`.
pub(crate) fn terminals() -> &'static [c_int] {
    static FOUND: OnceLock<Vec<c_int>> = OnceLock::new();
    FOUND.get_or_init(|| numbers().into_iter().filter(|fd| *fd > 2 && is_terminal(*fd)).collect())
}

fn is_terminal(number: c_int) -> bool {
    // SAFETY: only asked about, also if it is closed meanwhile.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    fcntl_getfd(fd).is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC)) && isatty(fd)
}

/// All open descriptors, perhaps among others.
fn numbers() -> Vec<c_int> {
    let list = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    if let Ok(entries) = std::fs::read_dir(list) {
        let names = entries.flatten().map(|entry| entry.file_name());
        return names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    }
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    (0..c_int::try_from(limit.unwrap_or(MOST).min(MOST)).unwrap_or(c_int::MAX)).collect()
}
