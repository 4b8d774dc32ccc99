//! Messages on a connection. What is sent is made a frame once, for however many clients,
//! and written as it is; what is read goes through a `WebSocketStream`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

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
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::serve::problem::{Code, Problem};
use crate::serve::write_limit::WriteLimit;

use super::client_queue::ClientQueue;

/// The longest message of a client.
const LONGEST: usize = 256 * 1024;
/// How much is read at once; most messages of clients are shorter.
const READ: usize = 512;
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
    /// Agrees, and serves the client once the connection is a socket.
    pub(super) fn accept<F>(self, serve: impl FnOnce(Wire) -> F + Send + 'static) -> Response
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Self { accept, upgrade } = self;
        tokio::spawn(async move {
            // A client that has gone meanwhile is not news.
            if let Ok(upgraded) = upgrade.await {
                serve(Wire::new(upgraded).await).await;
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
pub(super) enum Incoming {
    Text(Utf8Bytes),
    Binary,
    /// That it is there.
    Alive,
    /// Nothing more.
    Gone,
}

/// The connection is broken.
pub(super) struct Broken;

/// A message, as it is sent.
pub(in crate::serve) fn text_frame(text: String) -> Bytes {
    encoded(Frame::message(text, OpCode::Data(Data::Text), true))
}

fn encoded(frame: Frame) -> Bytes {
    let mut bytes = Vec::with_capacity(frame.len());
    // Writing to memory does not fail.
    let _ = frame.format(&mut bytes);
    bytes.into()
}

/// A connection.
pub(super) struct Wire {
    reading: WebSocketStream<Reading>,
    /// Where an encrypted connection is written to; others are written to as they are.
    encrypted: Option<WriteHalf<TokioIo<Upgraded>>>,
    queue: Arc<ClientQueue>,
    /// What is being sent: all of it goes before anything else, also if it took too long.
    unsent: Bytes,
}

impl Wire {
    async fn new(upgraded: Upgraded) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ)
            .write_buffer_size(0)
            .max_message_size(Some(LONGEST))
            .max_frame_size(Some(LONGEST));
        let (half, plain, encrypted, read) = match upgraded.downcast::<Plain>() {
            Ok(parts) => {
                let (reading, writing) = parts.io.into_inner().into_inner().into_split();
                (Half::Plain(reading), Some(writing), None, parts.read_buf)
            }
            Err(upgraded) => {
                let (reading, writing) = tokio::io::split(TokioIo::new(upgraded));
                (Half::Other(reading), None, Some(writing), Bytes::new())
            }
        };
        let queue = Arc::new(ClientQueue::new(plain));
        let reading = Reading { half, queue: Arc::clone(&queue) };
        let (read, role) = (read.to_vec(), Role::Server);
        let reading = WebSocketStream::from_partially_read(reading, read, role, Some(config)).await;
        Self { reading, encrypted, queue, unsent: Bytes::new() }
    }

    pub(super) fn queue(&self) -> &Arc<ClientQueue> {
        &self.queue
    }

    pub(super) async fn next(&mut self) -> Incoming {
        match self.reading.next().await {
            Some(Ok(Message::Text(text))) => Incoming::Text(text),
            Some(Ok(Message::Binary(_))) => Incoming::Binary,
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Incoming::Alive,
            Some(Ok(Message::Close(_))) => {
                // The protocol answers it: that waits to be sent.
                let _ = self.reading.flush().await;
                Incoming::Gone
            }
            Some(Err(_)) | None => Incoming::Gone,
        }
    }

    /// Asks whether the client is there.
    pub(super) async fn ping(&mut self) -> Result<(), Broken> {
        self.send(encoded(Frame::ping(Bytes::new()))).await
    }

    /// Says why, and says no more.
    pub(super) async fn close(&mut self, code: u16, reason: String) -> Result<(), Broken> {
        let why = CloseFrame { code: code.into(), reason: reason.into() };
        self.send(encoded(Frame::close(Some(why)))).await
    }

    /// Sends bytes as they are.
    pub(super) async fn send(&mut self, bytes: Bytes) -> Result<(), Broken> {
        self.flush().await?;
        self.unsent = bytes;
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), Broken> {
        while !self.unsent.is_empty() {
            let written = match (&mut self.encrypted, self.queue.plain()) {
                (Some(stream), _) => stream.write(&self.unsent).await,
                (None, Some(stream)) => match stream.try_write(&self.unsent) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        stream.writable().await.map(|()| 0)
                    }
                    written => written,
                },
                (None, None) => return Err(Broken),
            };
            let written = written.map_err(|_| Broken)?;
            drop(self.unsent.split_to(written));
        }
        match &mut self.encrypted {
            Some(stream) => stream.flush().await.map_err(|_| Broken),
            None => Ok(()),
        }
    }
}

/// A connection that is not encrypted, as the listener hands it over.
type Plain = TokioIo<WriteLimit<TcpStream>>;

enum Half {
    Plain(OwnedReadHalf),
    Other(ReadHalf<TokioIo<Upgraded>>),
}

/// The side that is read. What the protocol answers by itself waits with everything else
/// that is to be sent, so that no two frames mix.
struct Reading {
    half: Half,
    queue: Arc<ClientQueue>,
}

impl AsyncRead for Reading {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.half {
            Half::Plain(half) => Pin::new(half).poll_read(context, buffer),
            Half::Other(half) => Pin::new(half).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Reading {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.queue.push(Bytes::copy_from_slice(bytes));
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
