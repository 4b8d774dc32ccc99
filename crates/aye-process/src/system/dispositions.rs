//! What this process does about signals, and which ones it blocks.

use std::io;
use std::os::fd::OwnedFd;

/// Every signal that something in this crate has a handler for at times; a new
/// handler belongs here, or it may run in a child that still uses our memory.
pub(crate) const HANDLED: [i32; 9] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGTSTP,
    libc::SIGCONT,
    libc::SIGWINCH,
    libc::SIGCHLD,
    libc::SIGXFSZ,
];

/// What the process does about a signal.
#[derive(Clone, Copy)]
pub(crate) struct Disposition(libc::sigaction);

impl std::fmt::Debug for Disposition {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Disposition").field(&self.0.sa_sigaction).finish()
    }
}

impl Disposition {
    pub(crate) fn of(number: i32) -> Self {
        // SAFETY: a zeroed `sigaction` is valid and only written to.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(number, std::ptr::null(), &raw mut now);
            Self(now)
        }
    }

    pub(crate) fn default_action() -> Self {
        // SAFETY: a zeroed `sigaction` is valid: default action, no flags.
        Self(unsafe { std::mem::zeroed() })
    }

    pub(crate) fn is_ignored(self) -> bool {
        self.0.sa_sigaction == libc::SIG_IGN
    }

    pub(crate) fn set(self, number: i32) {
        // SAFETY: the pointer is to a live, valid `sigaction`.
        unsafe {
            libc::sigaction(number, &raw const self.0, std::ptr::null_mut());
        }
    }
}

/// A pipe for a signal handler to write to: reading end, writing end.
pub(crate) fn handler_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    rustix::io::ioctl_fionbio(&read, true)?;
    rustix::io::ioctl_fionbio(&write, true)?;
    Ok((read.into(), write.into()))
}

/// A set of signals.
pub(crate) struct Set(pub(crate) libc::sigset_t);

impl Set {
    pub(crate) fn of(numbers: &[i32]) -> Self {
        // SAFETY: `sigset_t` is plain data, initialised by `sigemptyset`.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for number in numbers {
                libc::sigaddset(&raw mut set, *number);
            }
            Self(set)
        }
    }

    /// Every signal that can be blocked.
    pub(crate) fn all() -> Self {
        let mut set = Self::of(&[]);
        // SAFETY: the pointer is to a live, valid set.
        unsafe {
            libc::sigfillset(&raw mut set.0);
        }
        set
    }

    /// Changes the mask of this thread; the mask before.
    pub(crate) fn apply(&self, how: i32) -> Self {
        let mut before = Self::of(&[]);
        // SAFETY: both pointers are to valid sets.
        unsafe {
            libc::pthread_sigmask(how, &raw const self.0, &raw mut before.0);
        }
        before
    }
}

/// Runs `action` while this thread does not get a signal.
pub(crate) fn with_blocked<T>(number: i32, action: impl FnOnce() -> T) -> T {
    let before = Set::of(&[number]).apply(libc::SIG_BLOCK);
    let result = action();
    before.apply(libc::SIG_SETMASK);
    result
}

/// Ends this process by a signal, as if it had never been caught: a shell that
/// waits for us learns that a person wanted all of it to stop.
pub fn end_by(number: i32) -> ! {
    Disposition::default_action().set(number);
    Set::of(&[number]).apply(libc::SIG_UNBLOCK);
    // SAFETY: numbers in; nothing of ours runs after either.
    unsafe {
        libc::raise(number);
        libc::_exit(128 + number)
    }
}

/// Lets a write beyond the limit for file sizes fail instead of ending this
/// process. A handler that does nothing, not an ignored signal: children get
/// the default back with their `exec`.
pub fn survive_file_size_limit() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: a zeroed `sigaction` is valid, and the handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut());
    }
}

/// What the last system call of this thread has left.
#[cfg(target_os = "linux")]
pub(crate) fn errno() -> i32 {
    // SAFETY: always a valid pointer to the thread's own variable.
    unsafe { *libc::__errno_location() }
}

/// Restores it, at the end of a signal handler.
#[cfg(target_os = "linux")]
pub(crate) fn set_errno(value: i32) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = value }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn errno() -> i32 {
    // SAFETY: always a valid pointer to the thread's own variable.
    unsafe { *libc::__error() }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn set_errno(value: i32) {
    // SAFETY: as above.
    unsafe { *libc::__error() = value }
}
