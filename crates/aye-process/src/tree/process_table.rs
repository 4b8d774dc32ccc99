//! The table of processes as the kernel shows it, not as a mount can fake it.
//!
//! Anyone can make a mount namespace and put other files over `/proc`, or over
//! parts of it. So we start at the root of a real one that shows this process
//! under its own number, and cross no mount below it. Linux only.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags, fstat, fstatfs, openat, openat2,
    readlinkat, statat,
};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};

use super::ancestry::Processes;
use crate::guard::{ENGINE_NAME, GUARD_NAME};
use crate::system::procfs::{self, Stat};

/// The number of the topmost directory of every `/proc`.
const ROOT: u64 = 1;

pub(crate) struct ProcessTable {
    root: OwnedFd,
    own: i32,
}

impl ProcessTable {
    /// Nothing where there is none that can be relied on.
    pub(crate) fn open() -> Option<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, "/proc", flags, Mode::empty()).ok()?;
        if fstatfs(&root).ok()?.f_type != PROC_SUPER_MAGIC || fstat(&root).ok()?.st_ino != ROOT {
            return None;
        }
        let table = Self { root, own: getpid().as_raw_nonzero().get() };
        // One of another process namespace has other numbers.
        (table.link("self")? == table.own.to_string()).then_some(table)
    }

    fn find(&self, path: &str, flags: OFlags) -> Option<OwnedFd> {
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_XDEV | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), within).ok()
    }

    /// Where a link points to.
    pub(crate) fn link(&self, path: &str) -> Option<String> {
        let link = self.find(path, OFlags::PATH | OFlags::NOFOLLOW)?;
        readlinkat(&link, "", Vec::new()).ok()?.into_string().ok()
    }

    /// What a file says.
    pub(crate) fn text(&self, path: &str) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        File::from(self.find(path, OFlags::RDONLY)?).read_to_end(&mut text).ok()?;
        Some(text)
    }

    /// The file that a process runs.
    fn program(&self, pid: i32) -> Option<(u64, u64)> {
        // Nothing is put over the link itself.
        self.link(&format!("{pid}/exe"))?;
        let file = statat(&self.root, format!("{pid}/exe"), AtFlags::empty()).ok()?;
        Some((file.st_dev, file.st_ino))
    }
}

impl Processes for ProcessTable {
    type Handle = OwnedFd;

    fn stat(&self, pid: i32) -> Option<Stat> {
        procfs::parse_stat(&self.text(&format!("{pid}/stat"))?)
    }

    fn is_runner(&self, pid: i32) -> Option<bool> {
        let name = self.text(&format!("{pid}/comm"))?;
        let named = [GUARD_NAME, ENGINE_NAME].iter().any(|own| name.trim_ascii() == own.to_bytes());
        let runs_our_file =
            || self.program(self.own).is_some_and(|own| self.program(pid) == Some(own));
        Some(named || runs_our_file())
    }

    fn hold(&self, pid: i32) -> Option<OwnedFd> {
        pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
    }

    fn lives(&self, handle: &OwnedFd) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut one = [PollFd::new(handle, PollFlags::IN)];
        matches!(poll(&mut one, Some(&Timespec::default())), Ok(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_it() {
        let table = ProcessTable::open().expect("there is a /proc");
        let own = getpid().as_raw_nonzero().get();
        assert_eq!(table.stat(own).map(|stat| stat.group), procfs::stat(own).map(|s| s.group));
        assert_eq!(table.is_runner(own), Some(true));
        assert!(table.link("self/ns/pid").is_some_and(|link| link.starts_with("pid:[")));
        let handle = table.hold(own).expect("it is there");
        assert!(table.lives(&handle));
        assert!(table.stat(i32::MAX).is_none() && table.hold(i32::MAX).is_none());
    }
}
