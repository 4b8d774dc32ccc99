//! The SHA-256 of files. A large program is read once, not at every question.

use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

/// A file that changed so recently may change again without its times showing it.
const SETTLED: Duration = Duration::from_secs(2);

/// What a file is recognised by, as long as nobody writes to it.
type Identity = (u64, u64, u64, i64, i64, i64, i64);

/// What is in files.
#[derive(Debug, Default)]
pub struct Contents {
    known: HashMap<Identity, String>,
}

/// A file that can be read.
pub(super) struct Found {
    file: File,
    pub(super) metadata: Metadata,
}

impl Found {
    /// Opens a regular file; nothing else: a pipe would be waited for.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let waits_for_nobody = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(waits_for_nobody).open(path).ok()?;
        let metadata = file.metadata().ok()?;
        metadata.is_file().then_some(Self { file, metadata })
    }

    /// Whether it says which program reads it.
    pub(super) fn is_script(&self) -> bool {
        use std::os::unix::fs::FileExt as _;
        let mut start = [0; 2];
        self.file.read_exact_at(&mut start, 0).is_ok() && start == *b"#!"
    }

    pub(super) fn is_executable(&self) -> bool {
        self.metadata.mode() & 0o111 != 0
    }
}

impl Contents {
    /// The digest of a file's contents.
    pub(super) fn digest(&mut self, found: Found, now: SystemTime) -> Option<String> {
        let identity = identity(&found.metadata);
        if let Some(known) = self.known.get(&identity) {
            return Some(known.clone());
        }
        let Found { mut file, metadata } = found;
        let digest = hash(&mut file)?;
        let changed = UNIX_EPOCH + Duration::from_secs(metadata.ctime().try_into().unwrap_or(0));
        let settled = now.duration_since(changed).is_ok_and(|age| age > SETTLED);
        // It is kept if nobody wrote to it while it was read.
        if settled && file.metadata().is_ok_and(|after| self::identity(&after) == identity) {
            self.known.insert(identity, digest.clone());
        }
        Some(digest)
    }
}

fn identity(file: &Metadata) -> Identity {
    let (modified, changed) = (file.mtime(), file.ctime());
    (file.dev(), file.ino(), file.size(), modified, file.mtime_nsec(), changed, file.ctime_nsec())
}

fn hash(file: &mut File) -> Option<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_written_to_a_moment_ago_is_read_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("tool");
        std::fs::write(&path, "one").expect("written");
        let mut contents = Contents::default();
        let mut digest = |now| {
            let found = Found::open(&path).expect("a file");
            contents.digest(found, now).expect("a digest")
        };
        let one = digest(SystemTime::now());
        assert_eq!(one, "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
        // The same length within the same tick of the clock.
        std::fs::write(&path, "two").expect("written");
        assert_ne!(digest(SystemTime::now()), one);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
            .expect("a pipe");
        assert!(Found::open(&path).is_none());
        assert!(Found::open(dir.path()).is_none());
    }
}
