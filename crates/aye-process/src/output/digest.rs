//! Length and BLAKE3 of the files of a log, so that a later change shows.
//!
//! Hashing costs about as much as moving the bytes, so they are hashed while the processor still
//! has them: those that pass through us as they are written, those that the kernel moves from the
//! pipe to the file a piece at a time, read back right after. A short log of the second kind is
//! read back once, when the child has ended.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::compress::Source;

/// So many bytes that did not pass through us are hashed at once: they are still in the cache
/// then, and short logs are read back once.
const BEHIND: u64 = 256 * 1024;

/// Bytes read at once, and where a read ends: BLAKE3 is quickest with whole powers of two.
const CHUNK: usize = 64 * 1024;

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
    /// How they were hashed.
    pub algorithm: Algorithm,
    /// Their digest.
    pub digest: [u8; 32],
}

/// How the bytes of a log are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// What every new log gets.
    Blake3,
    /// What logs got before.
    Sha256,
}

impl FileDigest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::blake3(bytes.len() as u64, blake3::hash(bytes))
    }

    fn blake3(bytes: u64, hash: blake3::Hash) -> Self {
        Self { bytes, algorithm: Algorithm::Blake3, digest: hash.into() }
    }

    /// Reads a file of a log, compressed or not; `None` if there is none. It reads at most one
    /// byte more than `most`: whatever was put in its place, that is enough to see that it is
    /// too long.
    ///
    /// # Errors
    /// When the file is not a plain file, cannot be read or cannot be decompressed.
    pub fn read(path: &Path, most: u64, algorithm: Algorithm) -> io::Result<Option<Self>> {
        let mut source = Source::default();
        if !source.open(path)? {
            return Ok(None);
        }
        let mut hash = Hash::new(algorithm);
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
        Ok(Some(Self { bytes, algorithm, digest: hash.finish() }))
    }
}

/// A digest of either kind, as far as it has come.
enum Hash {
    Blake3(Box<blake3::Hasher>),
    Sha256(Sha256),
}

impl Hash {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Blake3 => Self::Blake3(Box::default()),
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Blake3(hash) => {
                hash.update(bytes);
            }
            Self::Sha256(hash) => hash.update(bytes),
        }
    }

    fn finish(self) -> [u8; 32] {
        match self {
            Self::Blake3(hash) => hash.finalize().into(),
            Self::Sha256(hash) => hash.finalize().into(),
        }
    }
}

/// Makes the digest of a file while it grows.
#[derive(Debug, Default)]
pub(super) struct Digester {
    hash: blake3::Hasher,
    /// How many bytes it has seen.
    seen: u64,
}

impl Digester {
    /// These bytes follow those that are in the file.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.seen += bytes.len() as u64;
    }

    /// The file has so many bytes now, and not all of them came to [`push`](Self::push).
    pub(super) fn grew(&mut self, file: &File, length: u64) -> io::Result<()> {
        if length.saturating_sub(self.seen) < BEHIND {
            return Ok(());
        }
        self.catch_up(file, length)
    }

    /// Hashes the bytes of the file that it has not seen.
    pub(super) fn catch_up(&mut self, file: &File, length: u64) -> io::Result<()> {
        let left = usize::try_from(length.saturating_sub(self.seen)).unwrap_or(usize::MAX);
        let mut buffer = vec![0; left.min(CHUNK)];
        while self.seen < length {
            let to_border = CHUNK as u64 - self.seen % CHUNK as u64;
            let most = usize::try_from(to_border.min(length - self.seen)).unwrap_or(CHUNK);
            let most = most.min(buffer.len());
            match file.read_at(&mut buffer[..most], self.seen) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.push(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The digest of all that it has seen.
    pub(super) fn finish(self) -> FileDigest {
        FileDigest::blake3(self.seen, self.hash.finalize())
    }
}
