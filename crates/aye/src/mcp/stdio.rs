//! One client on standard input and output.
//!
//! The two are taken away from everything else in the process first: whatever
//! prints by mistake prints to standard error, and cannot break the protocol.

use std::fs::{File, OpenOptions};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Turn, Poll};

use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, ReadBuf};

use aye_runtime::error::Error;
use aye_runtime::runtime::Runtime;

use super::server_state::ServerState;
use super::service::Assistant;

/// Serves until the client closes its end.
pub(crate) fn serve(served: Arc<Runtime>) -> Result<u8, Error> {
    let server = Arc::new(ServerState::new(served)?);
    let (input, output) = take_over().map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(failed)?;
    let served = runtime.block_on(async {
        let input = Ear { file: tokio::fs::File::from_std(input), server: Arc::clone(&server) };
        let output = tokio::fs::File::from_std(output);
        let transport = AsyncRwTransport::new_server(input, output);
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

/// The two streams of the protocol, out of everybody else's reach.
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

/// Standard input; its end tells everything that waits to stop waiting.
struct Ear {
    file: tokio::fs::File,
    server: Arc<ServerState>,
}

impl AsyncRead for Ear {
    fn poll_read(
        mut self: Pin<&mut Self>,
        turn: &mut Turn<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.file).poll_read(turn, buffer);
        if let Poll::Ready(Ok(())) = polled
            && buffer.filled().len() == before
            && buffer.remaining() > 0
        {
            self.server.close();
        }
        polled
    }
}

fn failed(source: std::io::Error) -> Error {
    Error::Input(source)
}
