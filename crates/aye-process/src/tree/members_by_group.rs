//! The processes of a step where the system has no subreapers: its process
//! group, without those that have left it.

use std::os::fd::BorrowedFd;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The processes that are left of a group whose leader is gone.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) pid: i32,
    pub(crate) group: i32,
}

impl Member {
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.group) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// There is nothing to watch; the caller looks again and again.
    pub(crate) fn handle(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Which step is meant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root {
    #[expect(dead_code, reason = "strays cannot be told apart here")]
    pub(crate) token: u64,
    pub(crate) leader: i32,
    pub(crate) leader_lives: bool,
}

/// There are no orphans of ours here.
pub(crate) fn reap_strays() {}

/// The rest of the group, as one.
pub(crate) fn members(root: Root, _: &mut dyn FnMut(&libc::rusage)) -> Vec<Member> {
    let group = Pid::from_raw(root.leader).filter(|_| !root.leader_lives);
    let left = group.is_some_and(|group| test_kill_process_group(group).is_ok());
    if left { vec![Member { pid: root.leader, group: root.leader }] } else { Vec::new() }
}

/// Those who have left the group are unknown here.
pub(crate) fn below(_: i32) -> Vec<Member> {
    Vec::new()
}

/// Unknown here.
pub(crate) fn name(_: i32) -> Option<String> {
    None
}

/// Unknown here.
pub(crate) fn is_stopped(_: i32) -> bool {
    false
}
