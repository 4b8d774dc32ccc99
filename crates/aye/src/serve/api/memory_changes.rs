//! Changing what was learned: forgetting an entry, agreeing to a proposal.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use aye_runtime::error::Error;
use aye_runtime::memory::{Fix, fix_json, proposal_json};
use aye_runtime::people::Right;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::serve::identity::Identity;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::extract::{Body, Path};
use super::memory::project;
use super::reply::{Done, Reply, reply};

/// Whose memory is changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectBody {
    /// The project; without it the one that the server was started in.
    project: Option<String>,
}

/// `DELETE /api/v1/memory/{id}`: forgets an entry.
pub(super) async fn forget(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(id): Path<String>,
    Body(body): Body<ProjectBody>,
) -> Result<Done, Problem> {
    server.must_act(&identity, Right::Answer)?;
    server
        .blocking(move |server| {
            let runtime = project(server, &identity, body.project.as_deref())?;
            runtime.current_memory().forget(&id).map_err(Error::from)?;
            Ok(())
        })
        .await?;
    Ok(Done)
}

/// `POST /api/v1/memory/{id}/agree`: a person agrees to a fix, or to what a skill
/// proposed. Its full id is the digest of its content, so what is agreed to is what
/// was shown.
pub(super) async fn agree(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(id): Path<String>,
    Body(body): Body<ProjectBody>,
) -> Reply<Value> {
    server.must_act(&identity, Right::Answer)?;
    if !identity.is_session() {
        let detail = "a person agrees in a browser or at a terminal";
        return Err(Problem::new(Code::Forbidden, detail).hint("`aye memory agree` asks"));
    }
    reply(&server, move |server| {
        let runtime = project(server, &identity, body.project.as_deref())?;
        let memory = runtime.current_memory();
        if let Some(proposal) = memory.find_proposal(&id) {
            let agreed = memory.agree_to_proposal(&proposal.value, &str::to_owned);
            agreed.map_err(Error::from)?;
            return Ok(proposal_json(&proposal));
        }
        if !Fix::is_full_id(&id) {
            return Err(Problem::new(Code::Invalid, "the full id of the fix is needed"));
        }
        let shown = memory.find_fix(&id).map_err(Error::from)?;
        memory.agree_to_fix(&shown, &identity.name, runtime.now()).map_err(Error::from)?;
        Ok(fix_json(&memory.find_fix(&id).map_err(Error::from)?))
    })
    .await
}
