//! Clients over HTTP, on this machine only.
//!
//! Anyone who calls has to know the token, which stands in a file of the user's
//! own. A page in a browser does not know it, and is refused for its origin
//! besides; a name that someone made to point here is refused as well.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use aye_runtime::error::Error;
use aye_runtime::runtime::Runtime;

use super::key_file;
use super::server_state::ServerState;
use super::service::Assistant;
use crate::executor::executor;
use aye_core::digest::is_same;

/// The file with the token.
const TOKEN: &str = "mcp.token";
/// Where the service is.
const PATH: &str = "/mcp";
/// How many connections of clients that know the token at once.
const MOST: usize = 200;
/// How many of others: with one more the oldest of them is closed, so that
/// nobody can keep a client out by connecting and saying nothing.
const MAX_UNAUTHENTICATED: usize = 64;
/// How long a client may take to say what it wants.
const HEADERS: Duration = Duration::from_secs(10);
/// How long it may take to say all of it.
const BODY: Duration = Duration::from_secs(10);
/// The longest message.
const LONGEST: usize = 4 << 20;
/// How long we rest when the machine has no descriptors left.
const REST: Duration = Duration::from_millis(100);

type Answer = Response<BoxBody<Bytes, Infallible>>;
type Service = StreamableHttpService<Assistant, LocalSessionManager>;

/// The token, made if there is none, and where it stands.
pub(crate) fn token(runtime: &Runtime) -> Result<(PathBuf, String), Error> {
    key_file::load_or_make(&runtime.home, TOKEN)
}

/// The service itself, for whatever serves it at this port; a page of another port is
/// a stranger. Without a port, the server around it has checked host and origin.
fn service(server: &Arc<ServerState>, port: Option<u16>) -> Service {
    let server = Arc::clone(server);
    let config = StreamableHttpServerConfig::default();
    let config = match port {
        Some(port) => config.enforce_origin_validation().with_allowed_origins(
            ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}")),
        ),
        None => config.disable_allowed_hosts(),
    };
    StreamableHttpService::new(
        move || Ok(Assistant::new(Arc::clone(&server))),
        Arc::new(LocalSessionManager::default()),
        config,
    )
}

/// The service, for a server that has looked at who asks.
pub(crate) fn router(served: Arc<Runtime>) -> Result<axum::Router, Error> {
    let world = Arc::new(ServerState::new(served)?);
    Ok(axum::Router::new().fallback_service(service(&world, None)))
}

/// Serves at a loopback address until the process is ended. `ready` is told
/// the address once clients can connect.
pub(crate) fn serve(
    served: Arc<Runtime>,
    address: &str,
    ready: impl FnOnce(SocketAddr) -> Result<(), Error>,
) -> Result<u8, Error> {
    let address = loopback(address)?;
    let (_, token) = token(&served)?;
    let server = Arc::new(ServerState::new(served)?);
    let failed = |source| Error::Listen { address, source };
    executor()?.block_on(async {
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        ready(bound)?;
        let service = service(&server, Some(bound.port()));
        let token: Arc<str> = token.into();
        let room = Arc::new(Semaphore::new(MOST));
        let mut unauthenticated = VecDeque::new();
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // Out of descriptors, or the client has gone: neither ends us.
                tokio::time::sleep(REST).await;
                continue;
            };
            unauthenticated.retain(UnauthenticatedConnection::is_pending);
            if unauthenticated.len() >= MAX_UNAUTHENTICATED
                && let Some(UnauthenticatedConnection { task, .. }) = unauthenticated.pop_front()
            {
                task.abort();
            }
            let known = Arc::new(AtomicBool::new(false));
            let connection = Connection {
                service: service.clone(),
                token: Arc::clone(&token),
                room: Arc::clone(&room),
                known: Arc::clone(&known),
                place: Mutex::default(),
            };
            let task = tokio::spawn(connection.serve(stream)).abort_handle();
            unauthenticated.push_back(UnauthenticatedConnection { known, task });
        }
    })
}

/// A connection whose client has not shown the token.
struct UnauthenticatedConnection {
    known: Arc<AtomicBool>,
    task: AbortHandle,
}

impl UnauthenticatedConnection {
    fn is_pending(&self) -> bool {
        !self.known.load(Ordering::Relaxed) && !self.task.is_finished()
    }
}

/// One connection.
struct Connection {
    service: Service,
    token: Arc<str>,
    room: Arc<Semaphore>,
    /// Its client has shown the token.
    known: Arc<AtomicBool>,
    /// Its place among those.
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Connection {
    async fn serve(self, stream: TcpStream) {
        let connection = Arc::new(self);
        let answer = hyper::service::service_fn(move |request| {
            let connection = Arc::clone(&connection);
            async move { Ok::<_, Infallible>(connection.answer(request).await) }
        });
        let served = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS)
            .serve_connection(TokioIo::new(stream), answer);
        // A client that goes away is not news.
        let _ = served.await;
    }

    /// Takes a place, once; false if there is none.
    fn try_admit(&self) -> bool {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            *place = Arc::clone(&self.room).try_acquire_owned().ok();
            self.known.store(place.is_some(), Ordering::Relaxed);
        }
        place.is_some()
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        if !given.is_some_and(|given| is_same(given.as_bytes(), self.token.as_bytes())) {
            let mut refused =
                plain(StatusCode::UNAUTHORIZED, "this needs the token: `aye mcp token`");
            let wanted = hyper::header::HeaderValue::from_static("Bearer realm=\"aye\"");
            refused.headers_mut().insert(WWW_AUTHENTICATE, wanted);
            return refused;
        }
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "the service is at /mcp");
        }
        if !self.try_admit() {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "too many connections");
        }
        let (head, body) = request.into_parts();
        match tokio::time::timeout(BODY, Limited::new(body, LONGEST).collect()).await {
            Ok(Ok(body)) => {
                let request = Request::from_parts(head, Full::new(body.to_bytes()));
                self.service.handle(request).await
            }
            Ok(Err(_)) => {
                plain(StatusCode::PAYLOAD_TOO_LARGE, "the message is cut off or too long")
            }
            Err(_) => plain(StatusCode::REQUEST_TIMEOUT, "the message took too long"),
        }
    }
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}

/// An address that only this machine can reach.
fn loopback(text: &str) -> Result<SocketAddr, Error> {
    let wrong = |message: String| {
        Error::usage(message, "give a loopback address and a port, e.g. `127.0.0.1:8737`")
    };
    let mut found = text
        .to_socket_addrs()
        .map_err(|error| wrong(format!("`{text}` is not an address: {error}")))?;
    match found.next() {
        Some(address) if address.ip().is_loopback() => Ok(address),
        Some(_) => Err(wrong(format!("`{text}` can be reached by others"))),
        None => Err(wrong(format!("`{text}` is not an address"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_served() {
        assert!(loopback("127.0.0.1:0").is_ok());
        assert!(loopback("[::1]:0").is_ok());
        for open in ["0.0.0.0:80", "[::]:80", "192.0.2.1:80", "127.0.0.1", "nonsense"] {
            assert!(loopback(open).is_err(), "{open}");
        }
    }
}
