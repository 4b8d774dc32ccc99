//! All processes of a step, wherever they have gone to.
//!
//! We are a subreaper: whatever a step starts stays below us, however often
//! it forks, changes its group or session, or loses its parent. So the tree
//! of a step is its leader with all descendants, plus those of our direct
//! children that nobody here started ("strays") and that belong to the step.
//! A stray is recognised by the token in its environment, else by its group or
//! session. A stray without any of these is claimed by the only running step
//! if we run under a [`guard`]; the guard would end it later
//! in any case. A direct child in our own process group, and one that
//! [`guard::spare`] names, is someone else's business and left alone.

use std::os::fd::{AsFd, OwnedFd};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::slots::{self, TOKEN_VARIABLE, token_value};
use crate::guard;
use crate::system::group;
use crate::system::procfs::{self, Stat};
use crate::system::reap::{self, Children};

/// A process of a step, held so that its number cannot be reused under us.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) pid: i32,
    pub(crate) group: i32,
    handle: Option<OwnedFd>,
}

impl Member {
    pub(crate) fn signal(&self, signal: Signal) {
        // Gone, or not ours to signal: the next scan shows which.
        let _ = match (&self.handle, Pid::from_raw(self.pid)) {
            (Some(handle), _) => pidfd_send_signal(handle, signal),
            (None, Some(pid)) => rustix::process::kill_process(pid, signal),
            (None, None) => Ok(()),
        };
    }

    /// Readable when the process is dead.
    pub(crate) fn handle(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        self.handle.as_ref().map(AsFd::as_fd)
    }
}

/// Which step is meant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root {
    pub(crate) token: u64,
    pub(crate) leader: i32,
    /// The leader has not been waited for.
    pub(crate) leader_lives: bool,
}

/// The living processes of a step except its leader. Dead strays are reaped on
/// the way and reported to `reaped`.
pub(crate) fn members(root: Root, reaped: &mut dyn FnMut(&libc::rusage)) -> Vec<Member> {
    if !root.leader_lives && reap::children() == Children::None {
        return Vec::new();
    }
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut direct = Vec::new();
    procfs::children(own, &mut direct);
    let (leaders, starting) = slots::leaders();
    let mut found = Vec::new();
    if root.leader_lives {
        descend(root.leader, &mut found);
    }
    direct.retain(|pid| *pid != root.leader && !leaders.iter().any(|(_, leader)| leader == pid));
    if direct.is_empty() {
        return found;
    }
    let alone =
        guard::pid() != 0 && !starting && leaders.iter().all(|(token, _)| *token == root.token);
    let own_group = group::own();
    for pid in direct {
        let Some(member) = hold(pid, own) else {
            continue;
        };
        let (member, stat) = member;
        if !belongs(pid, stat, root, &leaders, alone, own_group) {
            continue;
        }
        if stat.is_zombie() {
            if let Some((_, usage)) = reap::try_wait(pid) {
                reaped(&usage);
            }
            continue;
        }
        found.push(member);
        descend(pid, &mut found);
    }
    found
}

/// Waits for orphans that have died while their step continues. Nobody tells us
/// of their end, and a step may make thousands of them.
pub(crate) fn reap_strays() {
    if reap::children() != Children::Dead {
        return;
    }
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let own_group = group::own();
    let (leaders, starting) = slots::leaders();
    let mut direct = Vec::new();
    procfs::children(own, &mut direct);
    for pid in direct {
        if starting || leaders.iter().any(|(_, leader)| *leader == pid) {
            continue;
        }
        // The environment of a dead process is gone, only its group is left.
        let Some(stat) = procfs::stat(pid).filter(|stat| stat.is_zombie()) else {
            continue;
        };
        let known =
            leaders.iter().any(|(_, leader)| stat.group == *leader || stat.session == *leader);
        let stray = guard::pid() != 0 && stat.group != own_group && !guard::is_spared(pid);
        if known || stray {
            let _ = reap::try_wait(pid);
        }
    }
}

fn belongs(
    pid: i32,
    stat: Stat,
    root: Root,
    leaders: &[(u64, i32)],
    alone: bool,
    own_group: i32,
) -> bool {
    let in_tree_of = |leader: i32| stat.group == leader || stat.session == leader;
    if in_tree_of(root.leader) {
        return true;
    }
    // The environment of a zombie is gone; its group is not.
    let prefix = format!("{TOKEN_VARIABLE}=");
    let environment = procfs::environment(pid).unwrap_or_default();
    let token = environment
        .split(|&byte| byte == 0)
        .find_map(|entry| entry.strip_prefix(prefix.as_bytes()))
        .map(<[u8]>::to_vec);
    if let Some(token) = token {
        if token == token_value(root.token).as_bytes() {
            return true;
        }
        if leaders.iter().any(|(other, _)| token == token_value(*other).as_bytes()) {
            return false;
        }
    }
    alone
        && !guard::is_spared(pid)
        && stat.group != own_group
        && !leaders.iter().any(|(_, leader)| *leader != root.leader && in_tree_of(*leader))
}

/// All living descendants of a process that lives itself.
pub(crate) fn below(pid: i32) -> Vec<Member> {
    let mut found = Vec::new();
    descend(pid, &mut found);
    found
}

/// Appends all living descendants.
fn descend(pid: i32, found: &mut Vec<Member>) {
    let mut parents = vec![pid];
    let mut children = Vec::new();
    while let Some(parent) = parents.pop() {
        children.clear();
        procfs::children(parent, &mut children);
        for &child in &children {
            // Even a zombie may have threads' children; a dead one has none.
            if let Some((member, stat)) = hold(child, parent)
                && !stat.is_zombie()
                && !found.iter().any(|known| known.pid == child)
            {
                found.push(member);
                parents.push(child);
            }
        }
    }
}

/// Takes hold of a process and then makes sure that it is still the child of
/// `parent`: a process that had the number before that check is of the same family.
fn hold(pid: i32, parent: i32) -> Option<(Member, Stat)> {
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok();
    let stat = procfs::stat(pid)?;
    let own = rustix::process::getpid().as_raw_nonzero().get();
    // Losing its parent meanwhile makes it ours.
    (stat.parent == parent || stat.parent == own)
        .then_some((Member { pid, group: stat.group, handle }, stat))
}

/// What a process is called.
pub(crate) fn name(pid: i32) -> Option<String> {
    procfs::name(pid)
}

/// Whether a process stands still until someone continues it.
pub(crate) fn is_stopped(pid: i32) -> bool {
    procfs::stat(pid).is_some_and(|stat| stat.state == b'T')
}
