//! `wait4`, the one way to learn status and resource use of a child together.

use std::mem::MaybeUninit;
use std::sync::Once;
use std::time::Duration;

/// Status and resource use of a child that has ended, `None` if it has not;
/// -1 is any child.
pub(crate) fn try_wait(pid: i32) -> Option<(i32, libc::rusage)> {
    wait4(pid, libc::WNOHANG)
}

/// Like [`try_wait`], but reports also that the child was stopped.
pub(crate) fn try_wait_stopped(pid: i32) -> Option<(i32, libc::rusage)> {
    wait4(pid, libc::WNOHANG | libc::WUNTRACED)
}

/// Waits as long as it takes.
pub(crate) fn wait(pid: i32) -> Option<(i32, libc::rusage)> {
    wait4(pid, 0)
}

fn wait4(pid: i32, options: i32) -> Option<(i32, libc::rusage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to live locals of the right type.
        let got = unsafe { libc::wait4(pid, &raw mut status, options, usage.as_mut_ptr()) };
        if got > 0 {
            // SAFETY: zeroed is a valid `rusage`, and the call has filled it.
            return Some((status, unsafe { usage.assume_init() }));
        }
        if got >= 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return None;
        }
    }
}

/// What children this process has.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Children {
    None,
    Living,
    /// At least one is dead and was not waited for.
    Dead,
}

/// One system call, where a look at the tree takes ten.
#[cfg(target_os = "linux")]
pub(crate) fn children() -> Children {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the pointer is to a live local of the right type.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), options) };
    if result != 0 {
        let none = std::io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD);
        return if none { Children::None } else { Children::Living };
    }
    // SAFETY: zeroed is a valid `siginfo_t`; without a dead child the pid stays 0.
    match unsafe { info.assume_init().si_pid() } {
        0 => Children::Living,
        _ => Children::Dead,
    }
}

/// Whether a child of ours has ended and was not waited for; `None` if it is
/// not a child of ours.
#[cfg(target_os = "linux")]
pub(crate) fn is_dead(pid: i32) -> Option<bool> {
    let pid = libc::id_t::try_from(pid).ok()?;
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the pointer is to a live local of the right type, zeroed and so
    // valid; while the child lives the pid in it stays 0.
    unsafe {
        let result = libc::waitid(libc::P_PID, pid, info.as_mut_ptr(), options);
        (result == 0).then(|| info.assume_init().si_pid() != 0)
    }
}

/// The number of a process that has just been made, and is gone again.
#[cfg(target_os = "linux")]
pub(crate) fn newest_number() -> Option<i32> {
    // SAFETY: the child shares our memory while we wait; it makes one system
    // call, writes nothing and ends without returning from here.
    #[expect(deprecated, reason = "a fork would copy what the child never looks at")]
    let child = unsafe { libc::vfork() };
    if child == 0 {
        // SAFETY: an async-signal-safe call.
        unsafe { libc::_exit(0) }
    }
    (child > 0).then(|| {
        let _ = wait(child);
        child
    })
}

/// Makes sure that children can be waited for: our parent may have left
/// `SIGCHLD` ignored, and then the kernel throws their status away.
pub(crate) fn require_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: queries and sets a disposition through valid pointers; a
        // zeroed `sigaction` is valid, with the default disposition.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut now);
            if now.sa_sigaction == libc::SIG_IGN {
                libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            }
        }
    });
}

/// Makes orphans of our descendants ours.
#[cfg(target_os = "linux")]
pub(crate) fn adopt_orphans() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static DONE_BY: AtomicU32 = AtomicU32::new(0);
    // A fork copies the note, not the fact.
    let own = std::process::id();
    if DONE_BY.swap(own, Ordering::Relaxed) == own {
        return;
    }
    // Refused only by kernels older than 3.4, where pidfds fail as well.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Orphans go to the first process here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt_orphans() {}

/// Processor time used, user and system.
pub(crate) fn cpu_time(usage: &libc::rusage) -> Duration {
    let part = |time: libc::timeval| {
        Duration::new(
            u64::try_from(time.tv_sec).unwrap_or(0),
            u32::try_from(time.tv_usec).unwrap_or(0) * 1000,
        )
    };
    part(usage.ru_utime) + part(usage.ru_stime)
}

/// Our own largest size so far, with some room: the kernel counts in steps. It counts what
/// starts a program towards the program, so nothing below is known of one.
pub(crate) fn own_peak_memory() -> u64 {
    const ROOM: u64 = 1024 * 1024;
    // SAFETY: a zeroed `rusage` is valid and filled by the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    peak_memory(&usage) + ROOM
}

/// The largest resident size in bytes.
pub(crate) fn peak_memory(usage: &libc::rusage) -> u64 {
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit
}
