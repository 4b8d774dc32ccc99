//! What was read, until its file changes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::documents::{Documents, Version};
use super::error::Problem;
use super::memory_file::MemoryFile;
use super::query::{Layer, Placed};

type List<T> = Arc<Vec<Placed<T>>>;

/// The entries of files of one kind. Looking costs one `stat` while nothing
/// changes.
#[derive(Debug)]
pub(super) struct Cache<T> {
    read: Mutex<HashMap<PathBuf, (Version, List<T>)>>,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self { read: Mutex::default() }
    }
}

impl<T> Cache<T> {
    /// The entries of a file; none if it is not there.
    pub(super) fn get(
        &self,
        layer: Layer,
        documents: &dyn Documents,
        name: &str,
        entries: impl FnOnce(&MemoryFile, &mut Vec<Problem>) -> Vec<(usize, T)>,
        problems: &mut Vec<Problem>,
    ) -> List<T> {
        let Some(version) = documents.version(name) else { return Arc::default() };
        let path = documents.place(name);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, list)) = read.get(&path)
            && *known == version
        {
            return Arc::clone(list);
        }
        let list = match MemoryFile::read(documents, name) {
            Ok(file) => {
                problems.extend(file.faults());
                entries(&file, problems)
            }
            Err(error) => {
                let (file, line) = (path.clone(), 1);
                problems.push(Problem { file, line, message: error.to_string() });
                Vec::new()
            }
        };
        let place = |(line, value)| Placed { layer, file: path.clone(), line, value };
        let list: List<T> = Arc::new(list.into_iter().map(place).collect());
        read.insert(path, (version, Arc::clone(&list)));
        list
    }
}
