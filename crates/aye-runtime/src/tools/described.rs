//! What servers say of their tools, kept when a call fails: anyone who looks at the
//! failure later has no connection to the server.

use std::path::{Path, PathBuf};

use aye_core::digest::digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::replace::replace;

/// No description is larger; a schema that is says nothing to a person either.
const LARGEST: u64 = 64 * 1024;

/// Where descriptions are kept.
#[derive(Debug, Clone)]
pub struct Descriptions {
    directory: PathBuf,
    /// The project: another one may call another server the same.
    root: PathBuf,
}

/// A tool, as its server described it. It is data, not instructions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DescribedTool {
    /// The server.
    pub server: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Its arguments, as a JSON schema.
    pub schema: Map<String, Value>,
}

impl Descriptions {
    /// Those of a project, below the user's own directory.
    pub fn new(home: &Path, root: &Path) -> Self {
        Self { directory: home.join("tools"), root: root.to_path_buf() }
    }

    fn file(&self, called: &str) -> PathBuf {
        let root = self.root.to_string_lossy();
        let name = digest(&[b"tool", root.as_bytes(), called.as_bytes()]);
        self.directory.join(format!("{}.json", &name[..32]))
    }

    /// Keeps what a server says of the tool that is called so. It helps anyone who
    /// looks, and nothing depends on it.
    pub(super) fn keep(&self, called: &str, tool: &DescribedTool) {
        let Ok(text) = serde_json::to_string(tool) else { return };
        let fits = u64::try_from(text.len()).is_ok_and(|length| length <= LARGEST);
        if fits && self.find(called).as_ref() != Some(tool) {
            let _ = replace(&self.file(called), &text, 0o600);
        }
    }

    /// What the server said when the tool that is called so failed last.
    pub fn find(&self, called: &str) -> Option<DescribedTool> {
        let file = self.file(called);
        if std::fs::metadata(&file).ok()?.len() > LARGEST {
            return None;
        }
        serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_is_found_in_the_same_project_only() {
        let home = tempfile::tempdir().expect("a directory");
        let here = Descriptions::new(home.path(), Path::new("/here"));
        let schema = json!({ "type": "object" }).as_object().cloned().expect("a map");
        let tool = DescribedTool { server: "forge".into(), description: None, schema };
        here.keep("forge.merge", &tool);
        assert_eq!(here.find("forge.merge"), Some(tool.clone()));
        assert_eq!(here.find("forge.other"), None);
        assert_eq!(Descriptions::new(home.path(), Path::new("/there")).find("forge.merge"), None);
        let long = "x".repeat(70_000);
        here.keep("forge.merge", &DescribedTool { description: Some(long), ..tool.clone() });
        assert_eq!(here.find("forge.merge"), Some(tool));
    }
}
