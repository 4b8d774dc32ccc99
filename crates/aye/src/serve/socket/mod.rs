//! The socket: a snapshot, then the journal's own events, and commands.
//!
//! ```text
//! upgrade -> connection: one task a client, which speaks through a wire
//!               |  ^
//!     snapshot, |  | client_queue: what the hub could not write itself (events, who is
//!     catch_up  |  | connected, heartbeats); results of commands, step output
//!               v  |
//!             command: answer, hold, release, cancel, retry, start, show, follow, unfollow
//! ```
//!
//! Touches the socket of its client. Commands go to the use cases; events and results go
//! back to the client.

mod catch_up;
mod client_queue;
mod command;
mod connection;
mod message;
mod snapshot;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::harmless::json_line;

use super::api::Params;
use super::guard::HalfSession;
use super::identity::Identity;
use super::problem::{Code, Problem};
use super::server::Server;

pub(super) use client_queue::ClientQueue;
use connection::{Connection, Speaker};
pub(super) use message::Notice;
#[cfg(test)]
pub(super) use message::{ClientMessage, CommandResult};
use wire::Handshake;
pub(super) use wire::text_frame;

/// How often it is looked whether someone came or went.
const PRESENCE: Duration = Duration::from_millis(500);

/// Where a client continues.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SocketQuery {
    /// The last number it has seen.
    after: Option<u64>,
}

/// `GET /ws`
pub(super) async fn upgrade(
    State(server): State<Arc<Server>>,
    identity: Option<Extension<Identity>>,
    half: Option<Extension<HalfSession>>,
    Params(query): Params<SocketQuery>,
    handshake: Handshake,
) -> Result<Response, Problem> {
    let speaker = match (identity, half) {
        (Some(Extension(identity)), _) => Speaker::Known(identity),
        (None, Some(Extension(half))) => Speaker::Session(half),
        (None, None) => {
            return Err(Problem::new(Code::Unauthorized, "this needs a token or a session"));
        }
    };
    let after = query.after;
    Ok(handshake.accept(move |socket| Connection::serve(server, socket, speaker, after)))
}

/// Tells every client from time to time that the server is there, and who is
/// connected when that changes.
pub(super) async fn pulse(server: Arc<Server>) {
    let mut since = Duration::ZERO;
    loop {
        tokio::time::sleep(PRESENCE).await;
        since += PRESENCE;
        if server.clients.has_changed() {
            let clients = server.clients.list();
            let count = server.clients.count();
            // Who does not see every project does not hear which questions there are.
            let mut limited = clients.clone();
            limited.iter_mut().for_each(|client| client.question = None);
            let told = |clients| json_line(&Notice::Clients { clients, count });
            server.hub.notify(told(clients), told(limited));
        }
        if since >= server.limits.heartbeat {
            since = Duration::ZERO;
            let (n, at) = (server.hub.position(), server.runtime.now());
            let told = json_line(&Notice::Heartbeat { n, at });
            server.hub.notify(told.clone(), told);
        }
    }
}
