//! The HTTP API: one file a family. A handler reads the request, calls a use
//! case and writes its result.

mod extract;
mod health;
mod logs;
mod memory;
mod memory_changes;
mod people;
mod questions;
mod reply;
mod runs;
mod session;
mod skills;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, delete, get, post};
use tower_http::timeout::TimeoutLayer;

use super::guard::guard;
use super::page;
use super::problem::{Code, Problem};
use super::server::Server;
use super::socket;

pub(super) use extract::Params;
pub(super) use logs::follow as follow_logs;
pub(super) use questions::{AnswerBody, hold_question};
pub(super) use runs::{CancelBody, RetryBody, StartBody};

/// The longest body.
const LONGEST: usize = 1 << 20;
/// How long a client may take to send its body and get an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Everything that can be asked for.
pub(super) fn router(server: &Arc<Server>, mcp: Option<Router>) -> Router {
    let api = Router::new()
        .route("/runs", get(runs::list).post(runs::start))
        .route("/runs/{run}", get(runs::one))
        .route("/runs/{run}/events", get(runs::events))
        .route("/runs/{run}/logs", get(logs::lines))
        .route("/runs/{run}/steps/{step}/log", get(logs::bytes))
        .route("/runs/{run}/graph", get(skills::run_graph))
        .route("/runs/{run}/cancel", post(runs::cancel))
        .route("/runs/{run}/retry", post(runs::retry))
        .route("/events", get(runs::all_events))
        .route("/questions", get(questions::list))
        .route("/questions/{question}", get(questions::one))
        .route("/questions/{question}/answer", post(questions::answer))
        .route("/questions/{question}/hold", post(questions::hold))
        .route("/skills", get(skills::list))
        .route("/skills/{skill}", get(skills::one))
        .route("/skills/{skill}/graph", get(skills::graph))
        .route("/skills/{skill}/dry-run", post(skills::dry_run))
        .route("/memory", get(memory::list))
        .route("/memory/{id}", delete(memory_changes::forget))
        .route("/memory/{id}/agree", post(memory_changes::agree))
        .route("/people", get(people::list))
        .route("/proposals", get(memory::proposals))
        .route("/session", get(session::who).post(session::sign_in).delete(session::sign_out))
        .route("/devices", get(session::devices))
        .route("/devices/{device}", delete(session::revoke));
    let mut router = Router::new()
        .nest("/api/v1", api)
        .route("/", get(page::index))
        .route("/assets/{*file}", get(page::asset))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, PATIENCE))
        .layer(DefaultBodyLimit::max(LONGEST))
        .route("/ws", any(socket::upgrade));
    if let Some(mcp) = mcp {
        let local = axum::middleware::from_fn(health::only_local);
        let mcp = mcp.layer(DefaultBodyLimit::max(4 * LONGEST)).layer(local);
        router = router.nest_service("/mcp", mcp);
    }
    router
        .fallback(|| async { Problem::new(Code::NotFound, "there is nothing at this address") })
        .layer(from_fn_with_state(Arc::clone(server), guard))
        .with_state(Arc::clone(server))
}
