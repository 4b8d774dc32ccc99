//! The texts of skills, by their content: a run is resumed with the text it
//! was started with, whatever became of the file.

use aye_core::digest::digest;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::change::Failure;
use super::{Store, StoreError};

/// The text of a skill file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Digest of the text: `SkillStarted::source`.
    pub digest: String,
    /// Where the file was.
    pub file: String,
    /// What was in it.
    pub text: String,
}

impl Source {
    /// A text with its digest.
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { digest: digest(&[text.as_bytes()]), file: file.into(), text }
    }

    pub(super) fn check(&self) -> Result<(), StoreError> {
        if digest(&[self.text.as_bytes()]) == self.digest {
            Ok(())
        } else {
            Err(StoreError::Source { file: self.file.clone(), digest: self.digest.clone() })
        }
    }

    pub(super) fn keep(&self, db: &Connection) -> Result<(), Failure> {
        db.prepare_cached(
            "INSERT INTO sources (digest, file, text) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        )?
        .execute(params![self.digest, self.file, self.text])?;
        Ok(())
    }
}

impl Store {
    /// The text with this digest. One that was changed since is an error: a
    /// resumed run would do something that nobody started.
    pub fn source(&self, digest: &str) -> Result<Option<Source>, StoreError> {
        let found = self
            .db
            .prepare_cached("SELECT digest, file, text FROM sources WHERE digest = ?1")
            .and_then(|mut query| {
                query
                    .query_row([digest], |row| {
                        Ok(Source { digest: row.get(0)?, file: row.get(1)?, text: row.get(2)? })
                    })
                    .optional()
            })
            .map_err(|error| self.failed(&error))?;
        if let Some(source) = &found {
            source.check()?;
        }
        Ok(found)
    }
}
