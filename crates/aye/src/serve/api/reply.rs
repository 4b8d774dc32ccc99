//! Writing answers.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::mpsc::Receiver;

use crate::harmless::json_line;
use crate::serve::problem::Problem;
use crate::serve::server::Server;

/// What a handler returns whose answer is JSON.
pub(super) type Reply<T> = Result<Json<T>, Problem>;

/// Does something that waits, away from the connections, and says as JSON what came of it.
pub(super) async fn reply<T: Send + 'static>(
    server: &Arc<Server>,
    work: impl FnOnce(&Server) -> Result<T, Problem> + Send + 'static,
) -> Reply<T> {
    server.blocking(work).await.map(Json)
}

/// A value as JSON.
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let kind = HeaderValue::from_static("application/json");
        ([(header::CONTENT_TYPE, kind)], json_line(&self.0)).into_response()
    }
}

/// Something new as JSON; or what was there, if the request was sent before.
pub(super) struct Created<T> {
    /// It was there.
    pub(super) repeated: bool,
    /// What there is now.
    pub(super) value: T,
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let status = if self.repeated { StatusCode::OK } else { StatusCode::CREATED };
        (status, Json(self.value)).into_response()
    }
}

/// It was done, and there is nothing to say.
pub(super) struct Done;

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// A drawing.
pub(super) struct Svg(pub(super) String);

impl IntoResponse for Svg {
    fn into_response(self) -> Response {
        text("image/svg+xml", self.0)
    }
}

/// Text of some kind.
pub(super) fn text(kind: &'static str, text: impl Into<Body>) -> Response {
    let kind = HeaderValue::from_static(kind);
    (StatusCode::OK, [(header::CONTENT_TYPE, kind)], text.into()).into_response()
}

/// Text that comes piece by piece.
pub(super) fn stream(kind: &'static str, pieces: Receiver<Bytes>) -> Response {
    text(kind, Body::new(Pieces(pieces)))
}

/// JSON objects, one a line, that come piece by piece.
pub(super) struct Lines(pub(super) Receiver<Bytes>);

impl IntoResponse for Lines {
    fn into_response(self) -> Response {
        stream("application/x-ndjson", self.0)
    }
}

/// A log, or a part of it.
pub(super) struct LogBytes(pub(super) Response);

impl IntoResponse for LogBytes {
    fn into_response(self) -> Response {
        self.0
    }
}

struct Pieces(Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}
