//! Messages on a connection. A long one goes out in several frames: the buffer of a
//! connection never shrinks again, and there may be thousands of them.

use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use sha1::{Digest as _, Sha1};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use crate::serve::problem::{Code, Problem};

pub(in crate::serve) use tokio_tungstenite::tungstenite::Utf8Bytes;

/// The longest message of a client.
const LONGEST: usize = 256 * 1024;
/// How much is read at once; most messages of clients are shorter.
const READ: usize = 512;
/// The longest frame that is sent.
const PART: usize = 1024;
/// What the protocol adds to the key of a client.
const MAGIC: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A request that becomes a socket.
pub(in crate::serve) struct Handshake {
    accept: String,
    upgrade: OnUpgrade,
}

impl<S: Send + Sync> FromRequestParts<S> for Handshake {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let says = |name: HeaderName, word: &str| {
            let value = parts.headers.get(name).and_then(|value| value.to_str().ok());
            let mut words = value.unwrap_or_default().split(',');
            words.any(|one| one.trim().eq_ignore_ascii_case(word))
        };
        let is_socket = parts.method == Method::GET
            && says(header::CONNECTION, "upgrade")
            && says(header::UPGRADE, "websocket")
            && says(header::SEC_WEBSOCKET_VERSION, "13");
        let key = parts.headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| is_socket);
        let accept = key.map(|key| {
            let hash = Sha1::new().chain_update(key.as_bytes()).chain_update(MAGIC).finalize();
            STANDARD.encode(hash)
        });
        match (accept, parts.extensions.remove::<OnUpgrade>()) {
            (Some(accept), Some(upgrade)) => Ok(Self { accept, upgrade }),
            (_, _) => {
                let detail = "this address is a socket: connect to it as a WebSocket client does";
                Err(Problem::new(Code::Invalid, detail))
            }
        }
    }
}

impl Handshake {
    /// Agrees, and attends to the client once the connection is a socket.
    pub(super) fn accept<F>(self, attend: impl FnOnce(Wire) -> F + Send + 'static) -> Response
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Self { accept, upgrade } = self;
        tokio::spawn(async move {
            // A client that has gone meanwhile is not news.
            if let Ok(upgraded) = upgrade.await {
                attend(Wire::new(upgraded).await).await;
            }
        });
        let accept = HeaderValue::from_str(&accept).unwrap_or(HeaderValue::from_static(""));
        let headers = [
            (header::CONNECTION, HeaderValue::from_static("upgrade")),
            (header::UPGRADE, HeaderValue::from_static("websocket")),
            (header::SEC_WEBSOCKET_ACCEPT, accept),
        ];
        (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
    }
}

/// What a client said.
pub(super) enum Heard {
    Text(Utf8Bytes),
    Binary,
    /// That it is there.
    Alive,
    /// Nothing more.
    Gone,
}

/// The connection is broken.
pub(super) struct Broken;

/// A connection.
pub(super) struct Wire(WebSocketStream<TokioIo<Upgraded>>);

impl Wire {
    async fn new(upgraded: Upgraded) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ)
            // One event is one write.
            .write_buffer_size(0)
            .max_message_size(Some(LONGEST))
            .max_frame_size(Some(LONGEST));
        let io = TokioIo::new(upgraded);
        Self(WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await)
    }

    pub(super) async fn next(&mut self) -> Heard {
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => Heard::Text(text),
            Some(Ok(Message::Binary(_))) => Heard::Binary,
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Heard::Alive,
            Some(Ok(Message::Close(_)) | Err(_)) | None => Heard::Gone,
        }
    }

    pub(super) async fn text(&mut self, text: Utf8Bytes) -> Result<(), Broken> {
        let mut rest = Bytes::from(text);
        let mut kind = Data::Text;
        loop {
            let part = rest.split_to(rest.len().min(PART));
            let frame = Frame::message(part, OpCode::Data(kind), rest.is_empty());
            self.send(Message::Frame(frame)).await?;
            if rest.is_empty() {
                return Ok(());
            }
            kind = Data::Continue;
        }
    }

    /// Asks whether the client is there.
    pub(super) async fn ping(&mut self) -> Result<(), Broken> {
        self.send(Message::Ping(Bytes::new())).await
    }

    /// Says why, and says no more.
    pub(super) async fn close(&mut self, code: u16, reason: String) -> Result<(), Broken> {
        let frame = CloseFrame { code: code.into(), reason: reason.into() };
        self.send(Message::Close(Some(frame))).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Broken> {
        self.0.send(message).await.map_err(|_| Broken)
    }
}
