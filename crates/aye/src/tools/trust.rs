//! What this user has agreed to start, by workspace and server.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::launch::Launch;

/// Who decides whether a server may be started.
#[derive(Debug, Clone)]
pub enum Trust {
    /// What was agreed to, and nothing else.
    Book(TrustBook),
    /// Everything: whoever calls has asked already.
    Everything,
}

impl Trust {
    pub(super) fn allows(&self, launch: &Launch) -> Result<bool, TrustError> {
        match self {
            Self::Book(book) => book.holds(launch),
            Self::Everything => Ok(true),
        }
    }
}

/// The agreements of one workspace, kept below `AYE_HOME`.
#[derive(Debug, Clone)]
pub struct TrustBook {
    path: PathBuf,
    workspace: String,
}

/// The file: by workspace, by server.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    tools: BTreeMap<String, BTreeMap<String, Agreement>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Agreement {
    digest: String,
    /// For people who read the file.
    command: String,
    at: Timestamp,
}

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use `{}`: {message}", path.display())]
pub struct TrustError {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub message: String,
}

impl TrustBook {
    /// The agreements for the project at `root`, the directory of `aye.toml`.
    pub fn new(home: &Path, root: &Path) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        Self { path: home.join("trust.json"), workspace: root.to_string_lossy().into_owned() }
    }

    /// Whether exactly this was agreed to.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn holds(&self, launch: &Launch) -> Result<bool, TrustError> {
        let kept = self.load()?;
        let agreed = kept.tools.get(&self.workspace).and_then(|all| all.get(&launch.server));
        Ok(agreed.is_some_and(|agreement| agreement.digest == launch.digest))
    }

    /// Whether something else was agreed to for this server.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn differs(&self, launch: &Launch) -> Result<bool, TrustError> {
        let kept = self.load()?;
        let agreed = kept.tools.get(&self.workspace).and_then(|all| all.get(&launch.server));
        Ok(agreed.is_some_and(|agreement| agreement.digest != launch.digest))
    }

    /// Notes an agreement; it replaces the one before.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn agree(&self, launch: &Launch, at: Timestamp) -> Result<(), TrustError> {
        let agreement =
            Agreement { digest: launch.digest.clone(), command: launch.command_line(), at };
        self.change(|servers| {
            servers.insert(launch.server.clone(), agreement);
        })
    }

    /// Takes an agreement back; whether there was one.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn withdraw(&self, server: &str) -> Result<bool, TrustError> {
        let mut had = false;
        self.change(|servers| had = servers.remove(server).is_some())?;
        Ok(had)
    }

    fn load(&self) -> Result<Kept, TrustError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| self.unusable(&error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Kept::default()),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// Reads, changes and writes under a lock: two terminals lose nothing.
    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, Agreement>),
    ) -> Result<(), TrustError> {
        let failed = |error: std::io::Error| self.unusable(&error);
        let directory = self.path.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        let open = |path: &Path, truncate: bool| {
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(truncate).mode(0o600).open(path)
        };
        let lock = open(&self.path.with_extension("lock"), false).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut kept = self.load()?;
        change(kept.tools.entry(self.workspace.clone()).or_default());
        let text = serde_json::to_string_pretty(&kept).unwrap_or_default();
        let draft = self.path.with_extension("new");
        let mut file = open(&draft, true).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&draft, &self.path).map_err(failed)
    }

    fn unusable(&self, error: &dyn std::fmt::Display) -> TrustError {
        TrustError { path: self.path.clone(), message: error.to_string() }
    }
}
