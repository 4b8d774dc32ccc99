//! Hearing through inotify: one descriptor, no thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

use crate::store::Watch;

#[derive(Debug)]
pub(super) struct Inotify {
    fd: OwnedFd,
    path: PathBuf,
}

impl Inotify {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let watch = Self {
            fd: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            path: path.to_path_buf(),
        };
        watch.add()?;
        Ok(watch)
    }

    /// Watching the same file again changes nothing; a file that was removed
    /// and made anew is watched from then on.
    fn add(&self) -> io::Result<()> {
        inotify::add_watch(&self.fd, &self.path, WatchFlags::MODIFY)?;
        Ok(())
    }
}

impl Watch for Inotify {
    fn drain(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match rustix::io::read(&self.fd, &mut buffer) {
                Ok(0) | Err(Errno::AGAIN) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        match self.add() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl AsFd for Inotify {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
