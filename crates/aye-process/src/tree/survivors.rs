//! Processes that a run has left all the same, found by what they carry.
//!
//! A guard and its engine killed in the same moment leave their steps
//! behind. Every child has the run's tag in its environment, so the next
//! start can find them; a journalled [`Identity`] tells whether a pid still means the
//! same process.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::guard::signals::Signal;

/// The variable that carries [`Spec::run`](crate::Spec::run).
pub const RUN_VARIABLE: &str = "AYE_RUN";

/// The variable that says which start of which step a process belongs to: `run/execution`.
pub const STEP_VARIABLE: &str = "AYE_STEP";

/// A process beyond doubt: a pid alone is reused, after a boot at the latest.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The process id.
    pub pid: i32,
    /// When it was started, in clock ticks since boot.
    pub started: u64,
    /// Which boot of the machine.
    pub boot: String,
}

impl Identity {
    /// Whether this very process is still alive.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }
}

/// `pid:started:boot`, for the journal.
impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.pid, self.started, self.boot)
    }
}

/// Text that is not the identity of a process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not `pid:started:boot`")]
pub struct IdentityError(String);

impl FromStr for Identity {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let mut parts = text.splitn(3, ':');
            let pid = parts.next()?.parse().ok()?;
            let started = parts.next()?.parse().ok()?;
            let boot = parts.next()?.to_owned();
            Some(Self { pid, started, boot })
        };
        parse().ok_or_else(|| IdentityError(text.to_owned()))
    }
}

/// A process that an earlier run has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// Which process.
    pub identity: Identity,
    /// Its command line, safe to show.
    pub command: String,
}

/// What came of ending them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ended {
    /// How many could not be ended.
    pub left: usize,
    /// Whether someone wanted us to stop meanwhile.
    pub stop: Option<Signal>,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::{Duration, Ended, Identity, RUN_VARIABLE, STEP_VARIABLE, Survivor};
    use crate::guard::signals::Signals;
    use crate::system::procfs;

    impl Identity {
        /// The process that has this pid now, `None` if there is none alive.
        #[must_use]
        pub fn of(pid: i32) -> Option<Self> {
            let stat = procfs::stat(pid).filter(|stat| !stat.is_zombie())?;
            Some(Self { pid, started: stat.started, boot: procfs::boot_id() })
        }

        /// This process itself.
        #[must_use]
        pub fn own() -> Option<Self> {
            Self::of(rustix::process::getpid().as_raw_nonzero().get())
        }
    }

    /// All processes that carry the tag of a run, except us and our ancestors.
    #[must_use]
    pub fn find(run: &str) -> Vec<Survivor> {
        let entry = format!("{RUN_VARIABLE}={run}").into_bytes();
        let family = ancestors();
        procfs::all()
            .into_iter()
            .filter(|pid| !family.contains(pid) && procfs::environment_holds(*pid, &entry))
            .filter_map(|pid| {
                Some(Survivor { identity: Identity::of(pid)?, command: procfs::command_line(pid) })
            })
            .collect()
    }

    /// The process that leads a step, by its `run/execution`: of those that carry it, the one
    /// whose parent does not.
    #[must_use]
    pub fn leader(step: &str) -> Option<i32> {
        let entry = format!("{STEP_VARIABLE}={step}").into_bytes();
        let mut all = procfs::all();
        all.retain(|pid| procfs::environment_holds(*pid, &entry));
        let leads = |pid: &&i32| {
            let stat = procfs::stat(**pid).filter(|stat| !stat.is_zombie());
            stat.is_some_and(|stat| !all.contains(&stat.parent))
        };
        all.iter().filter(leads).min_by_key(|pid| procfs::stat(**pid).map(|s| s.started)).copied()
    }

    fn ancestors() -> Vec<i32> {
        let mut family = vec![rustix::process::getpid().as_raw_nonzero().get()];
        while let Some(parent) =
            family.last().and_then(|pid| procfs::stat(*pid)).map(|stat| stat.parent)
        {
            if parent == 0 || family.contains(&parent) {
                break;
            }
            family.push(parent);
        }
        family
    }

    /// Ends what [`find`] finds, `SIGTERM` first and `SIGKILL` after the
    /// grace, until nothing is found. A request to stop meanwhile is reported at the end,
    /// and has them killed at once: they are left behind by nobody twice.
    #[must_use]
    pub fn end(run: &str, grace: Duration, signals: &mut Signals) -> Ended {
        let mut kill_at = Instant::now() + grace;
        let mut asked: Vec<Identity> = Vec::new();
        let mut stop = None;
        loop {
            let found = find(run);
            let now = Instant::now();
            if found.is_empty() || now >= kill_at + Duration::from_secs(2) {
                return Ended { left: found.len(), stop };
            }
            let mut handles = Vec::new();
            for survivor in found {
                let Some(handle) = hold(&survivor.identity) else {
                    continue;
                };
                if now >= kill_at {
                    let _ = pidfd_send_signal(&handle, Signal::KILL);
                } else if !asked.contains(&survivor.identity) {
                    let _ = pidfd_send_signal(&handle, Signal::TERM);
                    let _ = pidfd_send_signal(&handle, Signal::CONT);
                    asked.push(survivor.identity);
                }
                handles.push(handle);
            }
            let due = if now < kill_at { kill_at } else { now + Duration::from_millis(20) };
            wait_for_all(&handles, due, signals.fd());
            while let Some(signal) = signals.next() {
                if signal.is_stop() {
                    stop.get_or_insert(signal);
                    kill_at = kill_at.min(Instant::now());
                }
            }
        }
    }

    /// A handle that certainly means this process.
    fn hold(identity: &Identity) -> Option<OwnedFd> {
        let handle = pidfd_open(Pid::from_raw(identity.pid)?, PidfdFlags::empty()).ok()?;
        identity.is_alive().then_some(handle)
    }

    fn wait_for_all(handles: &[OwnedFd], until: Instant, signals: BorrowedFd<'_>) {
        for handle in handles {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            // An interruption only means that we look again sooner.
            let mut both =
                [handle.as_fd(), signals].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
            let _ = poll(&mut both, Some(&timeout));
            if !both[1].revents().is_empty() {
                return;
            }
        }
    }
}

#[cfg(target_os = "linux")]
pub use linux::{end, find, leader};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{Duration, Ended, Identity, Survivor};
    use crate::guard::signals::Signals;

    impl Identity {
        /// Unknown on this platform.
        #[must_use]
        pub fn of(_: i32) -> Option<Self> {
            None
        }

        /// Unknown on this platform.
        #[must_use]
        pub fn own() -> Option<Self> {
            None
        }
    }

    /// Nothing can be found on this platform.
    #[must_use]
    pub fn find(_: &str) -> Vec<Survivor> {
        Vec::new()
    }

    /// Nothing can be found on this platform.
    #[must_use]
    pub fn leader(_: &str) -> Option<i32> {
        None
    }

    /// Nothing can be ended on this platform.
    #[must_use]
    pub fn end(_: &str, _: Duration, _: &mut Signals) -> Ended {
        Ended::default()
    }
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{end, find, leader};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_survives_the_journal() {
        let own = Identity { pid: 12, started: 345, boot: "a-b:c".to_owned() };
        assert_eq!(own.to_string().parse(), Ok(own));
        assert!("12:x:y".parse::<Identity>().is_err());
    }
}
