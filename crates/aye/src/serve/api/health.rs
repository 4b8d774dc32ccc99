//! Whether the server is there and well.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use crate::serve::guard::must_be_local;
use crate::serve::identity::Identity;
use crate::serve::metrics;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::reply::{Reply, json, text};

/// `GET /healthz`
pub(super) async fn alive() -> Response {
    json(&json!({ "status": "ok" }))
}

/// `GET /readyz`: the journal can be read.
pub(super) async fn ready(State(server): State<Arc<Server>>) -> Reply {
    let look = |server: &Server| match server.runtime.journal_if_any() {
        Ok(_) => Ok(()),
        Err(_) => Err(Problem::new(Code::Unavailable, "the journal cannot be read")),
    };
    server.blocking(look).await?;
    Ok(json(&json!({ "status": "ready" })))
}

/// `GET /metrics`
pub(super) async fn metrics(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
) -> Reply {
    must_be_local(&identity)?;
    let told = server.blocking(|server| Ok(metrics::exposition(server)?)).await?;
    Ok(text("text/plain; version=0.0.4", told))
}

/// Assistants act for the account that the server runs as.
pub(super) async fn only_local(
    Extension(identity): Extension<Identity>,
    request: Request,
    next: Next,
) -> Response {
    match must_be_local(&identity) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}
