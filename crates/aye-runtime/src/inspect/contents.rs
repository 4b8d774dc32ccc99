//! The SHA-256 of files. A large program is read once, not at every question.

use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aye_core::digest::hex;
use sha2::{Digest as _, Sha256};

/// A file that changed so recently may change again without its times showing it.
const SETTLED: Duration = Duration::from_secs(2);
/// A file up to this size is read each time: a mapping changes contents and no times.
const SMALL: u64 = 1024 * 1024;

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
    /// Opens a regular file; nothing else: who writes to a pipe would take us for its reader.
    pub(super) fn open(path: &Path) -> Option<Self> {
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        // It may have become one since.
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
        let settled =
            metadata.len() > SMALL && now.duration_since(changed).is_ok_and(|age| age > SETTLED);
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
    Some(hex(&hash.finalize()))
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
    fn what_changes_without_its_times_showing_it_is_read_again() {
        use std::io::{BufRead as _, BufReader, Write as _};
        use std::process::{Command, Stdio};

        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("tool");
        std::fs::write(&path, "one").expect("written");
        // Once a mapping was written to, the kernel notices no more writes until it saves the page.
        let script = "import mmap, sys\n\
            file = open(sys.argv[1], 'r+b'); view = mmap.mmap(file.fileno(), 0)\n\
            for text in [b'one', b'two']:\n\
            \x20 view[:] = text; print('written', flush=True); sys.stdin.readline()";
        let mut writer = Command::new("python3")
            .args(["-c", script])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut said = BufReader::new(writer.stdout.take().expect("its output")).lines();
        let mut asked = writer.stdin.take().expect("its input");
        said.next().expect("a line").expect("read");
        let mut contents = Contents::default();
        let found = || Found::open(&path).expect("a file");
        let later = SystemTime::now() + 10 * SETTLED;
        let one = contents.digest(found(), later).expect("a digest");
        let before = identity(&found().metadata);
        asked.write_all(b"\n").expect("asked");
        said.next().expect("a line").expect("read");
        assert_eq!(identity(&found().metadata), before, "its times do not show it");
        assert_ne!(contents.digest(found(), later).expect("a digest"), one);
        asked.write_all(b"\n").expect("asked");
        assert!(writer.wait().expect("its end").success());
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
            .expect("a pipe");
        assert!(Found::open(&path).is_none());
        // Who would write to it still waits for a reader.
        let writer = OpenOptions::new()
            .write(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
            .open(&path);
        assert!(writer.is_err_and(|error| error.raw_os_error() == Some(6)), "ENXIO");
        assert!(Found::open(dir.path()).is_none());
    }
}
