//! The projects that are served.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use aye_runtime::people::Right;
use schemars::JsonSchema;
use serde::Serialize;

use crate::serve::identity::Identity;
use crate::serve::server::Server;

use super::reply::{Json, Reply};

/// The projects that this person sees.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProjectsView {
    /// The one that the server was started in first.
    projects: Vec<ProjectView>,
}

/// A project.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProjectView {
    /// Its directory.
    project: String,
    /// Whether it is trusted: only then something of it is started here.
    trusted: bool,
}

/// `GET /api/v1/projects`
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
) -> Reply<ProjectsView> {
    identity.must(Right::Read)?;
    let projects = server.blocking(move |server| server.projects(&identity)).await?;
    let projects = projects
        .into_iter()
        .map(|(root, trusted)| ProjectView { project: root.display().to_string(), trusted });
    Ok(Json(ProjectsView { projects: projects.collect() }))
}
