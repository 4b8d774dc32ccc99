//! What goes from the worker to the driver: events, and a pipe that wakes it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use super::event::ToolEvent;
use super::open_questions::Questions;

/// How many lines may wait; a server that floods us loses some of its own.
const WAITING: usize = 1000;

#[derive(Debug)]
struct Inner {
    events: Mutex<VecDeque<ToolEvent>>,
    read: OwnedFd,
    write: OwnedFd,
    questions: Questions,
    /// Someone is there whom servers may ask.
    may_ask: bool,
}

/// The queue; both sides hold it.
#[derive(Debug, Clone)]
pub(super) struct Outbox(Arc<Inner>);

impl Outbox {
    pub(super) fn new(may_ask: bool) -> io::Result<Self> {
        let (read, write) = io::pipe()?;
        let (read, write) = (OwnedFd::from(read), OwnedFd::from(write));
        rustix::io::ioctl_fionbio(&read, true)?;
        rustix::io::ioctl_fionbio(&write, true)?;
        let (events, questions) = (Mutex::default(), Questions::default());
        Ok(Self(Arc::new(Inner { events, read, write, questions, may_ask })))
    }

    fn events(&self) -> std::sync::MutexGuard<'_, VecDeque<ToolEvent>> {
        self.0.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, event: ToolEvent) {
        {
            let mut events = self.events();
            let full = events.len() >= WAITING;
            match (&event, events.back_mut()) {
                // Only the newest word on a call counts.
                (ToolEvent::Progress { call, .. }, Some(last)) if is_progress(last, *call) => {
                    *last = event;
                }
                (ToolEvent::Progress { .. } | ToolEvent::Log { .. }, _) if full => {}
                _ => events.push_back(event),
            }
        }
        // A full pipe wakes as well as one more byte.
        let _ = rustix::io::write(&self.0.write, b"!");
    }

    pub(super) fn next(&self) -> Option<ToolEvent> {
        if let Some(event) = self.events().pop_front() {
            return Some(event);
        }
        let mut bytes = [0_u8; 256];
        while rustix::io::read(&self.0.read, &mut bytes).is_ok_and(|count| count == bytes.len()) {}
        // What came between the look and the emptied pipe.
        self.events().pop_front()
    }

    pub(super) fn questions(&self) -> &Questions {
        &self.0.questions
    }

    pub(super) fn may_ask(&self) -> bool {
        self.0.may_ask
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.read.as_fd()
    }
}

fn is_progress(event: &ToolEvent, of: u64) -> bool {
    matches!(event, ToolEvent::Progress { call, .. } if *call == of)
}
