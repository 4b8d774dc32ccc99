//! Keys: which file below `state/` is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where all of them are.
const FOLDER: &str = "state/";
const LONGEST: usize = 200;

/// The name of a file of work memory, without `state/` and `.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StateKey(String);

impl StateKey {
    /// What a skill calls it: `state/current_work`, `current_work` and
    /// `current_work.yaml` are the same, `learned/x` is `state/learned/x`.
    ///
    /// # Errors
    /// When it is not the name of a file below `state/`.
    pub fn parse(written: &str) -> Result<Self, String> {
        let name = written.strip_suffix(".yaml").unwrap_or(written);
        let name = name.strip_prefix(FOLDER).unwrap_or(name);
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_name =
            |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain);
        if name.len() <= LONGEST && name.split('/').all(is_name) {
            return Ok(Self(name.to_owned()));
        }
        let shown: String = written.chars().take(60).collect();
        Err(format!(
            "`{}` is not a key of memory; write names of letters, digits, `_`, `-` and `.` with \
             `/` between them, such as `state/current_work`",
            shown.escape_debug()
        ))
    }

    /// The file, below the directory of memory.
    pub fn file(&self) -> String {
        format!("{FOLDER}{}.yaml", self.0)
    }
}

impl fmt::Display for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FOLDER}{}", self.0)
    }
}

impl TryFrom<String> for StateKey {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        Self::parse(&written)
    }
}

impl From<StateKey> for String {
    fn from(key: StateKey) -> Self {
        key.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_below_state() {
        for (written, file) in [
            ("state/current_work", "state/current_work.yaml"),
            ("current_work", "state/current_work.yaml"),
            ("current_work.yaml", "state/current_work.yaml"),
            ("learned/patterns", "state/learned/patterns.yaml"),
            ("sessions/2026-11-17", "state/sessions/2026-11-17.yaml"),
            ("state/state/x", "state/state/x.yaml"),
        ] {
            assert_eq!(StateKey::parse(written).expect(written).file(), file);
        }
        for written in [
            "",
            "/etc/passwd",
            "../learned/fixes",
            "state/../learned/fixes",
            "a//b",
            "a/",
            ".hidden",
            "a b",
            "a\nb",
            "state/",
            "a\\b",
            "x/.lock",
            &"x".repeat(300),
        ] {
            assert!(StateKey::parse(written).is_err(), "{written}");
        }
    }
}
