//! Where things are: the home directory and the paths in it.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use aye_core::id::RunId;

use crate::store::{Logs, PlainLogs, StoreError, logs};

/// How many wake-up files requests have.
const REQUEST_NOTIFIERS: u32 = 64;

/// A home directory; it need not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The home at `root`, made absolute so that a later change of the working
    /// directory does not move it.
    pub fn new(root: &Path) -> Self {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        Self { root }
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The database.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal.db")
    }

    /// The file that is written to with every append.
    pub fn notifier(&self) -> PathBuf {
        self.root.join("bell")
    }

    /// The file that is written to with a request to a run. A run shares it with few
    /// others: with one for all, a request would wake every driver.
    pub fn request_notifier(&self, run: &RunId) -> PathBuf {
        let mix = |sum: u32, byte: u8| sum.wrapping_mul(31).wrapping_add(u32::from(byte));
        let sum = run.outermost().as_str().bytes().fold(0, mix);
        self.numbered_notifier(sum % REQUEST_NOTIFIERS)
    }

    /// All of those.
    pub fn request_notifiers(&self) -> impl Iterator<Item = PathBuf> + '_ {
        (0..REQUEST_NOTIFIERS).map(|number| self.numbered_notifier(number))
    }

    fn numbered_notifier(&self, number: u32) -> PathBuf {
        self.root.join("bells").join(number.to_string())
    }

    /// The lock of a run.
    pub fn lock(&self, run: &RunId) -> PathBuf {
        self.root.join("locks").join(format!("{run}.lock"))
    }

    /// The runs whose locks are there, held or not.
    pub(super) fn locked_runs(&self) -> Vec<RunId> {
        let files = std::fs::read_dir(self.root.join("locks")).into_iter().flatten().flatten();
        let run = |file: std::fs::DirEntry| {
            let name = file.file_name().into_string().ok()?;
            RunId::new(name.strip_suffix(".lock")?.to_owned()).ok()
        };
        files.filter_map(run).collect()
    }

    /// The directory of a run's step logs; pruned with the run.
    pub fn logs(&self, run: &RunId) -> PathBuf {
        self.all_logs().join(run.as_str())
    }

    fn all_logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Makes the home, for its owner alone.
    pub(super) fn create(&self) -> Result<(), StoreError> {
        if self.root.is_dir() {
            return Ok(());
        }
        create_private(&self.root)
            .map_err(|source| StoreError::Home { path: self.root.clone(), source })?;
        // A directory entry survives a power loss only once its parent is
        // synced. Not every file system can: the journal works without.
        if let Some(parent) = self.root.parent() {
            let _ = File::open(parent).and_then(|directory| directory.sync_all());
        }
        Ok(())
    }
}

impl Logs for Home {
    fn log(&self, run: &RunId, execution: u32, step: &str) -> PathBuf {
        self.logs(run).join(logs::file_name(execution, step))
    }

    fn create_logs(&self, run: &RunId) -> Result<PathBuf, StoreError> {
        let path = self.logs(run);
        create_private(&path).map_err(|error| StoreError::io(&path, &error))?;
        Ok(path)
    }

    fn plain_logs(&self) -> PlainLogs {
        PlainLogs::below(self.all_logs())
    }
}

/// Makes a directory and those above it, for their owner alone.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
