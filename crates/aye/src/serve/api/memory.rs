//! What was learned.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use aye_runtime::memory::EntryKind;
use aye_runtime::people::Right;
use aye_runtime::runtime::Runtime;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::serve::identity::Identity;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::extract::Params;
use super::reply::{Reply, json};

const KINDS: [EntryKind; 5] = [
    EntryKind::Fixes,
    EntryKind::Issues,
    EntryKind::Preferences,
    EntryKind::Usage,
    EntryKind::Failures,
];

/// Which entries are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryQuery {
    /// The project whose memory it is, over the user's; without it the one that
    /// the server was started in.
    project: Option<String>,
    /// Only this kind.
    kind: Option<EntryKind>,
}

/// `GET /api/v1/memory`
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Params(query): Params<MemoryQuery>,
) -> Reply {
    identity.must(Right::Read)?;
    let told = server
        .blocking(move |server| {
            let runtime = project(server, &identity, query.project.as_deref())?;
            let (memory, now) = (runtime.current_memory(), runtime.now());
            let kinds = KINDS.into_iter().filter(|kind| query.kind.is_none_or(|one| one == *kind));
            let told: Map<String, Value> = kinds
                .map(|kind| (kind.word().to_owned(), memory.entries(kind, now).into()))
                .collect();
            Ok(told)
        })
        .await?;
    Ok(json(&told))
}

/// `GET /api/v1/proposals`: fixes that wait for somebody to agree.
pub(super) async fn proposals(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Params(query): Params<MemoryQuery>,
) -> Reply {
    identity.must(Right::Read)?;
    let told = server
        .blocking(move |server| {
            let runtime = project(server, &identity, query.project.as_deref())?;
            let mut entries = runtime.current_memory().entries(EntryKind::Fixes, runtime.now());
            entries.retain(|entry| entry["standing"] == "proposed");
            Ok(json!({ "proposals": entries }))
        })
        .await?;
    Ok(json(&told))
}

pub(super) fn project(
    server: &Server,
    identity: &Identity,
    wanted: Option<&str>,
) -> Result<Runtime, Problem> {
    // The account's own memory stands beside each project's: it is for those who see all.
    if !identity.projects().is_empty() {
        let detail = format!("`{}` sees some projects, and memory is of all", identity.name);
        return Err(Problem::new(Code::Forbidden, detail));
    }
    let projects = server.projects(identity)?;
    let mut roots = projects.iter().map(|(root, _)| root);
    let found = match wanted {
        Some(wanted) => roots.find(|root| *root == std::path::Path::new(wanted)),
        None => roots.next(),
    };
    let root = found.ok_or_else(|| Problem::not_found("project", wanted.unwrap_or_default()))?;
    Ok(server.runtime.served_at(root)?)
}
