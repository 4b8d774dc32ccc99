//! `aye.toml`: looked for upwards from the working directory.

mod advisor;
mod heal;
mod mcp;
mod tool_args;
mod tools;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aye_core::diagnostic::{self, Diagnostic, Source};
use aye_core::heal::HealRule;
use aye_core::skill::Span;
use aye_core::text::Verbatim;
use aye_process::policy::Policy;
use serde::Deserialize;
use toml::Spanned;

use crate::error::Error;
use crate::store::Durability;

pub use advisor::AdvisorSettings;
pub use mcp::McpSettings;
pub use tools::{CommandSettings, OutputKind, Reach, ServerSettings, ToolSettings, is_loopback};

/// The name of the file.
pub const FILE: &str = "aye.toml";

/// How long finished runs are kept where a project does not say.
pub const DEFAULT_KEEP: Duration = Duration::from_secs(30 * 86_400);

/// More than anybody writes by hand.
const LARGEST: u64 = 1 << 20;

/// What a project sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The directory of `aye.toml`, or the working directory.
    pub root: PathBuf,
    /// Directories with skills.
    pub skills: Vec<PathBuf>,
    /// What an acknowledged step survives.
    pub durability: Durability,
    /// Names that nobody defined are empty in skills that do not say.
    pub lenient: bool,
    /// The time-out of a step that names none.
    pub step_timeout: Option<Duration>,
    /// How long finished runs are kept; `None` is for ever.
    pub keep: Option<Duration>,
    /// How long a step that is to end may go on before it is killed.
    pub grace: Duration,
    /// How many processes may run at once.
    pub max_processes: usize,
    /// What steps may run.
    pub policy: PolicySettings,
    /// MCP servers and commands with a name.
    pub tools: ToolSettings,
    /// Who advises whoever is asked.
    pub advisor: Option<AdvisorSettings>,
    /// What repairs errors that are known.
    pub heal: Arc<[HealRule]>,
    /// What assistants may do, and how long.
    pub mcp: McpSettings,
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
    tools: BTreeMap<Spanned<String>, tools::ToolSection>,
    advisor: Option<Spanned<advisor::AdvisorSection>>,
    heal: Option<Spanned<Vec<serde_json::Value>>>,
    mcp: mcp::McpSection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RunSection {
    step_timeout: Option<Spanned<String>>,
    grace: Option<Spanned<String>>,
    max_processes: Option<Spanned<usize>>,
    undefined: UndefinedWord,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UndefinedWord {
    #[default]
    Strict,
    Lenient,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct JournalSection {
    durability: Option<DurabilityWord>,
    keep: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PolicySection {
    allow: Option<Spanned<Vec<String>>>,
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
        // Whatever is there, a link that leads nowhere too: settings that cannot be
        // read must not be taken for none.
        let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
        let Some(path) = directory.ancestors().map(|dir| dir.join(FILE)).find(is_there) else {
            return Self::from_file(directory.to_path_buf(), File::default())
                .map_err(|found| Error::Settings(found.message));
        };
        let failed = |source| Error::File { doing: "read", path: path.clone(), source };
        let about = std::fs::metadata(&path).map_err(failed)?;
        if !about.is_file() || about.len() > LARGEST {
            let shown = path.display();
            let problem = if about.is_file() { "is too large" } else { "is not a file" };
            return Err(Error::Settings(format!("`{shown}` {problem}")));
        }
        if is_planted(&path).map_err(failed)? {
            let shown = path.display();
            return Err(Error::Settings(format!(
                "`{shown}` is somebody else's, and everybody may write to its directory"
            )));
        }
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        let bad = |found: &Diagnostic| Error::Settings(placed(found, &path, directory, &text));
        let file: File = toml::from_str(&text).map_err(|error| bad(&unreadable(&error)))?;
        let root = path.parent().unwrap_or(directory).to_path_buf();
        Self::from_file(root, file).map_err(|found| bad(&found))
    }

    fn from_file(root: PathBuf, file: File) -> Result<Self, Diagnostic> {
        let read = |text: Option<Spanned<String>>, default: u64| match text {
            None => Ok(Some(Duration::from_secs(default))),
            Some(text) => match aye_core::skill::parse_duration(text.get_ref()) {
                Ok(limit) if limit.is_zero() => Ok(None),
                Ok(limit) => Ok(Some(limit)),
                Err(error) => Err(Diagnostic::error("settings", error.to_string())
                    .label(span(text.span()), "write `30s`, `5m` or `1h30m`")),
            },
        };
        let skills = file
            .skills
            .unwrap_or_else(|| vec![".aye/skills".into(), "skills".into()])
            .into_iter()
            .map(|dir| root.join(dir))
            .collect();
        let max_processes = match &file.run.max_processes {
            None => aye_process::slots::DEFAULT_LIMIT,
            Some(count) if *count.get_ref() == 0 => {
                let message = "`max_processes` is 0: nothing could run";
                return Err(Diagnostic::error("settings", message)
                    .label(span(count.span()), "give 1 or more"));
            }
            Some(count) => *count.get_ref(),
        };
        Ok(Self {
            policy: file.policy.read(&root)?,
            tools: ToolSettings::read(&root, file.tools)?,
            advisor: AdvisorSettings::read(&root, file.advisor)?,
            heal: heal::read(file.heal)?,
            mcp: file.mcp.read()?,
            max_processes,
            skills,
            root,
            durability: match file.journal.durability {
                Some(DurabilityWord::Process) => Durability::Process,
                Some(DurabilityWord::Power) | None => Durability::Power,
            },
            lenient: file.run.undefined == UndefinedWord::Lenient,
            step_timeout: read(file.run.step_timeout, 120)?,
            // None at all is asked for with 0: killed at once.
            grace: read(file.run.grace, aye_process::DEFAULT_GRACE.as_secs())?.unwrap_or_default(),
            keep: read(file.journal.keep, DEFAULT_KEEP.as_secs())?,
        })
    }
}

/// Whether anybody could have put the file there: settings name programs that
/// are run, and `/tmp` is above many a working directory.
fn is_planted(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let ours = [0, rustix::process::geteuid().as_raw()];
    let strange =
        !ours.contains(&path.symlink_metadata()?.uid()) || !ours.contains(&path.metadata()?.uid());
    let directory = path.parent().unwrap_or(path).metadata()?;
    Ok(strange && directory.mode() & 0o002 != 0)
}

fn span(range: std::ops::Range<usize>) -> Span {
    Span { start: range.start, end: range.end }
}

/// What the reader of TOML says, in our words.
fn unreadable(error: &toml::de::Error) -> Diagnostic {
    let message = error.message().replace("unknown field", "unknown key");
    let found = Diagnostic::error("settings", message);
    match error.span() {
        Some(range) => found.label(span(range), ""),
        None => found,
    }
}

/// The message with the place it is about; who prints it says that it is an error.
fn placed(found: &Diagnostic, path: &Path, directory: &Path, text: &str) -> String {
    let name = path.strip_prefix(directory).unwrap_or(path).to_string_lossy().into_owned();
    let shown = diagnostic::render(found, &Source::new(&name, text), false);
    shown.trim_end().trim_start_matches("error[settings]: ").to_owned()
}

impl PolicySection {
    fn read(self, root: &Path) -> Result<PolicySettings, Diagnostic> {
        let place = self.allow.as_ref().map(Spanned::span).unwrap_or_default();
        let allow = match self.allow.map(Spanned::into_inner) {
            None => Vec::new(),
            // Nobody who writes it means "everything".
            Some(list) if list.is_empty() || list.iter().any(String::is_empty) => {
                let message = "`allow` names no program; leave it out to allow all";
                return Err(Diagnostic::error("settings", message)
                    .label(span(place), "name the programs that may run"));
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
