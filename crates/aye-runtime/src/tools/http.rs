//! A server behind an address.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse, SseStream};

use crate::http_client::{HttpError, send};

use super::error::ToolError;

/// The longest message.
const LONGEST: usize = 16 * 1024 * 1024;
/// How much of a refusal is repeated.
const SHOWN: usize = 300;

type Failure = StreamableHttpError<HttpError>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The bearer token that a variable holds.
pub(super) fn token(
    server: &str,
    variable: Option<&str>,
    environment: &BTreeMap<String, String>,
) -> Result<Option<String>, ToolError> {
    let Some(variable) = variable else {
        return Ok(None);
    };
    match environment.get(variable).filter(|token| !token.is_empty()) {
        Some(token) => Ok(Some(token.clone())),
        None => {
            let message =
                format!("the server `{server}` wants the token of `{variable}`, which is not set");
            Err(ToolError::server(message).hint(format!("set `{variable}` in the environment")))
        }
    }
}

/// The transport to an address.
pub(super) fn transport(
    server: &str,
    url: &str,
    token: Option<String>,
) -> Result<StreamableHttpClientTransport<Http>, ToolError> {
    let uri: Uri = url.parse().map_err(|error| {
        ToolError::server(format!("the address of `{server}` is not valid: {error}"))
    })?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.max_sse_event_size = LONGEST;
    if let Some(token) = token {
        config = config.auth_header(token);
    }
    Ok(StreamableHttpClientTransport::with_client(Http { uri: Arc::new(uri) }, config))
}

/// Requests to one address.
#[derive(Debug, Clone)]
pub(super) struct Http {
    uri: Arc<Uri>,
}

impl Http {
    async fn ask(
        &self,
        method: Method,
        body: String,
        session: Option<&str>,
        token: Option<String>,
        more: Headers,
        extra: &[(&str, &str)],
    ) -> Result<Response<Incoming>, HttpError> {
        let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
        let host = self.uri.authority().map_or("", |authority| authority.as_str());
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, host);
        for (name, value) in extra {
            request = request.header(*name, *value);
        }
        if let Some(session) = session {
            request = request.header(HEADER_SESSION_ID, session);
        }
        if let Some(token) = token {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {token}")).map_err(http::Error::from)?;
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        for (name, value) in more {
            request = request.header(name, value);
        }
        send(&self.uri, request.body(Full::new(Bytes::from(body)))?).await
    }
}

impl StreamableHttpClient for Http {
    type Error = HttpError;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        more: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let body = serde_json::to_string(&message).map_err(failed)?;
        let accept = format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}");
        let extra = [("content-type", JSON_MIME_TYPE), ("accept", accept.as_str())];
        let response = self
            .ask(Method::POST, body, session.as_deref(), token, more, &extra)
            .await
            .map_err(StreamableHttpError::Client)?;
        let status = response.status();
        refuse_strangers(&response)?;
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        if !status.is_success() {
            let body = whole(response).await.unwrap_or_default();
            return match too_old(&message, session.is_some(), status, &body) {
                Some(response) => Ok(response),
                None => Err(unexpected(status, &body)),
            };
        }
        let named = response.headers().get(HEADER_SESSION_ID);
        let named = named.and_then(|value| value.to_str().ok()).map(str::to_owned);
        match kind(&response) {
            Kind::Events => Ok(StreamableHttpPostResponse::Sse(events(response), named)),
            Kind::Json => {
                let body = whole(response).await?;
                match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
                    Ok(message) => Ok(StreamableHttpPostResponse::Json(message, named)),
                    Err(_) if !is_request => Ok(StreamableHttpPostResponse::Accepted),
                    Err(error) => Err(failed(error)),
                }
            }
            Kind::Other if !is_request => Ok(StreamableHttpPostResponse::Accepted),
            Kind::Other => Err(StreamableHttpError::UnexpectedContentType(content_type(&response))),
        }
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        more: Headers,
    ) -> Result<(), Failure> {
        // A server that keeps its sessions is not an error of ours.
        self.ask(Method::DELETE, String::new(), Some(&session), token, more, &[])
            .await
            .map(drop)
            .map_err(StreamableHttpError::Client)
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        more: Headers,
    ) -> Result<Events, Failure> {
        let mut extra = vec![("accept", EVENT_STREAM_MIME_TYPE)];
        if let Some(last) = &last {
            extra.push((HEADER_LAST_EVENT_ID, last));
        }
        let response = self
            .ask(Method::GET, String::new(), session.as_deref(), token, more, &extra)
            .await
            .map_err(StreamableHttpError::Client)?;
        refuse_strangers(&response)?;
        match (response.status(), kind(&response)) {
            (StatusCode::METHOD_NOT_ALLOWED, _) => {
                Err(StreamableHttpError::ServerDoesNotSupportSse)
            }
            (status, Kind::Events) if status.is_success() => Ok(events(response)),
            (status, _) if status.is_success() => {
                Err(StreamableHttpError::UnexpectedContentType(content_type(&response)))
            }
            (status, _) => Err(unexpected(status, b"")),
        }
    }
}

fn failed(error: impl Into<HttpError>) -> Failure {
    StreamableHttpError::Client(error.into())
}

fn unexpected(status: StatusCode, body: &[u8]) -> Failure {
    let said = String::from_utf8_lossy(body);
    let end = said.floor_char_boundary(SHOWN);
    // The mark tells what masks secrets that one may be cut there.
    let mark = if end < said.len() { "…" } else { "" };
    let said = &said[..end];
    StreamableHttpError::UnexpectedServerResponse(format!("HTTP {status} {said}{mark}").into())
}

/// 401 and 403 say what kind of token is wanted.
fn refuse_strangers(response: &Response<Incoming>) -> Result<(), Failure> {
    if !matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Ok(());
    }
    let wanted = response.headers().get(header::WWW_AUTHENTICATE);
    let wanted = wanted.and_then(|value| value.to_str().ok()).unwrap_or("a token");
    Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(wanted.to_owned())))
}

/// A server of 2025 refuses the question of 2026 in many ways; all of them
/// mean that it is one.
fn too_old(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    status: StatusCode,
    body: &[u8],
) -> Option<StreamableHttpPostResponse> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return None;
    };
    let asked = matches!(request.request, ClientRequest::DiscoverRequest(_));
    if !asked || in_session || !status.is_client_error() {
        return None;
    }
    let error = match serde_json::from_slice(body) {
        Ok(ServerJsonRpcMessage::Error(error)) => error.error,
        _ => ErrorData::invalid_request(format!("HTTP {status}"), None),
    };
    let message = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
    Some(StreamableHttpPostResponse::Json(message, None))
}

enum Kind {
    Events,
    Json,
    Other,
}

fn content_type(response: &Response<Incoming>) -> Option<String> {
    let kind = response.headers().get(header::CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(kind.as_bytes()).into_owned())
}

fn kind(response: &Response<Incoming>) -> Kind {
    match content_type(response) {
        Some(kind) if kind.starts_with(EVENT_STREAM_MIME_TYPE) => Kind::Events,
        Some(kind) if kind.starts_with(JSON_MIME_TYPE) => Kind::Json,
        _ => Kind::Other,
    }
}

async fn whole(response: Response<Incoming>) -> Result<Bytes, Failure> {
    let body = Limited::new(response.into_body(), LONGEST);
    match body.collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(StreamableHttpError::Client(match error.downcast::<hyper::Error>() {
            Ok(error) => HttpError::Broken(*error),
            Err(_) => HttpError::TooLong(LONGEST >> 20),
        })),
    }
}

/// The events of a response; none of them is endless.
fn events(response: Response<Incoming>) -> Events {
    let mut event = 0_usize;
    let mut line = 0_usize;
    let bytes = response.into_body().into_data_stream().map(move |chunk| {
        let chunk = chunk?;
        for &byte in &chunk {
            match byte {
                // An empty line ends an event.
                b'\n' if line == 0 => event = 0,
                b'\n' => line = 0,
                b'\r' => {}
                _ => line += 1,
            }
            event += 1;
        }
        if event > LONGEST { Err(HttpError::TooLong(LONGEST >> 20)) } else { Ok(chunk) }
    });
    SseStream::from_bytes_stream(bytes).boxed()
}
