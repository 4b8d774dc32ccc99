//! One client on standard input and output.
//!
//! The two are taken away from everything else in the process first: whatever
//! prints by mistake prints to standard error, and cannot break the protocol.

use std::fs::{File, OpenOptions};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Turn, Poll};

use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{AsyncRwTransport, DEFAULT_MAX_LINE_LENGTH};
use rmcp::{ErrorData, RoleServer};
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

use aye_runtime::error::Error;
use aye_runtime::runtime::Runtime;

use super::server_state::ServerState;
use super::service::Assistant;
use crate::executor::executor;

/// Serves until the client closes its end.
pub(crate) fn serve(served: Arc<Runtime>) -> Result<u8, Error> {
    let server = Arc::new(ServerState::new(served)?);
    let (input, output) =
        take_over().map_err(Error::system("take over standard input and output"))?;
    let runtime = executor()?;
    let served = runtime.block_on(async {
        let (tell, unreadable) = mpsc::unbounded_channel();
        let input = WatchedInput {
            file: tokio::fs::File::from_std(input),
            server: Arc::clone(&server),
            line: Vec::new(),
            tell,
        };
        let output = tokio::fs::File::from_std(output);
        let transport = Lines { inner: AsyncRwTransport::new_server(input, output), unreadable };
        match rmcp::serve_server(Assistant::new(Arc::clone(&server)), transport).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    });
    // Threads that wait for a run hold nothing that has to be put away.
    runtime.shutdown_background();
    match served {
        Ok(()) => Ok(0),
        Err(_) if server.is_closing() => Ok(0),
        Err(message) => Err(Error::Refused {
            message: format!("the client does not speak the protocol: {message}"),
            hint: Some("assistants start this; see `aye mcp install --help`".to_owned()),
        }),
    }
}

/// The two streams of the protocol, out of reach of all other code.
fn take_over() -> std::io::Result<(File, File)> {
    let input = rustix::io::dup(std::io::stdin())?;
    let output = rustix::io::dup(std::io::stdout())?;
    for stream in [&input, &output] {
        // What we start must not inherit them.
        rustix::io::fcntl_setfd(stream, rustix::io::FdFlags::CLOEXEC)?;
    }
    let nowhere = OpenOptions::new().read(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nowhere)?;
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    Ok((File::from(input), File::from(output)))
}

/// The lines of the protocol. The library is silent about a line that is not
/// JSON; its client hears here what is wrong with it.
struct Lines<W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, WatchedInput, W>,
    /// One for each line that is not JSON.
    unreadable: mpsc::UnboundedReceiver<()>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Lines<W> {
    /// Says that a line was not JSON. By a task of its own: who waits for a message may
    /// stop waiting at any time, and half a line would spoil the next one.
    fn refuse_line(&mut self) {
        let error = ErrorData::parse_error("this line is not JSON: write one message a line", None);
        tokio::spawn(self.inner.send(ServerJsonRpcMessage::error(error, None)));
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Lines<W> {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // A read that is dropped continues where it was.
            let message = tokio::select! {
                biased;
                Some(()) = self.unreadable.recv() => None,
                message = self.inner.receive() => Some(message),
            };
            match message {
                None => self.refuse_line(),
                Some(message) => {
                    while self.unreadable.try_recv().is_ok() {
                        self.refuse_line();
                    }
                    return message;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Standard input; its end tells everything that waits to stop waiting, and a
/// line that is not JSON is told to [`Lines`].
struct WatchedInput {
    file: tokio::fs::File,
    server: Arc<ServerState>,
    /// The line so far.
    line: Vec<u8>,
    tell: mpsc::UnboundedSender<()>,
}

impl WatchedInput {
    fn check_lines(&mut self, read: &[u8]) {
        for byte in read {
            if *byte != b'\n' {
                // A line that is too long is dropped by the library.
                if self.line.len() < DEFAULT_MAX_LINE_LENGTH {
                    self.line.push(*byte);
                }
                continue;
            }
            let line = self.line.trim_ascii();
            let whole = self.line.len() < DEFAULT_MAX_LINE_LENGTH;
            if whole && !line.is_empty() && serde_json::from_slice::<IgnoredAny>(line).is_err() {
                // Nobody listens once the connection is closed.
                let _ = self.tell.send(());
            }
            self.line.clear();
        }
    }
}

impl AsyncRead for WatchedInput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        turn: &mut Turn<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.file).poll_read(turn, buffer);
        if let Poll::Ready(Ok(())) = polled {
            match buffer.filled().len() == before && buffer.remaining() > 0 {
                true => self.server.close(),
                false => self.check_lines(&buffer.filled()[before..]),
            }
        }
        polled
    }
}
