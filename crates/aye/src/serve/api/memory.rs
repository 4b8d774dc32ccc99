//! What was learned.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use aye_runtime::memory::{EntryKind, WaitingProposal};
use aye_runtime::people::Right;
use aye_runtime::runtime::Runtime;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::serve::identity::Identity;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::extract::Params;
use super::reply::{Reply, reply};

const KINDS: [EntryKind; 5] = [
    EntryKind::Fixes,
    EntryKind::Issues,
    EntryKind::Preferences,
    EntryKind::Usage,
    EntryKind::Failures,
];

/// Which entries are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryQuery {
    /// The project whose memory it is, over the user's; without it the one that
    /// the server was started in.
    project: Option<String>,
    /// Only this kind.
    #[schemars(schema_with = "kinds")]
    kind: Option<EntryKind>,
}

fn kinds(_: &mut SchemaGenerator) -> Schema {
    let words = KINDS.map(EntryKind::word);
    json_schema!({ "type": ["string", "null"], "enum": words })
}

/// What was learned, by kind; only the kinds that were asked for.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct MemoryView(BTreeMap<&'static str, Vec<Value>>);

/// What waits for a person to agree.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProposalsView {
    /// As in the inbox.
    proposals: Vec<ProposalView>,
}

/// Something in memory that waits for a person to agree.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProposalView {
    /// Its id.
    proposal: String,
    /// `fix`, `issue` or `answer`.
    kind: &'static str,
    /// What agreeing does.
    message: String,
    /// What a person types to agree.
    command: String,
    /// All of it, as `GET /memory` has it.
    details: Value,
}

impl From<WaitingProposal> for ProposalView {
    fn from(one: WaitingProposal) -> Self {
        let WaitingProposal { id, kind, message, command, details, .. } = one;
        Self { proposal: id, kind, message, command, details }
    }
}

/// `GET /api/v1/memory`
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Params(query): Params<MemoryQuery>,
) -> Reply<MemoryView> {
    identity.must(Right::Read)?;
    reply(&server, move |server| {
        let runtime = project(server, &identity, query.project.as_deref())?;
        let (memory, now) = (runtime.current_memory(), runtime.now());
        let kinds = KINDS.into_iter().filter(|kind| query.kind.is_none_or(|one| one == *kind));
        let told = kinds.map(|kind| (kind.word(), memory.entries(kind, now)));
        Ok(MemoryView(told.collect()))
    })
    .await
}

/// `GET /api/v1/proposals`: what waits for a person to agree.
pub(super) async fn proposals(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Params(query): Params<MemoryQuery>,
) -> Reply<ProposalsView> {
    identity.must(Right::Read)?;
    reply(&server, move |server| {
        let runtime = project(server, &identity, query.project.as_deref())?;
        let waiting = runtime.current_memory().waiting_proposals().into_iter();
        Ok(ProposalsView { proposals: waiting.map(ProposalView::from).collect() })
    })
    .await
}

pub(super) fn project(
    server: &Server,
    identity: &Identity,
    wanted: Option<&str>,
) -> Result<Runtime, Problem> {
    // The account's own memory stands beside each project's: it is for those who see all.
    if !identity.projects().is_empty() {
        let detail = format!(
            "`{}` may see some projects only, and memory covers all of them",
            identity.name
        );
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
