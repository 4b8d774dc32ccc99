//! Wake-ups: a pipe for every listener.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use aye_core::id::RunId;

use super::MemoryStore;
use crate::store::{Listener, StoreError, Wake, Watch};

/// The ends that wake listeners.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    all: Vec<PipeWriter>,
    /// By the outermost run.
    requests: Vec<(RunId, PipeWriter)>,
}

impl Listeners {
    pub(super) fn notify(&mut self) {
        self.all.retain_mut(wakes);
    }

    /// Wakes the drivers of these runs, and everyone who listens to everything.
    pub(super) fn notify_of_requests(&mut self, to: impl Fn(&RunId) -> bool) {
        self.notify();
        self.requests.retain_mut(|(run, listener)| !to(run) || wakes(listener));
    }
}

/// A full pipe has woken already; one that nobody reads is dropped.
fn wakes(listener: &mut PipeWriter) -> bool {
    match listener.write_all(&[0]) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}

impl Wake for MemoryStore {
    fn listen(&self) -> Result<Listener, StoreError> {
        let (reader, writer) = pipe()?;
        self.state().listeners.all.push(writer);
        Ok(Listener::new(Watcher(reader)))
    }

    fn listen_for_requests(&self, run: &RunId) -> Result<Listener, StoreError> {
        let (reader, writer) = pipe()?;
        self.state().listeners.requests.push((run.outermost(), writer));
        Ok(Listener::new(Watcher(reader)))
    }

    fn notify(&mut self) {
        self.state().listeners.notify();
    }
}

fn pipe() -> Result<(PipeReader, PipeWriter), StoreError> {
    let (reader, writer) = io::pipe().map_err(StoreError::Listen)?;
    for end in [reader.as_fd(), writer.as_fd()] {
        rustix::io::ioctl_fionbio(end, true).map_err(|error| StoreError::Listen(error.into()))?;
    }
    Ok((reader, writer))
}

#[derive(Debug)]
struct Watcher(PipeReader);

impl Watch for Watcher {
    fn drain(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match self.0.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

impl AsFd for Watcher {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
