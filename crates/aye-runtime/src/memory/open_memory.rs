//! The port that opens memory: the only place that knows what the memories of a
//! runtime are kept in.
//!
//! Adapters: [`MemoryFiles`], the default; [`InMemory`], for tests and hosts that
//! keep nothing on disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::documents::InMemoryDocuments;
use super::memory::Memory;

/// Opens the memory of a project.
pub trait OpenMemory: std::fmt::Debug + Send + Sync {
    /// The memory of the project at this directory, over that of the user with
    /// this home. Nothing is touched before something is looked up.
    fn open(&self, project_root: &Path, home: &Path) -> Memory;
}

/// The default: files in the project and below the home.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryFiles;

impl OpenMemory for MemoryFiles {
    fn open(&self, project_root: &Path, home: &Path) -> Memory {
        Memory::open(Some(project_root), &home.join("memory"))
    }
}

/// Memories that go with the process: one for each project, and one for the user,
/// whatever the home. Clones are handles of the same ones.
#[derive(Debug, Clone, Default)]
pub struct InMemory {
    projects: Arc<Mutex<HashMap<PathBuf, InMemoryDocuments>>>,
    user: InMemoryDocuments,
}

impl OpenMemory for InMemory {
    fn open(&self, project_root: &Path, _: &Path) -> Memory {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let project = projects.entry(project_root.to_path_buf()).or_default().clone();
        Memory::over(Some((project_root, Arc::new(project))), Arc::new(self.user.clone()))
    }
}
