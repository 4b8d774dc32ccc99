//! What every request has to show before it is looked at: a `Host` that is
//! ours, no foreign `Origin`, and a token or a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::identity::Identity;
use super::metrics::Metrics;
use super::problem::{Code, Problem};
use super::server::{Place, Server};

/// The header with the half of a session that belongs to the origin.
pub(super) const SECRET: HeaderName = HeaderName::from_static("x-aye-secret");
/// The name of the cookie; each home has its own, since all ports share them.
pub(super) const COOKIE: &str = "aye_session";

/// A connection, as the listener knows it.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    /// The account at the other end of a unix socket, told by the kernel.
    pub(super) account: Option<String>,
    /// It came through a unix socket: names of hosts mean nothing there.
    pub(super) is_unix: bool,
    /// It came from another machine.
    pub(super) elsewhere: bool,
    /// Its client has shown who it is.
    pub(super) known: Arc<AtomicBool>,
}

/// A socket whose session is proven by its first message.
#[derive(Debug, Clone)]
pub(super) struct HalfSession {
    pub(super) cookie: String,
    pub(super) elsewhere: bool,
}

/// What can be had without a token: nothing that tells or changes anything.
fn is_open(method: &Method, path: &str) -> bool {
    match *method {
        Method::GET | Method::HEAD => {
            matches!(path, "/" | "/healthz" | "/readyz") || path.starts_with("/assets/")
        }
        // Anyone who has a token shows it in the body.
        Method::POST => matches!(path, "/api/v1/session" | "/api/v1/answer-token"),
        _ => false,
    }
}

/// Someone follows a link to the page, such as in a mail: it tells nothing by
/// itself, and its cookie does not come along.
fn is_visit(request: &Request) -> bool {
    let navigates = request.headers().get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    navigates && request.method() == Method::GET && request.uri().path() == "/"
}

/// Lets a request through with who it is from, or refuses it.
pub(super) async fn guard(
    State(server): State<Arc<Server>>,
    mut request: Request,
    next: Next,
) -> Response {
    Metrics::count(&server.metrics.requests);
    let connection = request.extensions().get::<Connection>().cloned();
    let mut response = match check(&server, &mut request, connection.as_ref()) {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            Metrics::count(&server.metrics.refused);
            problem.into_response()
        }
    };
    harden(response.headers_mut());
    response
}

fn check(
    server: &Server,
    request: &mut Request,
    connection: Option<&Connection>,
) -> Result<(), Problem> {
    let is_unix = connection.is_some_and(|connection| connection.is_unix);
    if !is_unix {
        check_host(&server.place, request.headers())?;
    }
    if !is_visit(request) {
        check_origin(&server.place, request.headers(), is_unix)?;
    }
    if is_open(request.method(), request.uri().path()) {
        return Ok(());
    }
    let is_socket = request.uri().path() == "/ws";
    match authenticate(server, request.headers(), connection, is_socket)? {
        Found::Identity(identity) => {
            must_be_here(&identity, connection.is_some_and(|connection| connection.elsewhere))?;
            let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
            if changes && identity.is_session() && !request.headers().contains_key(header::ORIGIN) {
                let detail = "a browser says where a request comes from: `Origin` is missing";
                return Err(Problem::new(Code::Forbidden, detail));
            }
            if let Some(connection) = connection {
                connection.known.store(true, Ordering::Relaxed);
            }
            request.extensions_mut().insert(identity);
        }
        Found::HalfSession(half) => {
            if !request.headers().contains_key(header::ORIGIN) {
                let detail = "a browser says where a request comes from: `Origin` is missing";
                return Err(Problem::new(Code::Forbidden, detail));
            }
            request.extensions_mut().insert(half);
        }
    }
    Ok(())
}

enum Found {
    Identity(Identity),
    HalfSession(HalfSession),
}

fn authenticate(
    server: &Server,
    headers: &HeaderMap,
    connection: Option<&Connection>,
    is_socket: bool,
) -> Result<Found, Problem> {
    if let Some(token) = bearer(headers) {
        return match server.of_token(token)? {
            Some(identity) => Ok(Found::Identity(identity)),
            None => Err(unknown(server, "the token is not valid")),
        };
    }
    if let Some(account) = connection.and_then(|connection| connection.account.as_deref()) {
        return match server.of_account(account)? {
            Some(identity) => Ok(Found::Identity(identity)),
            None => Err(unknown(
                server,
                &format!(
                    "account `{account}` is not a person of this \
                 server"
                ),
            )),
        };
    }
    let Some(cookie) = cookie(server, headers) else {
        return Err(unknown(server, "this needs a token or a session"));
    };
    match headers.get(SECRET).and_then(|secret| secret.to_str().ok()) {
        Some(secret) => match server.of_session(&cookie, secret)? {
            Some(identity) => Ok(Found::Identity(identity)),
            None => Err(unknown(server, "the session is not valid")),
        },
        // A browser cannot send headers of its own with a socket.
        None if is_socket && server.people()?.knows_cookie(&cookie) => {
            let elsewhere = connection.is_some_and(|connection| connection.elsewhere);
            Ok(Found::HalfSession(HalfSession { cookie, elsewhere }))
        }
        None => Err(unknown(server, "the session needs the header `X-Aye-Secret`")),
    }
}

/// The account of the server is someone on its machine: from elsewhere come people.
pub(super) fn must_be_here(identity: &Identity, elsewhere: bool) -> Result<(), Problem> {
    match identity.is_local() && elsewhere {
        false => Ok(()),
        true => {
            let detail = "the account of the server counts on its own machine only";
            Err(Problem::new(Code::Forbidden, detail)
                .hint("use the link or the token of a person: `aye people add NAME`"))
        }
    }
}

fn unknown(server: &Server, detail: &str) -> Problem {
    match server.rates.lets_guess(Instant::now()) {
        true => Problem::new(Code::Unauthorized, detail)
            .hint("programs of this user find a token in `AYE_HOME/serve.json`"),
        false => Problem::new(Code::RateLimited, "too many requests without a valid token"),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The value of our cookie.
fn cookie(server: &Server, headers: &HeaderMap) -> Option<String> {
    let name = cookie_name(server);
    headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).find_map(
        |value| {
            value.split(';').find_map(|pair| {
                let (found, value) = pair.trim().split_once('=')?;
                (found == name).then(|| value.to_owned())
            })
        },
    )
}

/// Two servers on one host must not sign each other's browsers out.
pub(super) fn cookie_name(server: &Server) -> String {
    let home = aye_core::digest::digest(&[server.runtime.home.to_string_lossy().as_bytes()]);
    format!("{COOKIE}_{}", &home[..8])
}

/// The value of a header. Which of two counts is for nobody to guess.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    match second {
        Some(_) => Err(Problem::new(Code::Invalid, format!("`{name}` comes more than once"))),
        None => Ok(first.map(|value| value.to_str().unwrap_or_default())),
    }
}

fn check_host(place: &Place, headers: &HeaderMap) -> Result<(), Problem> {
    let host = only(headers, &header::HOST)?.unwrap_or_default();
    match place.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)) {
        true => Ok(()),
        // A name that someone made to point here.
        false => Err(Problem::new(Code::Forbidden, "`Host` is not an address of this server")),
    }
}

fn check_origin(place: &Place, headers: &HeaderMap, is_unix: bool) -> Result<(), Problem> {
    let foreign = || Problem::new(Code::Forbidden, "the request comes from another origin");
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    if matches!(site, Some("cross-site" | "same-site")) {
        return Err(foreign());
    }
    let Some(origin) = only(headers, &header::ORIGIN)? else { return Ok(()) };
    let own = origin
        .strip_prefix(place.scheme)
        .and_then(|rest| rest.strip_prefix("://"))
        .is_some_and(|host| place.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)));
    if own && !is_unix { Ok(()) } else { Err(foreign()) }
}

/// Whatever is sent: nobody keeps it, frames it, guesses its kind or runs what
/// is not ours.
fn harden(headers: &mut HeaderMap) {
    const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
         data:; \
        connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types lit-html aye-graph";
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CSP),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Refuses a client that is not the account that the server runs as.
pub(super) fn must_be_local(identity: &Identity) -> Result<(), Problem> {
    match identity.is_local() {
        true => Ok(()),
        false => Err(Problem::new(Code::Forbidden, "only the account of the server may do this")),
    }
}
