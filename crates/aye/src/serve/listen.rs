//! Connections: who may take one, and what is done with it.

use std::collections::VecDeque;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use aye_runtime::error::Error;
use aye_runtime::people::PeopleFile;
use aye_runtime::runtime::Runtime;
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::announce::OnlyServer;
use super::api;
use super::guard::Connection;
use super::presence;
use super::server::{Place, Server};
use super::socket;
use super::taking_up;

/// How many connections may be open whose clients have not shown who they are:
/// with one more the oldest of them is closed, so that nobody keeps others out
/// by connecting and saying nothing.
const STRANGERS: usize = 1024;
/// How long a client may take to say what it wants.
const HEADERS: Duration = Duration::from_secs(10);
/// How long we rest when the machine has no descriptors left.
const REST: Duration = Duration::from_millis(100);

/// How to serve.
pub(crate) struct Options {
    /// Where to listen.
    pub(crate) listen: String,
    /// Others may reach it.
    pub(crate) remote: bool,
    /// Further names that `Host` may say.
    pub(crate) hosts: Vec<String>,
    /// The service for assistants.
    pub(crate) mcp: Option<Router>,
}

/// Serves until the process is ended. `ready` is told the address once clients
/// can connect. Signals end it as they end any program: what it does is begun
/// elsewhere, and nothing of it is lost.
pub(crate) fn serve(
    runtime: Arc<Runtime>,
    options: Options,
    ready: impl FnOnce(&str) -> Result<(), Error>,
) -> Result<u8, Error> {
    let address = address(&options)?;
    let only = OnlyServer::take(&runtime.home)?;
    // What cannot be read would refuse everybody later.
    PeopleFile::new(&runtime.home).read()?;
    let failed = |source| Error::Listen { address, source };
    raise_descriptors();
    let executor = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(failed)?;
    executor.block_on(async {
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let place = place(bound, &options);
        let token = only.token()?;
        let url = place.url.clone();
        let server = Arc::new(Server::new(runtime, place, token.clone())?);
        let router = api::router(&server, options.mcp);
        only.announce(&url, &token)?;
        ready(&url)?;
        tokio::spawn(socket::pulse(Arc::clone(&server)));
        tokio::spawn(presence::tell(Arc::clone(&server)));
        tokio::spawn(taking_up::look(Arc::clone(&server)));
        accept(listener, router).await
    })
}

async fn accept(listener: TcpListener, router: Router) -> Result<u8, Error> {
    let mut strangers: VecDeque<Stranger> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, or the client has gone: neither ends us.
            tokio::time::sleep(REST).await;
            continue;
        };
        // An event that waits for the next one to be sent is late.
        let _ = stream.set_nodelay(true);
        let known = Arc::new(AtomicBool::new(false));
        let connection = Connection { account: None, is_unix: false, known: Arc::clone(&known) };
        let task = tokio::spawn(attend(stream, connection, router.clone())).abort_handle();
        make_room(&mut strangers);
        strangers.push_back(Stranger { known, task });
    }
}

/// Closes the oldest connection that has said nothing, if there are too many.
fn make_room(strangers: &mut VecDeque<Stranger>) {
    if strangers.len() < STRANGERS {
        return;
    }
    strangers.retain(Stranger::is_one);
    if strangers.len() >= STRANGERS
        && let Some(Stranger { task, .. }) = strangers.pop_front()
    {
        task.abort();
    }
}

/// A connection whose client has not shown who it is.
struct Stranger {
    known: Arc<AtomicBool>,
    task: AbortHandle,
}

impl Stranger {
    fn is_one(&self) -> bool {
        !self.known.load(Ordering::Relaxed) && !self.task.is_finished()
    }
}

/// One connection, from its first byte to its last.
async fn attend<S>(stream: S, connection: Connection, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = TowerToHyperService::new(router);
    let answer = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        service.call(request)
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    // A client that goes away is not news.
    let _ = served.await;
}

/// Where to listen. Others reach it only if someone said so.
fn address(options: &Options) -> Result<SocketAddr, Error> {
    let text = &options.listen;
    let wrong = |message: String| {
        Error::usage(message, "give an address and a port, such as `127.0.0.1:0`")
    };
    let mut found = text
        .to_socket_addrs()
        .map_err(|error| wrong(format!("`{text}` is not an address: {error}")))?;
    match found.next() {
        Some(address) if address.ip().is_loopback() || options.remote => Ok(address),
        Some(_) => Err(Error::usage(
            format!("`{text}` can be reached by others"),
            "listen at a loopback address, such as `127.0.0.1:0`",
        )),
        None => Err(wrong(format!("`{text}` is not an address"))),
    }
}

fn place(bound: SocketAddr, options: &Options) -> Place {
    let (scheme, port) = ("http", bound.port());
    let mut hosts = vec![bound.to_string()];
    if bound.ip().is_loopback() {
        hosts.extend([format!("127.0.0.1:{port}"), format!("localhost:{port}")]);
        hosts.push(format!("[::1]:{port}"));
    }
    hosts.extend(options.hosts.iter().map(|host| match host.contains(':') {
        true => host.clone(),
        false => format!("{host}:{port}"),
    }));
    Place { scheme, hosts, url: format!("{scheme}://{bound}") }
}

/// Every client is a descriptor: as many as the system allows.
fn raise_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // With fewer there is room for fewer clients, and no other harm.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}
