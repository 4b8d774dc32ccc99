//! Hearing by comparing: a thread looks at the file and writes into a pipe.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use crate::store::Watch;

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Polling {
    notices: PipeReader,
    /// Dropped with the watch, which ends the thread.
    _life: Sender<()>,
}

impl Polling {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let (notices, mut writer) = io::pipe()?;
        for end in [notices.as_fd(), writer.as_fd()] {
            rustix::io::ioctl_fionbio(end, true)?;
        }
        let (life, ended) = mpsc::channel::<()>();
        let path = path.to_path_buf();
        let mut seen = look(&path);
        std::thread::Builder::new().name("wake".to_owned()).spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(BETWEEN_LOOKS) {
                seen = report(&path, seen, &mut writer);
            }
        })?;
        Ok(Self { notices, _life: life })
    }
}

impl Watch for Polling {
    fn drain(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match self.notices.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

impl AsFd for Polling {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.notices.as_fd()
    }
}

fn look(path: &PathBuf) -> Option<u64> {
    let mut mark = [0; 8];
    File::open(path).ok()?.read_exact_at(&mut mark, 0).ok()?;
    Some(u64::from_le_bytes(mark))
}

/// A full pipe has woken already, so a failed write is not a loss.
fn report(path: &PathBuf, seen: Option<u64>, writer: &mut PipeWriter) -> Option<u64> {
    let now = look(path);
    if now != seen {
        let _ = writer.write(&[0]);
    }
    now
}
