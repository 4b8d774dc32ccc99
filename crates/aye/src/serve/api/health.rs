//! Whether the server is there and well.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::serve::guard::must_be_local;
use crate::serve::identity::Identity;
use crate::serve::metrics;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::reply::{Json, Reply, text};

/// How the server is.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Health {
    /// `ok` or `ready`.
    status: &'static str,
}

/// What a client that is about to send a token wants signed, and the signature.
const CHALLENGE: HeaderName = HeaderName::from_static("aye-challenge");
const PROOF: HeaderName = HeaderName::from_static("aye-proof");

/// `GET /healthz`: who sends a challenge gets the proof that this is the server of
/// `serve.json`, and not a process at the port of one that is gone.
pub(super) async fn alive(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let mut response = Json(Health { status: "ok" }).into_response();
    let challenge = headers.get(CHALLENGE).and_then(|value| value.to_str().ok());
    let proof = challenge.and_then(|challenge| server.proof(challenge));
    if let Some(proof) = proof.and_then(|proof| HeaderValue::from_str(&proof).ok()) {
        response.headers_mut().insert(PROOF, proof);
    }
    response
}

/// `GET /readyz`: the journal can be read.
pub(super) async fn ready(State(server): State<Arc<Server>>) -> Reply<Health> {
    let look = |server: &Server| match server.runtime.journal_if_any() {
        Ok(_) => Ok(()),
        Err(_) => Err(Problem::new(Code::Unavailable, "the journal cannot be read")),
    };
    server.blocking(look).await?;
    Ok(Json(Health { status: "ready" }))
}

/// `GET /metrics`
pub(super) async fn metrics(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
) -> Result<Response, Problem> {
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
