//! Signals for the runner itself, as events for the poll loop.
//!
//! The handlers write one byte to a pipe, nothing else. Handlers rather than a
//! blocked mask with `signalfd`: an `exec` undoes handlers by itself. A signal
//! that was ignored when we were started stays ignored, as `nohup` and
//! background jobs expect.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crate::system::dispositions::{Disposition, errno, handler_pipe, set_errno};

/// What someone wants from the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// `SIGINT`: Ctrl-C.
    Interrupt,
    /// `SIGTERM`.
    Terminate,
    /// `SIGHUP`: the terminal is gone.
    Hangup,
    /// `SIGQUIT`: Ctrl-\.
    Quit,
    /// `SIGTSTP`: Ctrl-Z, see [`suspend`](crate::suspend()).
    Suspend,
    /// `SIGCONT`: we continue after a stop.
    Continue,
    /// `SIGWINCH`: the window has a new size.
    Resize,
}

impl Signal {
    /// The number the operating system uses.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::Hangup => libc::SIGHUP,
            Self::Quit => libc::SIGQUIT,
            Self::Suspend => libc::SIGTSTP,
            Self::Continue => libc::SIGCONT,
            Self::Resize => libc::SIGWINCH,
        }
    }

    /// Its name in the operating system.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::Hangup => "SIGHUP",
            Self::Quit => "SIGQUIT",
            Self::Suspend => "SIGTSTP",
            Self::Continue => "SIGCONT",
            Self::Resize => "SIGWINCH",
        }
    }

    /// The exit code of a runner that ended because of it.
    #[must_use]
    pub fn exit_code(self) -> i32 {
        128 + self.number()
    }

    /// Whether it asks the runner to end.
    #[must_use]
    pub fn is_stop(self) -> bool {
        matches!(self, Self::Interrupt | Self::Terminate | Self::Hangup | Self::Quit)
    }

    fn from_number(number: i32) -> Option<Self> {
        ALL.into_iter().find(|signal| signal.number() == number)
    }
}

const ALL: [Signal; 7] = [
    Signal::Interrupt,
    Signal::Terminate,
    Signal::Hangup,
    Signal::Quit,
    Signal::Suspend,
    Signal::Continue,
    Signal::Resize,
];

/// Marks a byte whose signal was passed on by the guard.
const FORWARDED: u8 = 0x80;

/// A signal to a job reaches us and, through the guard, a second time; that is
/// one request. Two key presses both come directly and are two.
const ECHO_TIME: Duration = Duration::from_millis(500);

/// Where the handler writes, -1 for nowhere.
static PIPE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn handler(number: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let guard = super::engine::pid();
    // SAFETY: with `SA_SIGINFO` the kernel passes a valid pointer; `kill`,
    // `write` and reading `errno`'s place are async-signal-safe.
    unsafe {
        let saved = errno();
        let forwarded = guard > 0 && (*info).si_code <= 0 && (*info).si_pid() == guard;
        if number == libc::SIGCONT && guard > 0 && !forwarded {
            // The shell continues our group; the guard is not in it.
            libc::kill(guard, libc::SIGCONT);
        }
        let byte = u8::try_from(number).unwrap_or(0) | if forwarded { FORWARDED } else { 0 };
        let pipe = PIPE.load(Ordering::Relaxed);
        if pipe >= 0 {
            libc::write(pipe, (&raw const byte).cast(), 1);
        }
        set_errno(saved);
    }
}

/// The runner's signals as a stream of events. There is one at a time;
/// dropping it restores what was before.
#[derive(Debug)]
pub struct Signals {
    read: OwnedFd,
    write: OwnedFd,
    before: Vec<(i32, Disposition)>,
    /// For each signal the last time and whether the guard passed it on, to
    /// tell an echo from a second request.
    last: [Option<(bool, Instant)>; ALL.len()],
}

impl Signals {
    /// Starts to catch.
    ///
    /// # Errors
    /// When there is no pipe to be had, or someone else catches already.
    pub fn catch() -> io::Result<Self> {
        let (read, write) = handler_pipe()?;
        if PIPE.compare_exchange(-1, write.as_raw_fd(), Ordering::SeqCst, Ordering::SeqCst).is_err()
        {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "signals are caught already"));
        }
        let mut before = Vec::new();
        for signal in ALL {
            let old = Disposition::of(signal.number());
            if !old.is_ignored() || signal == Signal::Continue {
                install(signal.number());
                before.push((signal.number(), old));
            }
        }
        Ok(Self { read, write, before, last: [None; ALL.len()] })
    }

    /// Readable when [`next`](Self::next) has something.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }

    /// The next event, `None` if there is none at the moment.
    #[expect(clippy::should_implement_trait, reason = "None is not the end here")]
    pub fn next(&mut self) -> Option<Signal> {
        loop {
            let mut byte = [0];
            let read = rustix::io::read(&self.read, &mut byte);
            if read != Ok(1) {
                return None;
            }
            let forwarded = byte[0] & FORWARDED != 0;
            let Some(signal) = Signal::from_number(i32::from(byte[0] & !FORWARDED)) else {
                continue;
            };
            if !self.is_echo(signal, forwarded) {
                return Some(signal);
            }
        }
    }

    fn is_echo(&mut self, signal: Signal, forwarded: bool) -> bool {
        let now = Instant::now();
        let Some(last) = ALL.iter().position(|one| *one == signal).map(|at| &mut self.last[at])
        else {
            return false;
        };
        let is_echo = last.is_some_and(|(before, at)| {
            before != forwarded && now.saturating_duration_since(at) < ECHO_TIME
        });
        // One request has at most one echo.
        *last = (!is_echo).then_some((forwarded, now));
        is_echo
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (number, old) in self.before.drain(..) {
            old.set(number);
        }
        PIPE.store(-1, Ordering::SeqCst);
        let _ = &self.write;
    }
}

fn install(number: i32) {
    // SAFETY: a zeroed `sigaction` is valid; the handler does only
    // async-signal-safe things.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
        libc::sigaction(number, &raw const action, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::system::dispositions::HANDLED;

    #[test]
    fn no_handler_of_ours_outlives_the_fork() {
        assert!(ALL.iter().all(|signal| HANDLED.contains(&signal.number())));
    }
}
