//! Wake-ups: a pipe for every listener.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use super::MemoryStore;
use crate::store::{Listener, StoreError, Wake, Watch};

/// The ends that wake listeners.
#[derive(Debug, Default)]
pub(super) struct Bells {
    all: Vec<PipeWriter>,
    requests: Vec<PipeWriter>,
}

impl Bells {
    pub(super) fn ring(&mut self) {
        ring(&mut self.all);
    }

    pub(super) fn ring_for_request(&mut self) {
        ring(&mut self.all);
        ring(&mut self.requests);
    }
}

/// A full pipe has rung already; one that nobody reads is dropped.
fn ring(bells: &mut Vec<PipeWriter>) {
    bells.retain_mut(|bell| match bell.write(&[0]) {
        Ok(_) => true,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    });
}

impl Wake for MemoryStore {
    fn listen(&self) -> Result<Listener, StoreError> {
        let (reader, writer) = pipe()?;
        self.state().bells.all.push(writer);
        Ok(Listener::new(Ear(reader)))
    }

    fn listen_for_requests(&self) -> Result<Listener, StoreError> {
        let (reader, writer) = pipe()?;
        self.state().bells.requests.push(writer);
        Ok(Listener::new(Ear(reader)))
    }

    fn ring(&mut self) {
        self.state().bells.ring();
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
struct Ear(PipeReader);

impl Watch for Ear {
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

impl AsFd for Ear {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
