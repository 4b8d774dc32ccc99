//! The lock of a run: whoever holds it drives the run.
//!
//! It is an OS lock on an open file, so it goes with its holder, however that
//! ends. What the file says is for people; the lock alone decides. A process
//! that forks without exec must take it after the fork: the child would hold
//! it too. Programs that are started do not inherit it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use aye_core::id::RunId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Home, StoreError, home};

/// Who holds a lock, for those who would like to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockInfo {
    /// The operating system's user.
    pub user: String,
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// What it was called with.
    pub command: String,
    /// Since when.
    pub since: Timestamp,
}

/// Somebody else drives the run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("run `{run}` is driven by {}", describe(info.as_ref()))]
pub struct Held {
    /// The run.
    pub run: RunId,
    /// Who; unknown in the moment between locking and writing it down.
    pub info: Option<LockInfo>,
}

fn describe(info: Option<&LockInfo>) -> String {
    match info {
        Some(info) => format!(
            "`{}` on `{}` (process {}, `{}`) since {}",
            info.user, info.host, info.pid, info.command, info.since
        ),
        None => "another process".to_owned(),
    }
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error(transparent)]
    Held(#[from] Held),
    /// The lock file cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LockError {
    /// What somebody can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Held(_) => "watch it with `aye watch`, or answer and cancel from here",
            Self::Store(error) => error.hint(),
        }
    }
}

/// Held while a run is driven; given back when dropped.
#[derive(Debug)]
pub struct RunLock {
    file: File,
    path: PathBuf,
}

/// Looking at a lock takes it for some microseconds, so one refusal is not
/// believed.
const TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(1);

impl RunLock {
    /// Takes the lock of `run`, or says who has it.
    pub fn acquire(home: &Home, run: &RunId, holder: &LockInfo) -> Result<Self, LockError> {
        let text = serde_json::to_string(holder).unwrap_or_default();
        Self::take(home, run, &text)
    }

    /// Takes the lock for a moment, to clear a run away.
    pub(super) fn acquire_briefly(home: &Home, run: &RunId) -> Result<Self, LockError> {
        Self::take(home, run, "")
    }

    fn take(home: &Home, run: &RunId, text: &str) -> Result<Self, LockError> {
        let path = home.lock(run);
        let failed = |error: io::Error| LockError::Store(StoreError::io(&path, &error));
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
                        let info = read_info(&mut file);
                        let run = run.clone();
                        return Err(Held { run, info }.into());
                    }
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    /// The run that one of these processes drives, if one does.
    pub fn run_of(home: &Home, processes: &[i32]) -> Option<RunId> {
        let drives = |held: &Held| {
            let pid = held.info.as_ref().and_then(|info| i32::try_from(info.pid).ok());
            pid.is_some_and(|pid| processes.contains(&pid))
        };
        let runs = home.locked_runs().into_iter();
        runs.filter_map(|run| Self::holder(home, &run).ok().flatten()).find(drives).map(|h| h.run)
    }

    /// Who drives `run` now, if anybody does.
    pub fn holder(home: &Home, run: &RunId) -> Result<Option<Held>, StoreError> {
        let path = home.lock(run);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path, &error)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => {
                Ok(Some(Held { run: run.clone(), info: read_info(&mut file) }))
            }
            Err(TryLockError::Error(error)) => Err(StoreError::io(&path, &error)),
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Removed while still locked, so that nobody else's can be meant.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
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

fn read_info(file: &mut File) -> Option<LockInfo> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
