//! Which clients of assistants have connected and what they can do: the MCP server notes them,
//! `aye doctor` shows them.
//!
//! Touches one file below `AYE_HOME`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const FILE: &str = "mcp-clients.json";
/// No more are remembered: a name is whatever a client says.
const MOST: usize = 50;

/// What is known of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// As it calls itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The protocol it speaks.
    pub protocol: String,
    /// It says that it can show forms.
    pub forms: bool,
    /// It says that it can send people to a page.
    pub pages: bool,
    /// It understands tasks.
    pub tasks: bool,
    /// When it was last seen.
    pub seen: Timestamp,
}

/// The clients seen so far, by name.
pub fn seen(home: &Path) -> Vec<Client> {
    let text = fs::read_to_string(path(home)).unwrap_or_default();
    let all: BTreeMap<String, Client> = serde_json::from_str(&text).unwrap_or_default();
    all.into_values().collect()
}

/// Notes a client. That it could not be written down is no reason to refuse it.
pub fn note(home: &Path, client: Client) {
    let mut all: BTreeMap<String, Client> =
        seen(home).into_iter().map(|client| (client.name.clone(), client)).collect();
    all.insert(client.name.clone(), client);
    while all.len() > MOST {
        let oldest = all.values().min_by_key(|client| client.seen).map(|old| old.name.clone());
        oldest.and_then(|name| all.remove(&name));
    }
    let _ = write(home, &all);
}

fn write(home: &Path, all: &BTreeMap<String, Client>) -> std::io::Result<()> {
    let draft = home.join(format!("{FILE}.{}.new", std::process::id()));
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(serde_json::to_string_pretty(all)?.as_bytes())?;
    fs::rename(draft, path(home))
}

fn path(home: &Path) -> PathBuf {
    home.join(FILE)
}
