//! What someone should hear before a run begins or continues.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fmt::{escape_control_line, plural};
use crate::skills::relative_to;

/// Something that does not stop a run, and that someone should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// What of `aye.toml` does not count, and why.
    SettingsLeftOut(String),
    /// The file of the skill is not what the run was started with.
    SkillChanged {
        /// The file.
        file: PathBuf,
        /// It does not exist any more.
        gone: bool,
    },
    /// Processes of the run outlived its last driver; they are ended now.
    Survivors(usize),
}

impl Warning {
    /// In words, for someone in this directory.
    pub fn message(&self, directory: &Path) -> String {
        match self {
            Self::SettingsLeftOut(words) => words.clone(),
            Self::SkillChanged { file, gone } => {
                let file = relative_to(file, directory);
                let file = escape_control_line(&file.to_string_lossy());
                let became = if *gone { "is gone" } else { "has changed" };
                format!("`{file}` {became}; the run continues with what it started with")
            }
            Self::Survivors(count) => {
                let them = if *count == 1 { "it" } else { "them" };
                format!("the run left {} behind; ending {them}", plural(*count, "process"))
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::SettingsLeftOut(_) => Some("`aye trust` shows it and asks"),
            Self::SkillChanged { .. } | Self::Survivors(_) => None,
        }
    }
}
