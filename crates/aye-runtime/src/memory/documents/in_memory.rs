//! Documents in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Content, Documents, Make, Version};
use crate::memory::error::MemoryError;

/// Documents that go with the process. Clones are handles of the same ones.
#[derive(Debug, Clone, Default)]
pub struct InMemoryDocuments {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    documents: BTreeMap<String, (u64, String)>,
    writes: u64,
}

impl InMemoryDocuments {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn content(&self, name: &str) -> Content {
        let found = self.documents.get(name);
        found.map_or(Content::Absent, |(_, text)| Content::Text(text.clone()))
    }
}

impl Documents for InMemoryDocuments {
    fn read(&self, name: &str) -> Result<Content, MemoryError> {
        Ok(self.kept().content(name))
    }

    fn version(&self, name: &str) -> Option<Version> {
        let kept = self.kept();
        kept.documents.get(name).map(|(write, _)| Version([*write, 0, 0, 0]))
    }

    fn change(&self, name: &str, make: Make<'_>) -> Result<(), MemoryError> {
        let mut kept = self.kept();
        if let Some(text) = make(kept.content(name))? {
            kept.writes += 1;
            let write = kept.writes;
            kept.documents.insert(name.to_owned(), (write, text));
        }
        Ok(())
    }

    fn may_change(&self, _name: &str) -> Result<(), MemoryError> {
        Ok(())
    }

    fn exists(&self) -> bool {
        !self.kept().documents.is_empty()
    }

    fn names(&self) -> Vec<String> {
        self.kept().documents.keys().cloned().collect()
    }

    fn place(&self, name: &str) -> PathBuf {
        PathBuf::from(name)
    }
}
