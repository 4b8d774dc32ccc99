//! The outside as templates see it: environment, workspace, git.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aye_core::text::{Expressions, MEMORY, MEMORY_ERROR, Names};
use serde_json::{Value, json};

use crate::compute::PythonExpressions;
use crate::memory::{Memory, StateKey, query_state};

/// Git's own files of this kind hold one path or name.
const LARGEST: u64 = 8 * 1024;

/// Looks names up when a template uses them, each at most once.
#[derive(Debug, Default)]
pub struct Outside {
    env: Arc<BTreeMap<String, String>>,
    workspace: PathBuf,
    today: String,
    git: OnceLock<Git>,
    memory: Option<Memory>,
}

/// What a repository says of itself.
#[derive(Debug, Default)]
struct Git {
    branch: Option<String>,
    worktree: Option<String>,
}

impl Outside {
    /// The outside of a run in `workspace`.
    pub fn new(env: Arc<BTreeMap<String, String>>, workspace: PathBuf, today: String) -> Self {
        Self { env, workspace, today, git: OnceLock::new(), memory: None }
    }

    /// The same, with work memory.
    pub fn with_memory(self, memory: Memory) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// What `memory.read` or `memory.query` gives; an error is data here.
    fn remembered(&self, name: &str) -> Option<Value> {
        let (key, query) = match name.split_once('?') {
            Some((key, query)) => (key, Some(query)),
            None => (name, None),
        };
        let found = || -> Result<Option<Value>, String> {
            let key = StateKey::parse(key)?;
            let Some(memory) = &self.memory else { return Ok(None) };
            let value = memory.state(&key).map_err(|error| error.to_string())?;
            match query {
                Some(query) => Ok(Some(Value::Array(query_state(&value, query)?))),
                None => Ok(Some(value).filter(|value| !value.is_null())),
            }
        };
        found().unwrap_or_else(|error| Some(json!({ MEMORY_ERROR: error })))
    }

    fn git(&self) -> &Git {
        self.git.get_or_init(|| read_git(&self.workspace).unwrap_or_default())
    }
}

impl Names for Outside {
    fn env(&self, name: &str) -> Option<String> {
        // What carries a secret to Aye is not for templates either.
        self.env.get(name).filter(|_| !aye_process::CARRIERS.contains(&name)).cloned()
    }

    fn look_up(&self, name: &str) -> Option<Value> {
        if let Some(name) = name.strip_prefix(MEMORY) {
            return self.remembered(name);
        }
        let text = match name {
            "branch" => self.git().branch.clone()?,
            "worktree" => self.git().worktree.clone()?,
            "workspace" => base_name(&self.workspace)?,
            "today" => self.today.clone(),
            _ => return None,
        };
        Some(Value::String(text))
    }

    fn expressions(&self) -> Option<&dyn Expressions> {
        Some(&PythonExpressions)
    }
}

fn base_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// Reads what is needed from the repository's files: no git process, and none
/// of its hooks or configuration.
fn read_git(workspace: &Path) -> Option<Git> {
    let (root, dot_git) = workspace.ancestors().find_map(|dir| {
        let dot_git = dir.join(".git");
        dot_git.exists().then(|| (dir.to_path_buf(), dot_git))
    })?;
    // In a linked worktree `.git` is a file that names the real directory.
    let git_dir = if dot_git.is_dir() {
        dot_git
    } else {
        root.join(read_short(&dot_git)?.trim().strip_prefix("gitdir:")?.trim())
    };
    let head = read_short(&git_dir.join("HEAD"))?;
    let head = head.trim();
    let branch = match head.strip_prefix("ref:") {
        Some(name) => name.trim().strip_prefix("refs/heads/").unwrap_or(name.trim()).to_owned(),
        // Detached: a short commit is what people know it by.
        None => head.chars().take(7).collect(),
    };
    Some(Git { branch: Some(branch), worktree: base_name(&root) })
}

/// A small file. What is not a file, or larger than git would write it, is none: a
/// pipe would be waited for.
fn read_short(path: &Path) -> Option<String> {
    let waits_for_nobody = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(waits_for_nobody).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= LARGEST).then_some(text)
}
