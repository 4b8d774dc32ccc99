//! Process groups as numbers, 0 for one we cannot see.
//!
//! In a PID namespace whose first process did not start a session of its own
//! (`unshare --pid`, some sandboxes and CI runners), our group and session
//! belong to a process outside and have no number here: the kernel says 0.

use std::os::fd::{AsFd, AsRawFd};

/// Our own group.
pub(crate) fn own() -> i32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getpgrp() }
}

/// The group of a process, `None` when it is gone.
pub(crate) fn of(pid: i32) -> Option<i32> {
    // SAFETY: a number in, a number out.
    let group = unsafe { libc::getpgid(pid) };
    (group >= 0).then_some(group)
}

/// The session of a process, `None` when it is gone.
#[cfg(target_os = "linux")]
pub(crate) fn session_of(pid: i32) -> Option<i32> {
    // SAFETY: a number in, a number out.
    let session = unsafe { libc::getsid(pid) };
    (session >= 0).then_some(session)
}

/// Whether we lead our session.
#[cfg(target_os = "linux")]
pub(crate) fn leads_session() -> bool {
    // SAFETY: numbers in, numbers out.
    unsafe { libc::getsid(0) == libc::getpid() }
}

/// The group that a terminal talks to, `None` when it is not ours to ask.
pub(crate) fn foreground(terminal: impl AsFd) -> Option<i32> {
    // SAFETY: the descriptor is open while we hold it.
    let group = unsafe { libc::tcgetpgrp(terminal.as_fd().as_raw_fd()) };
    (group >= 0).then_some(group)
}

/// Whether a terminal talks to our group.
pub fn in_foreground(terminal: impl AsFd) -> bool {
    foreground(terminal) == Some(own())
}

/// Whether a terminal talks to another group than ours: a job in the
/// background. A terminal that controls nobody has none.
pub fn in_background(terminal: impl AsFd) -> bool {
    foreground(terminal).is_some_and(|group| group != own())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_group_is_the_group_of_our_process() {
        let pid = i32::try_from(std::process::id()).expect("a pid");
        assert_eq!(of(pid), Some(own()));
        assert_eq!(of(i32::MAX), None);
    }

    #[test]
    fn what_is_no_terminal_talks_to_nobody() {
        let file = std::fs::File::open("/dev/null").expect("the null device");
        assert_eq!(foreground(&file), None);
        assert!(!in_foreground(&file));
        assert!(!in_background(&file));
    }
}
