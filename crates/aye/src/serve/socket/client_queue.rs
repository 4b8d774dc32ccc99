//! What waits for one client. An event is written straight to the connection of a client
//! that has everything before it; what cannot be written at once, and everything else,
//! waits for the client's own task.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::Notify;

use crate::serve::hub::{Events, Frame};

/// How many frames wait; a client that falls behind further reads them from the journal.
const MOST: usize = 4096;

/// Something that waits.
#[derive(Debug)]
pub(super) enum Waiting {
    /// The end of what was begun, or an answer to a ping: bytes as they are sent.
    Bytes(Bytes),
    /// What every client gets.
    Frame(Arc<Frame>),
    /// More than can wait: the journal has it.
    Lagged,
}

/// The queue of a client, between the hub and the client's task.
pub(in crate::serve) struct ClientQueue {
    /// The connection, if it takes bytes as they are: one that is encrypted does not.
    plain: Option<OwnedWriteHalf>,
    state: Mutex<State>,
    filled: Notify,
}

struct State {
    waiting: VecDeque<Waiting>,
    /// The client's task is at work, so that nobody else writes.
    is_busy: bool,
    /// Whether the client sees every project.
    sees_all: bool,
    /// The number of the last event that was sent or passed over.
    last: u64,
}

impl ClientQueue {
    /// The queue of a client whose task is at work.
    pub(super) fn new(plain: Option<OwnedWriteHalf>) -> Self {
        let waiting = VecDeque::new();
        let state = State { waiting, is_busy: true, sees_all: false, last: 0 };
        Self { plain, state: Mutex::new(state), filled: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, if it takes bytes as they are.
    pub(super) fn plain(&self) -> Option<&OwnedWriteHalf> {
        self.plain.as_ref()
    }

    /// Sends a frame now, or lets it wait for the task.
    pub(in crate::serve) fn offer(&self, frame: &Arc<Frame>) {
        let mut state = self.state();
        let begun = match &**frame {
            Frame::Events(events) if state.is_next(events) => self.write(events),
            Frame::Events(_) | Frame::Notice { .. } => None,
        };
        match begun {
            Some((last, rest)) => {
                state.last = last;
                if rest.is_empty() {
                    return;
                }
                state.waiting.push_back(Waiting::Bytes(rest));
            }
            None if state.waiting.len() < MOST => {
                state.waiting.push_back(Waiting::Frame(Arc::clone(frame)));
            }
            None => {
                // What was begun has to come to its end, whatever follows.
                state.waiting.retain(|one| matches!(one, Waiting::Bytes(_)));
                state.waiting.push_back(Waiting::Lagged);
            }
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Writes events: the number of the last one, and what the connection did not take.
    /// Nothing if it took nothing, or is broken: its task finds out.
    fn write(&self, events: &Events) -> Option<(u64, Bytes)> {
        let written = self.plain.as_ref()?.try_write(&events.whole).ok()?;
        Some((events.last, events.whole.slice(written..)))
    }

    /// Lets bytes wait that the task itself wants to send later.
    pub(super) fn push(&self, bytes: Bytes) {
        self.state().waiting.push_back(Waiting::Bytes(bytes));
        self.filled.notify_one();
    }

    /// Waits until something waits. Meanwhile the hub may write.
    pub(super) async fn filled(&self) {
        loop {
            let filled = self.filled.notified();
            {
                let mut state = self.state();
                if !state.waiting.is_empty() {
                    return;
                }
                state.is_busy = false;
            }
            filled.await;
        }
    }

    /// From here until `filled` only the task writes, and first what waited.
    pub(super) fn take(&self) -> VecDeque<Waiting> {
        let mut state = self.state();
        state.is_busy = true;
        std::mem::take(&mut state.waiting)
    }

    pub(super) fn last(&self) -> u64 {
        self.state().last
    }

    pub(super) fn set_last(&self, last: u64) {
        self.state().last = last;
    }

    pub(super) fn set_sees_all(&self, sees_all: bool) {
        self.state().sees_all = sees_all;
    }
}

impl State {
    /// Whether these events can be sent now as they are.
    fn is_next(&self, events: &Events) -> bool {
        let is_whole = events.last - events.first + 1 == events.each.len() as u64;
        let is_free = !self.is_busy && self.waiting.is_empty();
        is_free && self.sees_all && is_whole && events.first == self.last + 1
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tokio::io::AsyncReadExt as _;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::serve::hub::EventFrame;

    fn event(n: u64, message: &[u8]) -> Arc<Frame> {
        let (whole, workspace) = (Bytes::copy_from_slice(message), Path::new("").into());
        let each = vec![EventFrame { n, workspace, message: whole.clone() }];
        Arc::new(Frame::Events(Events { first: n, last: n, whole, each }))
    }

    /// A client that sees everything up to event 7, and its side of the connection.
    async fn client() -> (ClientQueue, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let theirs = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (ours, _) = listener.accept().await.unwrap();
        ours.writable().await.unwrap();
        let (_, writing) = ours.into_split();
        let queue = ClientQueue::new(Some(writing));
        queue.set_sees_all(true);
        queue.set_last(7);
        (queue, theirs)
    }

    /// The task has nothing to do.
    async fn rest(queue: &ClientQueue) {
        tokio::select! {
            biased;
            () = queue.filled() => panic!("something waits"),
            () = std::future::ready(()) => {}
        }
    }

    fn run(test: impl Future<Output = ()>) {
        let executor = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        executor.block_on(test);
    }

    #[test]
    fn who_has_everything_before_an_event_gets_it_at_once() {
        run(async {
            let (queue, mut theirs) = client().await;
            rest(&queue).await;
            queue.offer(&event(8, b"eight"));
            queue.offer(&event(9, b"nine"));
            let mut got = [0; 9];
            theirs.read_exact(&mut got).await.unwrap();
            assert_eq!((&got, queue.last()), (b"eightnine", 9));
            assert!(queue.take().is_empty());
        });
    }

    #[test]
    fn what_the_task_has_to_see_first_waits() {
        run(async {
            let (queue, theirs) = client().await;
            // The task is at work.
            queue.offer(&event(8, b"eight"));
            assert!(matches!(queue.take().make_contiguous(), [Waiting::Frame(_)]));
            rest(&queue).await;
            // One is missing.
            queue.offer(&event(9, b"nine"));
            // Something waits already.
            queue.offer(&event(8, b"eight"));
            assert_eq!(queue.take().len(), 2);
            // It does not see every project.
            queue.set_sees_all(false);
            rest(&queue).await;
            queue.offer(&event(8, b"eight"));
            assert_eq!((queue.take().len(), queue.last()), (1, 7));
            let nothing = theirs.try_read(&mut [0; 9]).unwrap_err();
            assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
        });
    }

    /// However much follows, what was begun comes to its end.
    #[test]
    fn who_does_not_read_gets_the_rest_later_and_all_else_from_the_journal() {
        run(async {
            let (queue, _theirs) = client().await;
            rest(&queue).await;
            let long = vec![b'x'; 16 * 1024 * 1024];
            queue.offer(&event(8, &long));
            assert_eq!(queue.last(), 8);
            (0..MOST as u64).for_each(|more| queue.offer(&event(9 + more, b"more")));
            queue.filled().await;
            let mut waiting = queue.take();
            match waiting.make_contiguous() {
                [Waiting::Bytes(rest), Waiting::Lagged] => {
                    assert!(!rest.is_empty() && rest.len() < long.len(), "{}", rest.len());
                }
                other => panic!("{} wait", other.len()),
            }
        });
    }
}
