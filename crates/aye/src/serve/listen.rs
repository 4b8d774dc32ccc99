//! Connections: who may take one, and what is done with it.

use std::collections::{BTreeSet, VecDeque};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use aye_runtime::announced_server::AnnouncedServer;
use aye_runtime::error::Error;
use aye_runtime::people::PeopleFile;
use aye_runtime::runtime::{Runtime, account_name};
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;

use super::announce::OnlyServer;
use super::api;
use super::guard::Connection;
use super::local_socket;
use super::presence;
use super::server::{Place, Server};
use super::socket;
use super::taking_up;
use super::tls::Certificate;
use super::write_limit::WriteLimit;
use crate::executor::executor;

/// How many connections may be open whose clients have not shown who they are:
/// with one more the oldest of them is closed, so that nobody keeps others out
/// by connecting and saying nothing.
const MAX_UNAUTHENTICATED: usize = 1024;
/// How many come before those are forgotten whose clients have shown who they are: until then
/// each keeps the memory of a whole request.
const FORGET: usize = 64;
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
    /// What encrypts connections.
    pub(crate) certificate: Option<Certificate>,
    /// Where other accounts of this machine reach it.
    pub(crate) socket: Option<PathBuf>,
    /// The service for assistants.
    pub(crate) mcp: Option<Router>,
}

/// Serves until the process is ended. `ready` is told where it is once clients
/// can connect. Signals end it as they end any program: what it does is begun
/// elsewhere, and nothing of it is lost.
pub(crate) fn serve(
    runtime: Arc<Runtime>,
    options: Options,
    ready: impl FnOnce(&AnnouncedServer) -> Result<(), Error>,
) -> Result<u8, Error> {
    let address = address(&options)?;
    let only = OnlyServer::take(&runtime.home)?;
    // A file that cannot be read would refuse everyone later.
    let people = PeopleFile::new(&runtime.home).read()?;
    if !address.ip().is_loopback() && people.is_empty() {
        return Err(Error::Refused {
            message: format!("others reach `{address}`, and no person may use the server yet"),
            hint: Some("add a person first: `aye people add NAME --rights answer`".to_owned()),
        });
    }
    let failed = |source| Error::Listen { address, source };
    raise_descriptors();
    executor()?.block_on(async {
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let place = place(bound, &options);
        let tls = encryption(&runtime, &options, &place)?;
        let made = options.certificate.as_ref().and_then(|one| one.made(&runtime.home));
        let local = options.socket.as_deref().map(local_socket::bind).transpose()?;
        let token = only.token()?;
        let url = place.url.clone();
        let server = Arc::new(Server::new(runtime, place, token.clone())?);
        let router = api::router(&server, options.mcp);
        ready(&only.announce(&url, &token, made)?)?;
        tokio::spawn(socket::pulse(Arc::clone(&server)));
        tokio::spawn(presence::tell(Arc::clone(&server)));
        tokio::spawn(taking_up::look(Arc::clone(&server)));
        let unread = server.limits.unread;
        if let Some(local) = local {
            tokio::spawn(accept_local(local, router.clone(), unread));
        }
        accept(listener, tls, router, unread).await
    })
}

/// Clients over the network.
async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    unread: Duration,
) -> Result<u8, Error> {
    let mut unauthenticated: VecDeque<UnauthenticatedConnection> = VecDeque::new();
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Out of descriptors, or the client has gone: neither ends us.
            tokio::time::sleep(REST).await;
            continue;
        };
        // An event that waits for the next one to be sent is late.
        let _ = stream.set_nodelay(true);
        let (peer, own) = (peer.ip().to_canonical(), stream.local_addr());
        // Who connects from the address they connect to is on this machine.
        let here = peer.is_loopback() || own.is_ok_and(|own| own.ip().to_canonical() == peer);
        let known = Arc::new(AtomicBool::new(false));
        let (account, seen) = (None, Arc::clone(&known));
        let connection = Connection { account, is_unix: false, elsewhere: !here, known: seen };
        let (tls, router) = (tls.clone(), router.clone());
        let task = tokio::spawn(async move {
            let Some(tls) = tls else {
                return serve_connection(stream, connection, router, unread).await;
            };
            // Who speaks something else, or nothing, is not waited for.
            if let Ok(Ok(stream)) = tokio::time::timeout(HEADERS, tls.accept(stream)).await {
                serve_connection(stream, connection, router, unread).await;
            }
        });
        make_room(&mut unauthenticated);
        unauthenticated.push_back(UnauthenticatedConnection { known, task: task.abort_handle() });
    }
}

/// Clients of other accounts of this machine.
async fn accept_local(listener: UnixListener, router: Router, unread: Duration) {
    let mut unauthenticated: VecDeque<UnauthenticatedConnection> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(REST).await;
            continue;
        };
        // The kernel knows whose it is; without that it is nobody's.
        let Ok(peer) = stream.peer_cred() else { continue };
        let account = Some(account_name(peer.uid()));
        let known = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&known);
        let connection = Connection { account, is_unix: true, elsewhere: false, known: seen };
        let task = tokio::spawn(serve_connection(stream, connection, router.clone(), unread))
            .abort_handle();
        make_room(&mut unauthenticated);
        unauthenticated.push_back(UnauthenticatedConnection { known, task });
    }
}

/// Closes the oldest connection that has said nothing, if there are too many.
fn make_room(unauthenticated: &mut VecDeque<UnauthenticatedConnection>) {
    if unauthenticated.len().is_multiple_of(FORGET) {
        unauthenticated.retain(UnauthenticatedConnection::is_pending);
    }
    if unauthenticated.len() >= MAX_UNAUTHENTICATED
        && let Some(UnauthenticatedConnection { task, .. }) = unauthenticated.pop_front()
    {
        task.abort();
    }
}

/// A connection whose client has not shown who it is.
struct UnauthenticatedConnection {
    known: Arc<AtomicBool>,
    task: AbortHandle,
}

impl UnauthenticatedConnection {
    fn is_pending(&self) -> bool {
        !self.known.load(Ordering::Relaxed) && !self.task.is_finished()
    }
}

/// One connection, from its first byte to its last. What is sent may stay unread for so long.
async fn serve_connection<S>(stream: S, connection: Connection, router: Router, unread: Duration)
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
        .serve_connection(TokioIo::new(WriteLimit::new(stream, unread)), answer)
        .with_upgrades();
    // A client that goes away is not news.
    let _ = served.await;
}

/// Where to listen. Others reach it only if someone said so, and encrypted.
fn address(options: &Options) -> Result<SocketAddr, Error> {
    let text = &options.listen;
    let wrong = |message: String| {
        Error::usage(message, "give an address and a port, such as `127.0.0.1:0`")
    };
    let mut found = text
        .to_socket_addrs()
        .map_err(|error| wrong(format!("`{text}` is not an address: {error}")))?;
    let Some(address) = found.next() else {
        return Err(wrong(format!("`{text}` is not an address")));
    };
    if address.ip().is_loopback() {
        return Ok(address);
    }
    let refused = |why: &str, hint: &str| Err(Error::usage(format!("`{text}` {why}"), hint));
    if !options.remote {
        let hint = "listen at a loopback address, such as `127.0.0.1:0`; or say `--remote`, with a \
            certificate";
        return refused("can be reached by others", hint);
    }
    if options.certificate.is_none() {
        let hint = "give `--tls-cert FILE --tls-key FILE`, or `--tls-self-signed`";
        return refused("can be reached by others, so it has to be encrypted", hint);
    }
    if address.ip().is_unspecified() && options.hosts.is_empty() {
        let hint = "say under which name clients reach it: `--host NAME`";
        return refused("stands for every address of this machine", hint);
    }
    Ok(address)
}

fn place(bound: SocketAddr, options: &Options) -> Place {
    let port = bound.port();
    let (scheme, usual) = match options.certificate {
        Some(_) => ("https", 443),
        None => ("http", 80),
    };
    let mut named = options.hosts.clone();
    if !bound.ip().is_unspecified() {
        named.insert(0, bound.to_string());
    }
    if bound.ip().is_loopback() {
        named.extend(["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}")));
    }
    let mut hosts = Vec::new();
    for name in named {
        let name = if has_port(&name) { name } else { format!("{name}:{port}") };
        // Browsers leave out the default port.
        hosts.extend(name.strip_suffix(&format!(":{usual}")).map(str::to_owned));
        hosts.push(name);
    }
    let url = format!("{scheme}://{}", hosts.first().map_or("", String::as_str));
    Place { scheme, hosts, url }
}

/// Whether a host is written with its port; `[::1]` is not.
fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
        && !host.ends_with(']')
}

fn encryption(
    runtime: &Runtime,
    options: &Options,
    place: &Place,
) -> Result<Option<TlsAcceptor>, Error> {
    let Some(certificate) = &options.certificate else { return Ok(None) };
    let bare = |host: &String| {
        let name =
            if has_port(host) { host.rsplit_once(':').map_or("", |one| one.0) } else { host };
        name.trim_start_matches('[').trim_end_matches(']').to_owned()
    };
    let names: BTreeSet<String> = place.hosts.iter().map(bare).collect();
    let names: Vec<String> = names.into_iter().collect();
    Ok(Some(certificate.acceptor(&runtime.home, &names, runtime.now())?))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn options(listen: &str, hosts: &[&str], certificate: Option<Certificate>) -> Options {
        let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        let (listen, remote, socket, mcp) = (listen.to_owned(), true, None, None);
        Options { listen, remote, hosts, certificate, socket, mcp }
    }

    #[test]
    fn clients_find_it_under_the_names_that_were_given() {
        let bound = |text: &str| text.parse().expect("an address");
        let plain = place(bound("127.0.0.1:8740"), &options("", &["proxy", "other:9"], None));
        assert_eq!(plain.url, "http://127.0.0.1:8740");
        for host in ["127.0.0.1:8740", "localhost:8740", "[::1]:8740", "proxy:8740", "other:9"] {
            assert!(plain.hosts.iter().any(|one| one == host), "{host}");
        }
        let tls = || Some(Certificate::SelfSigned);
        let every = place(bound("0.0.0.0:443"), &options("", &["build.example"], tls()));
        assert_eq!(every.url, "https://build.example");
        assert_eq!(every.hosts, ["build.example", "build.example:443"]);
        let six = place(bound("[2001:db8::7]:8740"), &options("", &["[2001:db8::8]"], tls()));
        assert_eq!(six.hosts, ["[2001:db8::7]:8740", "[2001:db8::8]:8740"]);
    }

    #[test]
    fn others_reach_it_only_encrypted_and_by_a_name() {
        let open = address(&options("192.0.2.7:0", &[], None)).expect_err("refused");
        assert!(open.to_string().contains("has to be encrypted"), "{open}");
        let tls = || Some(Certificate::SelfSigned);
        assert!(address(&options("192.0.2.7:0", &[], tls())).is_ok());
        let every = address(&options("0.0.0.0:0", &[], tls())).expect_err("refused");
        assert!(every.hint().is_some_and(|hint| hint.contains("--host")), "{every}");
        let unsaid = Options { remote: false, ..options("192.0.2.7:0", &[], tls()) };
        assert!(address(&unsaid).is_err());
    }
}
