//! Waiting for whatever comes first.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// What there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Ready {
    /// Something was typed.
    pub(super) typed: bool,
    /// The terminal has gone away.
    pub(super) gone: bool,
    /// One of the caller's descriptors is ready.
    pub(super) woken: bool,
}

/// Waits for the terminal or one of `wake`, until `until` at the longest.
pub(super) fn poll(tty: BorrowedFd<'_>, wake: &[BorrowedFd<'_>], until: Instant) -> Ready {
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(wake.len() + 1);
    fds.push(PollFd::from_borrowed_fd(tty, PollFlags::IN));
    fds.extend(wake.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        match rustix::event::poll(&mut fds, Some(&left)) {
            Ok(_) => break,
            // A handler ran; it has written to a descriptor we wait for.
            Err(Errno::INTR) => {}
            // Nothing sensible is left to wait for; do not spin.
            Err(_) => {
                std::thread::sleep(Duration::from_millis(50));
                return Ready { woken: true, ..Ready::default() };
            }
        }
    }
    let found = fds[0].revents();
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    Ready {
        typed: found.contains(PollFlags::IN),
        gone: found.intersects(gone),
        woken: fds[1..].iter().any(|fd| !fd.revents().is_empty()),
    }
}
