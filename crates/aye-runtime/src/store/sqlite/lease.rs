//! Leases: a lock on a file, and an epoch in the row of the run.
//!
//! The lock is an OS lock on an open file, so it goes with its holder, however that
//! ends. What the file says is for people; the lock alone decides. A process
//! that forks without exec must take it after the fork: the child would hold
//! it too. Programs that are started do not inherit it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use aye_core::id::RunId;

use super::{Home, SqliteStore, append, home};
use crate::store::{Held, Holder, Lease, LeaseError, Leases, StoreError};

/// Takes the lease: the lock, then the next epoch. A run that has not started
/// has no row to count in; the append that starts it claims epoch 1.
impl Leases for SqliteStore {
    fn acquire(&mut self, run: &RunId, holder: &Holder) -> Result<Lease, LeaseError> {
        let lock = RunLock::acquire(&self.home, run, holder)?;
        let started = append::epoch(&self.db, run).map_err(|error| self.failed(&error))?;
        let epoch = match started {
            None => 1,
            Some(_) => self.commit(|change| {
                let mut next = change.prepare_cached(
                    "UPDATE runs SET epoch = epoch + 1 WHERE id = ?1 RETURNING epoch",
                )?;
                Ok(next.query_row([run.as_str()], |row| row.get(0))?)
            })?,
        };
        Ok(Lease::new(run.clone(), epoch, lock))
    }

    fn holder(&self, run: &RunId) -> Result<Option<Held>, StoreError> {
        RunLock::holder(&self.home, run)
    }

    fn held(&self) -> Result<Vec<Held>, StoreError> {
        all_held(&self.home)
    }
}

/// Held while a run is driven; given back when dropped.
#[derive(Debug)]
pub(super) struct RunLock {
    file: File,
    path: PathBuf,
}

/// Looking at a lock takes it for some microseconds, so one refusal is not
/// believed.
const TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(1);

impl RunLock {
    /// Takes the lock of `run`, or says who has it.
    pub(super) fn acquire(home: &Home, run: &RunId, holder: &Holder) -> Result<Self, LeaseError> {
        let text = serde_json::to_string(holder).unwrap_or_default();
        Self::take(home, run, &text)
    }

    /// Takes the lock for a moment, to clear a run away.
    pub(super) fn acquire_briefly(home: &Home, run: &RunId) -> Result<Self, LeaseError> {
        Self::take(home, run, "")
    }

    fn take(home: &Home, run: &RunId, text: &str) -> Result<Self, LeaseError> {
        let path = home.lock(run);
        let failed = |error: io::Error| LeaseError::Store(StoreError::io(&path, &error));
        let mut tries = 0;
        loop {
            let mut file = open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path).map_err(failed)? => {
                    file.set_len(0)
                        .and_then(|()| file.write_all(text.as_bytes()))
                        .map_err(failed)?;
                    return Ok(Self { file, path });
                }
                // Its last holder removed it in the meantime: ours is a ghost.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    tries += 1;
                    if tries == TRIES {
                        let holder = read_holder(&mut file);
                        let run = run.clone();
                        return Err(Held { run, holder }.into());
                    }
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    /// Who drives `run` now, if a process does.
    pub(super) fn holder(home: &Home, run: &RunId) -> Result<Option<Held>, StoreError> {
        let path = home.lock(run);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path, &error)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => {
                Ok(Some(Held { run: run.clone(), holder: read_holder(&mut file) }))
            }
            Err(TryLockError::Error(error)) => Err(StoreError::io(&path, &error)),
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Removed while still locked, and only if it is still ours: someone who
        // took the file away may have let another holder in.
        if is_at(&self.file, &self.path).unwrap_or(false) {
            let _ = std::fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
    }
}

/// Every run that is driven now, and by whom.
pub(super) fn all_held(home: &Home) -> Result<Vec<Held>, StoreError> {
    let held = home.locked_runs().into_iter().map(|run| RunLock::holder(home, &run));
    held.filter_map(Result::transpose).collect()
}

fn open(path: &Path) -> io::Result<File> {
    let attempt = || {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
    };
    match (attempt(), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            home::create_private(parent)?;
            attempt()
        }
        (result, _) => result,
    }
}

/// Whether `path` still leads to `file`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok(there.ino() == ours.ino() && there.dev() == ours.dev()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
