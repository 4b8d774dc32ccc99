//! Documents as files below a directory.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aye_core::yaml::MAX_BYTES;
use rustix::fs::OFlags;

use super::{Content, Documents, Make, Version};
use crate::memory::error::MemoryError;
use crate::replace::{draft_of, link_below};

/// How long another writer is waited for. A change takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// Who holds it may write.
const LOCK: &str = ".lock";
/// The pauses between tries: short where one other writes, longer in a crowd, which would
/// otherwise take the processor from the one that holds the lock.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The files below a directory.
#[derive(Debug, Clone)]
pub struct FileDocuments {
    directory: PathBuf,
    /// Others who work on the project may read it; what is the user's own,
    /// nobody else.
    shared: bool,
}

impl FileDocuments {
    /// The memory of a project: everyone who works on it may read it, and links
    /// in it are not written through.
    pub fn shared(directory: PathBuf) -> Self {
        Self { directory, shared: true }
    }

    /// The memory of this user.
    pub fn private(directory: PathBuf) -> Self {
        Self { directory, shared: false }
    }

    fn file_mode(&self) -> u32 {
        if self.shared { 0o666 } else { 0o600 }
    }

    fn create_directory(&self) -> io::Result<()> {
        let mode = if self.shared { 0o777 } else { 0o700 };
        DirBuilder::new().recursive(true).mode(mode).create(&self.directory)?;
        // Where the directory is shared, these are not.
        let _ = fs::write(self.directory.join(".gitignore"), ".lock\n*.new\n/.gitignore\n");
        Ok(())
    }

    /// Held while the memory is written: an OS lock, so it goes with its holder.
    fn lock(&self) -> Result<File, MemoryError> {
        let path = self.directory.join(LOCK);
        let failed = |error: io::Error| MemoryError::io("write", &path, error);
        if !self.exists() {
            self.create_directory().map_err(failed)?;
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(self.file_mode())
            // A project brings its own files: a pipe here would be waited for without an end.
            .custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed())
            .open(&path)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(not_regular()));
        }
        let give_up = Instant::now() + PATIENCE;
        let mut pause = FIRST_PAUSE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(MemoryError::Busy { path }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}

impl Documents for FileDocuments {
    fn read(&self, name: &str) -> Result<Content, MemoryError> {
        // What a link of the project leads to was not declared by any skill.
        if name.starts_with("state/") {
            self.may_change(name)?;
        }
        let path = self.place(name);
        content(&path).map_err(|error| MemoryError::io("read", &path, error))
    }

    fn version(&self, name: &str) -> Option<Version> {
        let file = fs::metadata(self.place(name)).ok()?;
        let changed = [file.mtime(), file.mtime_nsec()].map(i64::cast_unsigned);
        Some(Version([file.ino(), file.size(), changed[0], changed[1]]))
    }

    fn change(&self, name: &str, make: Make<'_>) -> Result<(), MemoryError> {
        self.may_change(name)?;
        let _lock = self.lock()?;
        if let Some(text) = make(self.read(name)?)? {
            let path = self.place(name);
            crate::replace::replace(&path, &text, self.file_mode())
                .map_err(|error| MemoryError::io("write", &path, error))?;
        }
        Ok(())
    }

    /// A project's memory comes with the project, links in it too: what they
    /// lead to is not the project's.
    fn may_change(&self, name: &str) -> Result<(), MemoryError> {
        if !self.shared {
            return Ok(());
        }
        let path = self.place(name);
        let project = self.directory.ancestors().nth(2).unwrap_or(&self.directory);
        for path in [draft_of(&path), path, self.directory.join(LOCK)] {
            if let Some((path, target)) = link_below(project, &path) {
                return Err(MemoryError::Linked { path, target });
            }
        }
        Ok(())
    }

    fn exists(&self) -> bool {
        self.directory.is_dir()
    }

    fn names(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.directory, &self.directory, &mut found);
        found.sort();
        found
    }

    fn place(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

fn content(path: &Path) -> io::Result<Content> {
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::Absent),
        Err(error) => return Err(error),
    };
    // A pipe would be waited for.
    if !about.is_file() {
        return Err(not_regular());
    }
    // What is too large need not be read to be refused.
    if about.len() > MAX_BYTES as u64 {
        return Ok(Content::TooLarge(about.len()));
    }
    let mut text = Vec::new();
    // It may grow meanwhile.
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut text)?;
    let text = String::from_utf8(text)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(Content::Text(text))
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

fn walk(root: &Path, directory: &Path, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        // Not through links: they may lead anywhere, also back here.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let name = path.strip_prefix(root).unwrap_or(&path);
            found.push(name.to_string_lossy().into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_not_read() {
        let place = tempfile::tempdir().expect("a directory");
        // Takes no room on the disk, and more memory than there is.
        let path = place.path().join("huge.yaml");
        File::create(&path).and_then(|file| file.set_len(1 << 42)).expect("a file with a hole");
        let documents = FileDocuments::private(place.path().to_path_buf());
        assert_eq!(documents.read("huge.yaml").expect("read"), Content::TooLarge(1 << 42));
    }
}
