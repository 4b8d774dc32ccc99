//! Which clients have connected and what they can do, for `aye doctor`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};

use crate::paint::escape_control_line;

use super::server_state::ServerState;

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

/// What a request tells of its client.
pub(super) fn of(cx: &RequestContext<RoleServer>, now: Timestamp) -> Option<Client> {
    let short = |text: &str| escape_control_line(text).chars().take(80).collect::<String>();
    let info = cx.client_info()?;
    let can = cx.client_capabilities().unwrap_or_default();
    let forms = can.elicitation.clone();
    Some(Client {
        name: short(&info.name),
        version: short(&info.version),
        protocol: cx.protocol_version().map(|version| short(version.as_str())).unwrap_or_default(),
        forms: forms.as_ref().is_some_and(|can| can.form.is_some() || can.url.is_none()),
        pages: forms.is_some_and(|can| can.url.is_some()),
        tasks: can.supports_tasks(),
        seen: now,
    })
}

/// Notes a client. That it could not be written down is no reason to refuse it.
pub(super) fn note(server: &ServerState, client: Client) {
    let home = &server.runtime.home;
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
