//! Writing answers.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::mpsc::Receiver;

use crate::harmless::json_line;
use crate::serve::problem::Problem;

/// What a handler returns.
pub(super) type Reply = Result<Response, Problem>;

/// A value as JSON.
pub(super) fn json(value: &impl Serialize) -> Response {
    json_with(StatusCode::OK, value)
}

/// The same with another status.
pub(super) fn json_with(status: StatusCode, value: &impl Serialize) -> Response {
    let kind = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, kind)], json_line(value)).into_response()
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
