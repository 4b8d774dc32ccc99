//! A connection whose client has to read: one that takes nothing of what is sent for a
//! while is closed, and what was kept for it is free again.

use std::future::Future as _;
use std::io::{ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A stream with a limit on how long a write may wait.
pub(super) struct WriteLimit<S> {
    stream: S,
    limit: Duration,
    /// Since the client took something last, if something waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteLimit<S> {
    pub(super) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, waiting: None }
    }

    /// The stream, without the limit.
    pub(super) fn into_inner(self) -> S {
        self.stream
    }

    fn in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<Result<T>>,
    ) -> Poll<Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteLimit<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteLimit<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.in_time(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.in_time(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.in_time(context, polled)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    fn executor() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn who_does_not_read_is_not_waited_for() {
        executor().block_on(async {
            let (ours, _theirs) = duplex(8);
            let mut ours = WriteLimit::new(ours, Duration::from_millis(20));
            let error = ours.write_all(&[0; 100]).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
        });
    }

    /// However long all of it takes, someone who reads is served.
    #[test]
    fn who_reads_slowly_gets_everything() {
        executor().block_on(async {
            let (ours, mut theirs) = duplex(8);
            let mut ours = WriteLimit::new(ours, Duration::from_secs(5));
            let reading = tokio::spawn(async move {
                let mut bytes = [0; 10];
                for _ in 0..10 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    theirs.read_exact(&mut bytes).await.unwrap();
                }
            });
            ours.write_all(&[0; 100]).await.unwrap();
            reading.await.unwrap();
        });
    }
}
