//! `aye.toml`: looked for upwards from the working directory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use aye_core::text::Verbatim;
use aye_process::policy::Policy;
use serde::Deserialize;

use crate::error::Error;
use crate::store::Durability;

/// The name of the file.
pub const FILE: &str = "aye.toml";

/// What a project sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The directory of `aye.toml`, or the working directory.
    pub root: PathBuf,
    /// Directories with skills.
    pub skills: Vec<PathBuf>,
    /// What an acknowledged step survives.
    pub durability: Durability,
    /// The time-out of a step that names none.
    pub step_timeout: Option<Duration>,
    /// How long finished runs are kept; `None` is for ever.
    pub keep: Option<Duration>,
    /// How many processes may run at once.
    pub max_processes: usize,
    /// What steps may run.
    pub policy: PolicySettings,
}

/// `[policy]`: off unless the project asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicySettings {
    /// The programs that may run; empty allows all.
    pub allow: Vec<String>,
    /// Steps work inside the workspace only.
    pub workspace_only: bool,
    /// What `{{ x | safe }}` may put into a `shell:` script.
    pub verbatim: Verbatim,
}

impl PolicySettings {
    /// What it means for a run in this workspace.
    pub fn for_run(&self, workspace: &Path) -> Policy {
        Policy {
            allow: self.allow.clone(),
            workspace: self.workspace_only.then(|| workspace.to_path_buf()),
        }
    }
}

/// The file as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    skills: Option<Vec<PathBuf>>,
    run: RunSection,
    journal: JournalSection,
    policy: PolicySection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RunSection {
    step_timeout: Option<String>,
    max_processes: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct JournalSection {
    durability: Option<DurabilityWord>,
    keep: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PolicySection {
    allow: Option<Vec<String>>,
    workspace_only: bool,
    check_shell_values: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DurabilityWord {
    Power,
    Process,
}

impl Settings {
    /// Finds and reads the file; without one, the defaults.
    pub fn load(directory: &Path) -> Result<Self, Error> {
        let found = directory.ancestors().map(|dir| dir.join(FILE)).find(|path| path.is_file());
        let Some(path) = found else {
            return Self::from_file(directory.to_path_buf(), File::default());
        };
        let text = std::fs::read_to_string(&path).map_err(|source| Error::File {
            doing: "read",
            path: path.clone(),
            source,
        })?;
        let bad = |message: String| Error::Settings { path: path.clone(), message };
        let file: File = toml::from_str(&text).map_err(|error| bad(error.to_string()))?;
        let root = path.parent().unwrap_or(directory).to_path_buf();
        Self::from_file(root, file).map_err(|error| bad(error.to_string()))
    }

    fn from_file(root: PathBuf, file: File) -> Result<Self, Error> {
        let read = |text: Option<String>, default: u64| match text {
            None => Ok(Some(Duration::from_secs(default))),
            Some(text) => match aye_core::skill::parse_duration(&text) {
                Ok(limit) if limit.is_zero() => Ok(None),
                Ok(limit) => Ok(Some(limit)),
                Err(error) => Err(Error::usage(error.to_string(), "write `30s`, `5m` or `1h30m`")),
            },
        };
        let skills = file
            .skills
            .unwrap_or_else(|| vec![".aye/skills".into(), "skills".into()])
            .into_iter()
            .map(|dir| root.join(dir))
            .collect();
        let max_processes = file.run.max_processes.unwrap_or(aye_process::slots::DEFAULT_LIMIT);
        if max_processes == 0 {
            return Err(Error::usage("`max_processes` is 0: nothing could run", "give 1 or more"));
        }
        Ok(Self {
            policy: file.policy.read(&root)?,
            max_processes,
            skills,
            root,
            durability: match file.journal.durability {
                Some(DurabilityWord::Process) => Durability::Process,
                Some(DurabilityWord::Power) | None => Durability::Power,
            },
            step_timeout: read(file.run.step_timeout, 120)?,
            keep: read(file.journal.keep, 30 * 86_400)?,
        })
    }
}

impl PolicySection {
    fn read(self, root: &Path) -> Result<PolicySettings, Error> {
        let allow = match self.allow {
            None => Vec::new(),
            // Nobody who writes it means "everything".
            Some(list) if list.is_empty() || list.iter().any(String::is_empty) => {
                return Err(Error::usage(
                    "`allow` names no program; leave it out to allow all",
                    "name the programs that may run",
                ));
            }
            Some(list) => list.into_iter().map(|entry| anchored(entry, root)).collect(),
        };
        Ok(PolicySettings {
            allow,
            workspace_only: self.workspace_only,
            verbatim: if self.check_shell_values {
                Verbatim::PlainWord
            } else {
                Verbatim::Anything
            },
        })
    }
}

/// An entry like `./tool` means the file below the project's directory.
fn anchored(entry: String, root: &Path) -> String {
    if entry.starts_with('/') || !entry.contains('/') {
        return entry;
    }
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let below = entry.trim_start_matches("./");
    root.join(below).to_string_lossy().into_owned()
}
