//! The port of wake-ups: hearing that there is news. A wake-up carries no news
//! itself; a process that hears it reads the journal. One may be lost, so
//! listeners also look from time to time, say each second.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use aye_core::id::RunId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::StoreError;

/// Wakes processes that wait for news.
pub trait Wake {
    /// Hears of every append and request from now on, from any process.
    fn listen(&self) -> Result<Listener, StoreError>;

    /// Hears of requests to a run and to those inside it: what its driver waits
    /// for, whose own appends would wake it with every step. It may hear of those
    /// to other runs as well, and hears when a name becomes free.
    fn listen_for_requests(&self, run: &RunId) -> Result<Listener, StoreError>;

    /// Wakes all listeners. An append does it by itself.
    fn notify(&mut self);
}

/// What an adapter hears with. Its descriptor becomes readable with news.
pub trait Watch: AsFd + fmt::Debug + Send {
    /// Forgets the news so far: makes the descriptor quiet.
    fn drain(&mut self) -> io::Result<()>;
}

/// Hears news. Its descriptor becomes readable when there is some, so it can
/// be waited for together with others; [`drain`](Self::drain) makes it quiet.
#[derive(Debug)]
pub struct Listener {
    watch: Box<dyn Watch>,
}

impl Listener {
    /// A listener that hears with `watch`.
    pub fn new(watch: impl Watch + 'static) -> Self {
        Self { watch: Box::new(watch) }
    }

    /// Forgets the news so far. Drain first, then look: the other way round
    /// what comes in between is lost.
    pub fn drain(&mut self) -> Result<(), StoreError> {
        self.watch.drain().map_err(StoreError::Listen)
    }

    /// Waits for news, at most for `limit`; says whether there was some, and
    /// drains.
    pub fn wait(&mut self, limit: Duration) -> Result<bool, StoreError> {
        let news = self.poll(limit).map_err(StoreError::Listen)?;
        if news {
            self.drain()?;
        }
        Ok(news)
    }

    fn poll(&self, limit: Duration) -> io::Result<bool> {
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(self, PollFlags::IN)], Some(&limit)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}
