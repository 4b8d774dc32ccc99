//! The port for what memory is kept in: named texts that one writer at a time
//! changes.
//!
//! Adapters: [`FileDocuments`], the default; [`InMemoryDocuments`], for tests and
//! hosts that keep memory elsewhere. Both pass the contract in
//! `tests/it/memory_contract.rs`, and so must any other.
//!
//! Touches nothing itself; the file adapter touches the files below one
//! directory. `MemoryFile` reads the texts.

mod files;
mod in_memory;

use std::fmt::Debug;
use std::path::PathBuf;

pub use files::FileDocuments;
pub use in_memory::InMemoryDocuments;

use super::error::MemoryError;

/// The documents of one memory. A name is a relative path: `learned/fixes.yaml`.
pub trait Documents: Debug + Send + Sync {
    /// What a document holds now.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn read(&self, name: &str) -> Result<Content, MemoryError>;

    /// Which state of a document this is; nothing if there is none. Cheap: every
    /// step asks.
    fn version(&self, name: &str) -> Option<Version>;

    /// Replaces a document by what `make` makes of its content; nothing is written
    /// where that is nothing. Other writers of this memory wait meanwhile, and
    /// readers see the old text or the new one.
    ///
    /// # Errors
    /// Those of `make`, and when it cannot be written: it is then as it was.
    fn change(&self, name: &str, make: Make<'_>) -> Result<(), MemoryError>;

    /// Whether a document may be written at all.
    ///
    /// # Errors
    /// When it may not, with why.
    fn may_change(&self, name: &str) -> Result<(), MemoryError>;

    /// Whether anyone has made this memory.
    fn exists(&self) -> bool;

    /// The names of all documents, sorted.
    fn names(&self) -> Vec<String>;

    /// Where people find a document.
    fn place(&self, name: &str) -> PathBuf;
}

/// Makes a new text of what a document holds.
pub type Make<'a> = Box<dyn FnOnce(Content) -> Result<Option<String>, MemoryError> + 'a>;

/// What a document holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There is no such document.
    Absent,
    /// Its text.
    Text(String),
    /// So many bytes, more than Aye reads.
    TooLarge(u64),
}

/// A state of a document: the next one is not equal to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub [u64; 4]);
