//! The HTTP API: one file a family. A handler reads the request, calls a use
//! case and writes its result.
//!
//! Touches nothing itself; `openapi` describes the same handlers. Results go to the client as JSON.

mod extract;
mod health;
mod logs;
mod memory;
mod memory_changes;
mod message_answer;
mod openapi;
mod patience;
mod people;
mod projects;
mod questions;
mod reply;
mod runs;
mod session;
mod skills;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get};

use super::guard::guard;
use super::page;
use super::problem::{Code, Problem};
use super::server::Server;
use super::socket;

use openapi::{Api, Document};

pub(super) use extract::{Params, Path};
pub(super) use logs::follow as follow_logs;
pub(super) use questions::{AnswerBody, HeldQuestion, Taken, hold_question};
pub(super) use runs::{
    CancelBody, ChangedRun, RetryBody, RetryProof, StartBody, Started, resume_run,
};

/// The longest body.
const LONGEST: usize = 1 << 20;
/// How long a client may take to send its body and get an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The API, a line for each handler.
fn routes(api: Api) -> Api {
    api.get("/runs", "Lists runs, the newest first", runs::list)
        .post("/runs", "Starts a skill", runs::start)
        .get("/runs/{run}", "A run with its steps", runs::one)
        .get("/runs/{run}/events", "The events of a run and of the runs inside it", runs::events)
        .get("/runs/{run}/logs", "What its steps wrote, as messages", logs::lines)
        .get("/runs/{run}/steps/{step}/log", "The bytes that a step wrote", logs::bytes)
        .get("/runs/{run}/steps/{step}/log/search", "Searches what a step wrote", logs::search)
        .get("/runs/{run}/steps/{step}/arguments", "What a step is given", runs::arguments)
        .get("/runs/{run}/graph", "The skill as the run was started with it", skills::run_graph)
        .post("/runs/{run}/cancel", "Cancels a run", runs::cancel)
        .post("/runs/{run}/resume", "Continues a run that no process drives", runs::resume)
        .post("/runs/{run}/retry", "Tries a failed step again", runs::retry)
        .get("/events", "The events of the whole journal", runs::all_events)
        .get("/questions", "Lists open questions, the oldest first", questions::list)
        .get("/questions/{question}", "A question of any state", questions::one)
        .post("/questions/{question}/answer", "Answers a question", questions::answer)
        .post("/questions/{question}/hold", "Holds the deadline of a question", questions::hold)
        .post("/answer-token", "Answers with the token of a message", message_answer::answer)
        .get("/skills", "Lists skills", skills::list)
        .get("/skills/{skill}", "A skill with its inputs", skills::one)
        .get("/skills/{skill}/graph", "A skill as it is now", skills::graph)
        .post("/skills/{skill}/dry-run", "Plans a run; nothing runs", skills::dry_run)
        .get("/memory", "What was learned", memory::list)
        .delete("/memory/{id}", "Forgets something", memory_changes::forget)
        .post("/memory/{id}/agree", "Agrees to a proposal", memory_changes::agree)
        .get("/proposals", "What waits for a person to agree", memory::proposals)
        .get("/projects", "Lists projects", projects::list)
        .get("/people", "Everyone who may use the server", people::list)
        .get("/session", "Who you are", session::who)
        .post("/session", "Signs in a device with a link", session::sign_in)
        .delete("/session", "Signs out this device", session::sign_out)
        .get("/devices", "Your devices: browsers that are signed in", session::devices)
        .delete("/devices/{device}", "Signs out a device", session::revoke)
        .get("/openapi.json", "This document", openapi::document)
}

/// What the API consists of.
pub(super) fn document() -> Document {
    routes(Api::to_describe()).document.unwrap_or_default()
}

/// Everything that can be asked for.
pub(super) fn router(server: &Arc<Server>, mcp: Option<Router>) -> Router {
    let router = Router::new()
        .nest("/api/v1", routes(Api::default()).router)
        .route("/", get(page::index))
        .route("/assets/{*file}", get(page::asset))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics));
    let mut router = patience::limit(router, PATIENCE)
        .layer(DefaultBodyLimit::max(LONGEST))
        .route("/ws", any(socket::upgrade));
    if let Some(mcp) = mcp {
        let local = axum::middleware::from_fn(health::only_local);
        let mcp = mcp.layer(DefaultBodyLimit::max(4 * LONGEST)).layer(local);
        router = router.nest_service("/mcp", mcp);
    }
    router
        .method_not_allowed_fallback(|method: Method| async move {
            let detail = format!("this address does not take {method}");
            Problem::new(Code::MethodNotAllowed, detail)
        })
        .fallback(|| async { Problem::new(Code::NotFound, "there is nothing at this address") })
        .layer(from_fn_with_state(Arc::clone(server), guard))
        .with_state(Arc::clone(server))
}
