//! Length and SHA-256 of the files of a log, so that a later change shows.
//!
//! Most logs are short: they are read back once, when the child has ended. The
//! bytes of a long one usually go from the pipe to the file without passing
//! through us, and hashing takes longer than moving them. So a thread follows
//! the file while it grows, on whatever core is free.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use sha2::{Digest as _, Sha256};

use super::compress::Source;

/// From here on a thread follows the file. Less is hashed in about half a
/// millisecond.
const LONG: u64 = 1024 * 1024;

/// Bytes hashed at once.
const CHUNK: usize = 256 * 1024;

/// The files of a log; `None` for one that there is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogDigest {
    /// What came from standard output.
    pub stdout: Option<FileDigest>,
    /// What came from standard error.
    pub stderr: Option<FileDigest>,
    /// How the two were interleaved.
    pub order: Option<FileDigest>,
}

/// The uncompressed bytes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDigest {
    /// How many there are.
    pub bytes: u64,
    /// Their digest.
    pub sha256: [u8; 32],
}

impl FileDigest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, sha256: Sha256::digest(bytes).into() }
    }

    /// Reads a file of a log, compressed or not; `None` if there is none. It reads at most one
    /// byte more than `most`: whatever was put in its place, that is enough to see that it is
    /// too long.
    ///
    /// # Errors
    /// When the file is not a plain file, cannot be read or cannot be decompressed.
    pub fn read(path: &Path, most: u64) -> io::Result<Option<Self>> {
        let mut source = Source::default();
        if !source.open(path)? {
            return Ok(None);
        }
        let mut hash = Sha256::new();
        let mut buffer = vec![0; CHUNK];
        let mut bytes = 0;
        while bytes <= most {
            let left = usize::try_from(most.saturating_add(1) - bytes).unwrap_or(usize::MAX);
            let read = source.read(path, &mut buffer[..left.min(CHUNK)])?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            bytes += read as u64;
        }
        Ok(Some(Self { bytes, sha256: hash.finalize().into() }))
    }
}

/// Makes the digest of a file while it grows.
#[derive(Debug, Default)]
pub(super) struct Digester {
    follower: Option<Follower>,
    /// There was no thread to be had: the file is read at the end.
    refused: bool,
}

impl Digester {
    /// The file has so many bytes now.
    pub(super) fn grew(&mut self, file: &File, bytes: u64) {
        if bytes < LONG || self.refused {
            return;
        }
        match &self.follower {
            Some(follower) => follower.go_to(bytes),
            None => {
                self.follower = Follower::start(file).ok();
                self.refused = self.follower.is_none();
            }
        }
    }

    /// The digest of the whole file.
    pub(super) fn finish(self, file: &File, bytes: u64) -> io::Result<FileDigest> {
        let sha256 = match self.follower {
            Some(follower) => follower.finish(bytes)?,
            None => {
                let mut hash = Sha256::new();
                hash_up_to(file, &mut hash, &mut 0, bytes)?;
                hash.finalize().into()
            }
        };
        Ok(FileDigest { bytes, sha256 })
    }
}

#[derive(Debug)]
struct Follower {
    send: Sender<u64>,
    thread: JoinHandle<io::Result<[u8; 32]>>,
}

impl Follower {
    fn start(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        let (send, receive) = channel();
        let thread = std::thread::Builder::new()
            .name("digest".to_owned())
            .spawn(move || follow(&file, &receive))?;
        Ok(Self { send, thread })
    }

    fn go_to(&self, bytes: u64) {
        // A thread that has ended has failed, and says so at the end.
        let _ = self.send.send(bytes);
    }

    fn finish(self, bytes: u64) -> io::Result<[u8; 32]> {
        self.go_to(bytes);
        drop(self.send);
        self.thread.join().map_err(|_| io::Error::other("the thread panicked"))?
    }
}

fn follow(file: &File, lengths: &Receiver<u64>) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut at = 0;
    for length in lengths {
        hash_up_to(file, &mut hash, &mut at, length)?;
    }
    Ok(hash.finalize().into())
}

fn hash_up_to(file: &File, hash: &mut Sha256, at: &mut u64, end: u64) -> io::Result<()> {
    let left = usize::try_from(end.saturating_sub(*at)).unwrap_or(usize::MAX);
    let mut buffer = vec![0; left.min(CHUNK)];
    while *at < end {
        let most = usize::try_from(end - *at).unwrap_or(usize::MAX).min(buffer.len());
        match file.read_at(&mut buffer[..most], *at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                hash.update(&buffer[..read]);
                *at += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
