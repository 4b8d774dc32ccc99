//! One HTTP request over one connection, encrypted unless it stays on this
//! machine. Redirects are not followed: a token goes where
//! the settings say.
//!
//! Touches the network and, for names, `getent`. The response goes back to the caller: a channel of
//! `notify`, or the client of a tool server in `tools`.

mod resolve;

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::settings::is_loopback;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(15);

/// Why a request got no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// There is no connection.
    #[error("cannot connect to `{host}`: {source}")]
    Connect { host: String, source: io::Error },
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] hyper::Error),
    /// The request cannot be written.
    #[error("the request cannot be sent: {0}")]
    Request(#[from] http::Error),
    /// The message cannot be written.
    #[error("the message cannot be written: {0}")]
    Message(#[from] serde_json::Error),
    /// The response is too long.
    #[error("a message of more than {0} MiB")]
    TooLong(usize),
}

pub(crate) use resolve::resolve;

trait Stream: AsyncRead + AsyncWrite + Send {}
impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}

/// Sends a request, whose address is of the form `/path`, to a host.
pub(crate) async fn send(
    uri: &Uri,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, HttpError> {
    let host = uri.host().unwrap_or_default().to_owned();
    let failed = |source: io::Error| HttpError::Connect { host: host.clone(), source };
    let stream = tokio::time::timeout(CONNECT, open(uri))
        .await
        .map_err(|_| failed(io::ErrorKind::TimedOut.into()))?
        .map_err(failed)?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // It ends when the response was read; what went wrong is seen there.
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?)
}

async fn open(uri: &Uri) -> io::Result<Pin<Box<dyn Stream>>> {
    let encrypted = uri.scheme_str() == Some("https");
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
    let stream = if host.eq_ignore_ascii_case("localhost") {
        // Whatever names are looked up in, this machine is this machine.
        match TcpStream::connect(("127.0.0.1", port)).await {
            Ok(stream) => stream,
            Err(_) => TcpStream::connect(("::1", port)).await?,
        }
    } else {
        connect(host, port).await?
    };
    if !encrypted {
        // The settings say so too; what is sent in the clear is checked where it is sent.
        if !is_loopback(host) {
            return Err(io::Error::other("it is not encrypted"));
        }
        return Ok(Box::pin(stream));
    }
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    Ok(Box::pin(TlsConnector::from(config()?).connect(name, stream).await?))
}

/// Connects to the first address of a host that takes it.
async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let name = host.to_owned();
    let found = tokio::task::spawn_blocking(move || resolve(&name)).await;
    let addresses = found.map_err(io::Error::other)??;
    let mut last = io::Error::other("the name has no address");
    for address in addresses {
        match TcpStream::connect((address, port)).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The certificates this system trusts, read once.
fn config() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(io::Error::other("this system has no certificates; install `ca-certificates`"));
    }
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}
