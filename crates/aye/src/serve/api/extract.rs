//! Reading requests: what does not fit is a problem with words.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use serde::de::DeserializeOwned;

use crate::paint::escape_control_line;
use crate::serve::identity::Identity;
use crate::serve::problem::{Code, Problem};

/// How long a client may take to send its body.
const BODY: Duration = Duration::from_secs(10);
/// The longest key.
const KEY: usize = 200;

/// A JSON body.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        // What a form of another page could send without asking is not JSON.
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .eq_ignore_ascii_case("application/json")
        {
            let detail = "the body has to be `application/json`";
            return Err(Problem::new(Code::MediaType, detail));
        }
        let read = Bytes::from_request(request, state);
        let bytes = match tokio::time::timeout(BODY, read).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(rejection)) => {
                let status = rejection.into_response().status();
                return Err(match status == StatusCode::PAYLOAD_TOO_LARGE {
                    true => Problem::new(Code::TooLarge, "the body is longer than 1 MiB"),
                    false => Problem::new(Code::Invalid, "the body is cut off"),
                });
            }
            Err(_) => return Err(Problem::new(Code::TimedOut, "the body took too long")),
        };
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        match serde_json::from_slice(text) {
            Ok(body) => Ok(Self(body)),
            Err(error) => Err(Problem::new(Code::Invalid, escape_control_line(&error.to_string()))),
        }
    }
}

/// Parts of the address, as the route names them.
pub(in crate::serve) struct Path<T>(pub(in crate::serve) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(found)) => Ok(Self(found)),
            Err(error) => Err(Problem::new(Code::Invalid, escape_control_line(&error.body_text()))),
        }
    }
}

/// The part of the address after `?`.
pub(in crate::serve) struct Params<T>(pub(in crate::serve) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Self(params)),
            Err(error) => Err(Problem::new(Code::Invalid, escape_control_line(&error.to_string()))),
        }
    }
}

/// The idempotency key. A bearer client has to send one: only it knows whether
/// it sends something again.
pub(super) struct Key(pub(super) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let key = parts.headers.get("idempotency-key");
        match key.map(|key| key.to_str().unwrap_or_default()) {
            Some(key) if key.is_empty() || key.len() > KEY => {
                let detail = format!("`Idempotency-Key` has 1 to {KEY} characters");
                Err(Problem::new(Code::Invalid, detail))
            }
            Some(key) => Ok(Self(Some(key.to_owned()))),
            None if parts.extensions.get().is_some_and(Identity::is_session) => Ok(Self(None)),
            None => Err(no_key()),
        }
    }
}

/// The key is missing.
pub(super) fn no_key() -> Problem {
    Problem::new(Code::KeyRequired, "the header `Idempotency-Key` is missing")
        .hint("send a new random value with each request, and the same one to repeat it")
}
