//! What this user has agreed to, by project. One file, below `AYE_HOME`.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use aye_core::text::Verbatim;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ownership::is_ours;
use crate::private_file;
use crate::settings::{FILE, PolicySettings};

use super::power::Power;

/// The agreements about one project.
#[derive(Debug, Clone)]
pub struct TrustFile {
    path: PathBuf,
    root: PathBuf,
}

/// The file, by project.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// Directories that are trusted.
    #[serde(default)]
    projects: BTreeMap<String, Trusted>,
    /// What was agreed to in them, by what it is.
    #[serde(default)]
    agreements: BTreeMap<String, BTreeMap<String, Agreement>>,
    /// Servers by name, as earlier versions wrote them.
    #[serde(default, skip_serializing)]
    tools: BTreeMap<String, BTreeMap<String, Agreement>>,
}

/// A directory that the user trusts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// Since when.
    pub at: Timestamp,
    /// Whose it was then, and whose its `aye.toml`: another owner, another project.
    owner: u32,
    settings_owner: Option<u32>,
}

/// An agreement to a [`Power`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    digest: String,
    /// How it looked, to show what has changed.
    #[serde(alias = "command")]
    shown: String,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<KeptPolicy>,
}

impl Agreement {
    /// How it looked, line by line.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptPolicy {
    allow: Vec<Vec<String>>,
    workspace_only: bool,
    check_shell_values: bool,
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

/// What holds for one project.
#[derive(Debug, Clone, Default)]
pub struct Agreements {
    /// The directory is trusted, and still belongs to whom it belonged to.
    pub trusted: bool,
    all: BTreeMap<String, Agreement>,
}

impl Agreements {
    /// Whether exactly this was agreed to.
    pub fn holds(&self, power: &Power) -> bool {
        self.of(&power.what).is_some_and(|agreed| agreed.digest == power.digest)
    }

    /// What was agreed to in this place, whatever stands there now.
    pub fn of(&self, what: &str) -> Option<&Agreement> {
        self.all.get(what)
    }

    /// The policy that was agreed to.
    pub(super) fn policy(&self) -> Option<PolicySettings> {
        let kept = self.of("policy")?.policy.as_ref()?;
        let verbatim =
            if kept.check_shell_values { Verbatim::PlainWord } else { Verbatim::Anything };
        let (allow, workspace_only) = (kept.allow.clone(), kept.workspace_only);
        Some(PolicySettings { allow, workspace_only, verbatim })
    }
}

impl TrustFile {
    /// The agreements for the project at `root`, the directory of `aye.toml`.
    pub fn new(home: &Path, root: &Path) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        Self { path: home.join("trust.json"), root }
    }

    /// The project: its real path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What holds for the project now.
    ///
    /// # Errors
    /// When the file cannot be read, or is another user's.
    pub fn read(&self) -> Result<Agreements, TrustError> {
        let mut kept = self.load()?;
        let key = self.key();
        let trusted = kept.projects.get(&key).is_some_and(|trusted| {
            owners(&self.root).is_some_and(|(owner, settings)| {
                let same = |now: u32, then: Option<u32>| is_ours(now) || then == Some(now);
                same(owner, Some(trusted.owner))
                    && settings.iter().all(|now| same(*now, trusted.settings_owner))
            })
        });
        Ok(Agreements { trusted, all: kept.agreements.remove(&key).unwrap_or_default() })
    }

    /// Notes that the directory is trusted, and every power of it as it is now;
    /// what was agreed to and is not there any more is forgotten.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn trust(&self, powers: &[Power], at: Timestamp) -> Result<(), TrustError> {
        let Some((owner, settings)) = owners(&self.root) else {
            let message = format!("`{}` is not a directory with a UTF-8 path", self.root.display());
            return Err(TrustError { path: self.path.clone(), message });
        };
        let settings_owner = settings.last().copied();
        self.change(|kept| {
            kept.projects.insert(self.key(), Trusted { at, owner, settings_owner });
            let all = powers.iter().map(|power| (power.what.clone(), agreement(power, at)));
            kept.agreements.insert(self.key(), all.collect());
        })
    }

    /// Notes one agreement; it replaces the one before.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn agree(&self, power: &Power, at: Timestamp) -> Result<(), TrustError> {
        self.change(|kept| {
            let all = kept.agreements.entry(self.key()).or_default();
            all.insert(power.what.clone(), agreement(power, at));
        })
    }

    /// Takes an agreement back; whether there was one.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn withdraw(&self, what: &str) -> Result<bool, TrustError> {
        let mut had = false;
        self.change(|kept| {
            let all = kept.agreements.get_mut(&self.key());
            had = all.is_some_and(|all| all.remove(what).is_some());
        })?;
        Ok(had)
    }

    /// Takes back the directory and everything in it; whether there was anything.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn remove(&self) -> Result<bool, TrustError> {
        let mut had = false;
        self.change(|kept| {
            let trusted = kept.projects.remove(&self.key()).is_some();
            let agreed = kept.agreements.remove(&self.key());
            had = trusted || agreed.is_some_and(|all| !all.is_empty());
        })?;
        Ok(had)
    }

    /// Every trusted directory.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn all(&self) -> Result<BTreeMap<String, Trusted>, TrustError> {
        Ok(self.load()?.projects)
    }

    fn key(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    fn load(&self) -> Result<Kept, TrustError> {
        let read = private_file::read(&self.path).map_err(|error| self.unusable(&error))?;
        let Some(text) = read else { return Ok(Kept::default()) };
        let mut kept: Kept = serde_json::from_str(&text).map_err(|error| self.unusable(&error))?;
        for (root, servers) in std::mem::take(&mut kept.tools) {
            let all = kept.agreements.entry(root).or_default();
            for (name, agreement) in servers {
                all.entry(Power::server(&name)).or_insert(agreement);
            }
        }
        Ok(kept)
    }

    /// Reads, changes and writes under a lock: two terminals lose nothing.
    fn change(&self, change: impl FnOnce(&mut Kept)) -> Result<(), TrustError> {
        let failed = |error: std::io::Error| self.unusable(&error);
        let _lock = private_file::lock(&self.path).map_err(failed)?;
        let mut kept = self.load()?;
        change(&mut kept);
        let text = serde_json::to_string_pretty(&kept).unwrap_or_default();
        private_file::write(&self.path, text.as_bytes()).map_err(failed)
    }

    fn unusable(&self, error: &dyn std::fmt::Display) -> TrustError {
        TrustError { path: self.path.clone(), message: error.to_string() }
    }
}

fn agreement(power: &Power, at: Timestamp) -> Agreement {
    let policy = power.policy.as_ref().map(|policy| KeptPolicy {
        allow: policy.allow.clone(),
        workspace_only: policy.workspace_only,
        check_shell_values: policy.verbatim == Verbatim::PlainWord,
    });
    Agreement { digest: power.digest.clone(), shown: power.shown.join("\n"), at, policy }
}

/// Whose a directory is, and whose its settings are: a link to them, then they
/// themselves. Nothing for a path that the file could not tell from another.
fn owners(root: &Path) -> Option<(u32, Vec<u32>)> {
    let owner = root.metadata().ok().filter(|_| root.to_str().is_some())?.uid();
    let file = root.join(FILE);
    let settings = [file.symlink_metadata(), file.metadata()];
    Some((owner, settings.into_iter().flatten().map(|about| about.uid()).collect()))
}

impl From<TrustError> for crate::error::Error {
    fn from(error: TrustError) -> Self {
        Self::Refused {
            message: error.to_string(),
            hint: Some("remove the file to be asked again".to_owned()),
        }
    }
}
