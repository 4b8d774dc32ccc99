//! The doorbell: a file that is written to when there is news, and a watch on
//! it. It carries no news itself; whoever hears it looks into the journal. A
//! ring may be lost, so listeners also look from time to time, say each second.

#[cfg(target_os = "linux")]
mod inotify;
mod polling;
mod ring;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub use ring::Bell;

/// Hears the bell. Its descriptor becomes readable when it rings, so it can
/// be waited for together with others; [`drain`](Self::drain) makes it quiet.
#[derive(Debug)]
pub struct Listener {
    watcher: Watcher,
}

#[derive(Debug)]
enum Watcher {
    #[cfg(target_os = "linux")]
    Inotify(inotify::Watch),
    Polling(polling::Watch),
}

impl Listener {
    /// Forgets the rings so far. Drain first, then look for news: the other
    /// way round a ring in between is lost.
    pub fn drain(&mut self) -> io::Result<()> {
        match &mut self.watcher {
            #[cfg(target_os = "linux")]
            Watcher::Inotify(watch) => watch.drain(),
            Watcher::Polling(watch) => watch.drain(),
        }
    }

    /// Waits for a ring, at most for `limit`; says whether it rang, and drains.
    pub fn wait(&mut self, limit: Duration) -> io::Result<bool> {
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        let mut fds = [PollFd::new(&*self, PollFlags::IN)];
        let rang = match poll(&mut fds, Some(&limit)) {
            Ok(ready) => ready > 0,
            Err(rustix::io::Errno::INTR) => false,
            Err(error) => return Err(error.into()),
        };
        if rang {
            self.drain()?;
        }
        Ok(rang)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.watcher {
            #[cfg(target_os = "linux")]
            Watcher::Inotify(watch) => watch.as_fd(),
            Watcher::Polling(watch) => watch.as_fd(),
        }
    }
}
