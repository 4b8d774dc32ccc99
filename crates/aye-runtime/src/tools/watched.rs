//! A server's standard output on its way to the protocol: only messages pass
//! for long, and no message is endless.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::handler::Shared;

/// The longest message.
const LONGEST: usize = 16 * 1024 * 1024;
/// How many lines that are not messages are worth mentioning.
const MENTIONED: usize = 20;
/// How much of such a line is shown.
const SHOWN: usize = 200;

/// What went wrong with a stream, for the error that follows.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Why nothing more was read.
    pub(super) fatal: Option<String>,
    /// The first line that was not a message.
    pub(super) strange: Option<String>,
}

/// Shared by the stream and the code that reports the error.
pub(super) type Fault = Arc<Mutex<Faults>>;

/// Passes bytes on and looks at the beginning and length of each line.
pub(super) struct Watched<R> {
    read: R,
    shared: Shared,
    fault: Fault,
    /// Bytes of the line so far.
    length: usize,
    /// The beginning of a line that is not a message.
    strange: Option<Vec<u8>>,
    mentioned: usize,
}

impl<R> Watched<R> {
    pub(super) fn new(read: R, shared: Shared, fault: Fault) -> Self {
        Self { read, shared, fault, length: 0, strange: None, mentioned: 0 }
    }

    /// Whether the bytes may pass.
    fn look(&mut self, bytes: &[u8]) -> bool {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match part.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (part, false),
            };
            let begins = text.trim_ascii_start().first();
            if self.length == 0 && begins.is_some_and(|byte| !matches!(byte, b'{' | b'[')) {
                self.strange = Some(Vec::new());
            }
            if let Some(strange) = &mut self.strange {
                let room = SHOWN.saturating_sub(strange.len());
                strange.extend_from_slice(&text[..text.len().min(room)]);
            }
            self.length += text.len();
            if self.length > LONGEST {
                let message = format!("it sent a message of more than {} MiB", LONGEST >> 20);
                self.fault.lock().unwrap_or_else(PoisonError::into_inner).fatal = Some(message);
                return false;
            }
            if ends {
                self.length = 0;
                self.mention();
            }
        }
        true
    }

    fn mention(&mut self) {
        let Some(strange) = self.strange.take() else {
            return;
        };
        let text = String::from_utf8_lossy(&strange).trim().to_owned();
        if text.is_empty() || self.mentioned >= MENTIONED {
            return;
        }
        self.mentioned += 1;
        self.shared.log(format!("not a message on its standard output: {text}"));
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.strange.get_or_insert(text);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.read).poll_read(context, buffer))?;
        let new = buffer.filled()[before..].to_vec();
        if !self.look(&new) {
            // As if it had ended: nothing more of it is wanted.
            buffer.set_filled(before);
        }
        Poll::Ready(Ok(()))
    }
}
