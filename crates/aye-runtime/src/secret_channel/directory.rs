//! The directory of the sockets, and how one is addressed there.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use aye_core::id::RunId;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::ChannelError;

/// Below the home.
const NAME: &str = "sockets";

/// The longest path that every system takes as the address of a socket.
const LONGEST: usize = 103;

/// A directory that only this account can reach, held open.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    open: OwnedFd,
}

impl Directory {
    /// Opens it; makes it first where it is not there.
    pub(super) fn make(home: &Path) -> Result<Self, ChannelError> {
        let path = home.join(NAME);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unusable(path, format!("cannot be made: {error}"))),
        }
        Self::open(path)
    }

    /// Opens it; without one nobody listens.
    pub(super) fn find(home: &Path) -> Result<Self, ChannelError> {
        Self::open(home.join(NAME))
    }

    fn open(path: PathBuf) -> Result<Self, ChannelError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(open) => open,
            Err(Errno::NOENT) => return Err(ChannelError::NotListening),
            // A link, whatever it leads to: who made it reads what is sent there.
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err(unusable(path, "is not a directory".to_owned()));
            }
            Err(error) => return Err(unusable(path, format!("cannot be opened: {error}"))),
        };
        let found = rustix::fs::fstat(&open)
            .map_err(|error| unusable(path.clone(), format!("cannot be checked: {error}")))?;
        if found.st_uid != geteuid().as_raw() {
            return Err(unusable(path, "belongs to another account".to_owned()));
        }
        if found.st_mode & 0o077 != 0 {
            return Err(unusable(path, "is open to other accounts".to_owned()));
        }
        Ok(Self { path, open })
    }

    /// Where a socket of this name is, short enough for the system.
    pub(super) fn address(&self, name: &str) -> Result<PathBuf, ChannelError> {
        let path = self.path.join(name);
        if path.as_os_str().as_bytes().len() <= LONGEST {
            return Ok(path);
        }
        let through = PathBuf::from(format!("/proc/self/fd/{}", self.open.as_raw_fd()));
        if cfg!(target_os = "linux") && through.exists() {
            return Ok(through.join(name));
        }
        let problem = format!("is too long a path for a socket: at most {LONGEST} bytes");
        Err(unusable(path, problem))
    }

    /// The names in it.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }
}

/// What the socket of a run's driver is called.
pub(super) fn name(run: &RunId) -> String {
    format!("{run}.sock")
}

fn unusable(path: PathBuf, problem: String) -> ChannelError {
    ChannelError::Directory { path, problem }
}
