//! What can go wrong with memory.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::pattern::BadPattern;

/// Something in a file that is passed over; everything else works.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Problem {
    /// Which file.
    pub file: PathBuf,
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.message)
    }
}

/// Why something was not remembered or not found.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// A file cannot be read or written.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    File {
        /// `read` or `write`.
        doing: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file makes no sense, so it is not written either.
    #[error("{0}")]
    Unreadable(Problem),
    /// Another process kept the lock for too long.
    #[error("`{}` stayed locked by another process", path.display())]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// It may not or cannot be remembered.
    #[error("{message}")]
    Refused {
        /// Why.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Memory has it, word for word.
    #[error("`{pattern}` is known already")]
    Known {
        /// What it is recognised by.
        pattern: String,
        /// Where it stands.
        place: String,
    },
    /// A project's file or directory leads elsewhere.
    #[error(
        "`{}` is a symbolic link to `{}`, and a project's memory follows no links",
        path.display(), target.display()
    )]
    Linked {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A name stands for several entries.
    #[error("`{name}` stands for several: {}", names.join(", "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// What it could mean.
        names: Vec<String>,
    },
    /// It is not what was shown any more.
    #[error("`{0}` was changed or removed while it was looked at")]
    Changed(String),
    /// There is no such entry.
    #[error("memory has no `{0}`")]
    NotFound(String),
    /// The pattern cannot be used.
    #[error(transparent)]
    Pattern(#[from] BadPattern),
}

impl MemoryError {
    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { doing, path: path.to_path_buf(), source }
    }

    pub(super) fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { message: message.into(), hint: hint.into() }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File { .. } => None,
            Self::Unreadable(_) => Some("correct the file; it is not changed until then".into()),
            Self::Busy { .. } => Some("try again; `fuser` names who holds the file".into()),
            Self::Refused { hint, .. } => Some(hint.clone()),
            Self::Known { place, .. } => Some(format!("change it at {place}")),
            Self::Linked { path, .. } => Some(format!(
                "remove the link with `rm {}`, or keep it in your own memory with \
                 `aye memory learn --everywhere`",
                crate::fmt::shell_word(&path.to_string_lossy())
            )),
            Self::Changed(_) => Some("look at it again: `aye memory list fixes`".into()),
            Self::Ambiguous { .. } => Some("write more letters of the name".into()),
            Self::NotFound(_) => Some("`aye memory list` shows what there is".into()),
            Self::Pattern(_) => {
                Some("write words of the error, or `/a regular expression/`".into())
            }
        }
    }
}

impl From<MemoryError> for crate::error::Error {
    fn from(error: MemoryError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        match error {
            MemoryError::File { doing, path, source } => Self::File { doing, path, source },
            MemoryError::NotFound(_) | MemoryError::Changed(_) => Self::NotFound { message, hint },
            MemoryError::Pattern(_) | MemoryError::Ambiguous { .. } => {
                Self::Usage { message, hint }
            }
            MemoryError::Unreadable(_)
            | MemoryError::Busy { .. }
            | MemoryError::Linked { .. }
            | MemoryError::Known { .. }
            | MemoryError::Refused { .. } => Self::Refused { message, hint },
        }
    }
}
