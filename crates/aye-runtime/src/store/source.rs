//! The texts of skills, by their content: a run is resumed with the text it
//! was started with, whatever became of the file.

use aye_core::digest::digest;
use aye_core::event::{Event, EventKind};

use super::StoreError;

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

    /// Whether it is the text that a run which begins with `events` runs.
    pub(super) fn check_start(&self, events: &[Event]) -> Result<(), StoreError> {
        self.check()?;
        match events.first().map(|event| &event.kind) {
            Some(EventKind::SkillStarted(started)) if started.source != self.digest => {
                let (file, digest) = (self.file.clone(), started.source.clone());
                Err(StoreError::Source { file, digest })
            }
            _ => Ok(()),
        }
    }

    /// Whether the text still has its digest.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if digest(&[self.text.as_bytes()]) == self.digest {
            Ok(())
        } else {
            Err(StoreError::Source { file: self.file.clone(), digest: self.digest.clone() })
        }
    }
}
